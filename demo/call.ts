import type { JsonObject, JsonValue } from '../src/domain/json.js';
import type { Api } from './api.js';
import { DemoStopped, problemOf } from './api.js';
import { type Reviewer, type ShownRequest, showRequest, type Choice } from './person.js';
import { code } from './setting.js';
import type { Stage } from './stage.js';
import { plain } from './text.js';
import type { Shop } from './shop.js';

/** How a call ended: `executed`, `failed`, `blocked`, `rejected`, `unanswered`, or the code of a refusal. */
export type Ending = string;

export interface Call {
  readonly capability: string;
  readonly input: JsonObject;
  /** What `--auto` answers if a person is asked, and the note that goes with it. */
  readonly suggested?: { readonly choice: Choice; readonly note: string };
}

export interface Cast {
  readonly stage: Stage;
  readonly reviewer: Reviewer;
  readonly root: Api;
  readonly agent: Api;
  readonly shop: Shop;
  /** Executions that the gate let through. */
  readonly licensed: Set<string>;
}

interface GateAnswer {
  readonly status: string;
  readonly executionId: string;
  readonly hitlRequestId?: string;
  readonly reason?: string;
  readonly effectiveMode?: string;
  readonly error?: { readonly message: string };
}

interface Decided {
  readonly request: { readonly status: string; readonly execution?: Ran };
}

interface Ran {
  readonly id: string;
  readonly status: string;
  readonly reason?: string;
  readonly error?: { readonly message: string };
}

/** One attempt of the agent, from the gate to wherever it gets. */
export async function attempt(cast: Cast, call: Call): Promise<Ending> {
  const { stage, agent } = cast;
  stage.line(`${stage.paint('agent', call.capability)}  ${shown(call.input, stage.width - call.capability.length - 2)}`);
  stage.line();
  await stage.beat(500);
  const answer = await agent.send('POST', '/api/v1/execute', { capability: call.capability, input: call.input });
  if (answer.status === 403) {
    await stage.track('gate', `403 ${code(answer)}`);
    stage.outcome(detailOf(answer.body));
    return code(answer);
  }
  if (answer.status !== 200 && answer.status !== 202) {
    throw new DemoStopped(`POST /api/v1/execute answered ${answer.status}: ${problemOf(answer)}`, 1);
  }
  const result = answer.body as unknown as GateAnswer;
  if (result.hitlRequestId !== undefined) return asked(cast, call, result.hitlRequestId);
  if (result.status === 'blocked') {
    await stage.track('gate', 'blocked');
    stage.outcome(result.reason ?? 'blocked');
    return 'blocked';
  }
  await stage.track('shop', `${result.status} (${result.effectiveMode ?? 'auto'})`);
  showOutcome(cast, { ...result, id: result.executionId });
  return result.status;
}

async function asked(cast: Cast, call: Call, requestId: string): Promise<Ending> {
  const { stage, root, reviewer } = cast;
  const path = `/api/v1/hitl/${requestId}`;
  const request = await root.expect<ShownRequest>(200, 'GET', path);
  await stage.trackToPerson(`${request.status}: nothing has happened yet`);
  stage.line();
  showRequest(stage, request);
  const choice = await reviewer.decide(request, call.suggested?.choice ?? 'approve');
  stage.line();
  if (choice !== undefined) {
    const note = choice === call.suggested?.choice ? call.suggested.note : `decided in the demo: ${choice}`;
    // The digest says: this and nothing else was shown to me.
    const answer = await root.send<Decided>('POST', `${path}/${choice}`, { note, expectedDigest: request.action_digest });
    if (answer.status === 200) return decided(cast, answer.body.request.status, answer.body.request.execution);
    if (answer.status !== 409) throw new DemoStopped(`The decision was answered ${answer.status}: ${problemOf(answer)}`, 1);
    stage.outcome(`409 ${problemOf(answer)}`, 'stop');
  }
  const now = await root.expect<ShownRequest & { execution?: Ran }>(200, 'GET', path);
  return decided(cast, now.status, now.execution);
}

async function decided(cast: Cast, status: string, execution: Ran | undefined): Promise<Ending> {
  const { stage } = cast;
  if (status === 'rejected') {
    await stage.track('person', 'rejected');
    stage.outcome('Nothing left the company.');
    return 'rejected';
  }
  if (status !== 'approved' || execution === undefined) {
    await stage.track('person', status === 'approved' ? status : 'nobody decided');
    stage.outcome('Without an answer nothing happens.');
    return 'unanswered';
  }
  await stage.track('shop by person', `approved, ${execution.status}`);
  showOutcome(cast, execution);
  return execution.status;
}

/** What reached the shop because of it: seen there, not taken from the server's word. */
function showOutcome({ stage, shop, licensed }: Cast, { id, status, error, reason }: Ran): void {
  licensed.add(id);
  const arrival = shop.arrivals.find(({ executionId }) => executionId === id);
  if (arrival) {
    const body = arrival.body === '' ? '' : `\n${plain(arrival.body)}`;
    stage.outcome(`the shop got  ${arrival.method} ${plain(arrival.path)}${body}`, 'shop');
  } else if (status === 'executed') {
    stage.outcome('The agent now holds the licence to do it: this capability has no connector here.');
  } else stage.outcome(plain(error?.message ?? reason ?? status), 'stop');
}

function shown(input: JsonObject, room: number): string {
  const text = Object.entries(input).map(([name, value]) => `${name}: ${JSON.stringify(value satisfies JsonValue)}`).join('  ');
  return text.length <= room ? text : `${text.slice(0, Math.max(1, room - 1))}…`;
}

const detailOf = (body: JsonObject): string => (typeof body.detail === 'string' ? body.detail : 'refused');

import { randomUUID } from 'node:crypto';
import type { Reply } from '../http/actors.js';
import { chosen, type Command, type Met } from './hitl-commands.js';
import { differs, govern } from './hitl-governing.js';
import {
  type Answer, ask, type Ask, type Asked, isOpen, type Model, type ModelRequest, type ModelTerms, OK, refused,
} from './hitl-model.js';
import { barredFromBatch, decide, type DecisionResult } from './hitl-model-decisions.js';
import { remind, timeOut } from './hitl-model-ends.js';
import { unequal, type HitlScenario, wrongState } from './hitl-scenario.js';
import { pause } from '../proofs/races.js';

/** A call that was sent under a key. */
interface Sent {
  readonly nth: number;
  readonly attempt: DecisionResult;
  readonly key: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** It changed something, so that its answer is kept. */
  kept: Answer | undefined;
}

const WINDOW_SECONDS = 1;
/** Refusals that show the state that stands. */
const WITH_STATE = ['HITL_ALREADY_DECIDED', 'HITL_EXPIRED', 'HITL_DIGEST_MISMATCH', 'NOT_EXECUTABLE'];
const STALE = '0'.repeat(64);

interface BatchResult {
  readonly id: string;
  readonly status: number;
  readonly error?: { readonly code: string };
}

/** The walker of one walk: sends commands to the server and to the model, and compares. */
export class Walker {
  private readonly sent: Sent[] = [];
  private edits = 1_000;

  constructor(private readonly model: Model, private readonly scenario: HitlScenario) {}

  async walk(command: Command): Promise<Met> {
    switch (command.kind) {
      case 'ask':
        return this.ask(command);
      case 'decide':
        return this.decide(chosen(this.model, command.pick)!, command.attempt);
      case 'repeat':
        return this.repeat(command.pick, command.otherBody);
      case 'click late':
        return this.clickLate(chosen(this.model, { ...command.pick, open: true })!, command.attempt);
      case 'sweep':
        return this.sweep(chosen(this.model, { ...command.pick, open: true })!);
      case 'run out':
        return this.runOut(command.agent, command.terms);
      case 'remind':
        return this.remind(chosen(this.model, { ...command.pick, open: true })!, command.due);
      case 'batch':
        return this.batch(command);
      default:
        return { labels: [command.kind], difference: await govern(this.model, this.scenario, command) };
    }
  }

  private async ask(wanted: Ask, window?: number): Promise<Met> {
    const { agent, capability, by, onBehalfOf, danger } = wanted;
    const context = onBehalfOf === undefined ? undefined : { on_behalf_of: this.scenario.idOf(onBehalfOf, agent) };
    const content = { danger, number: this.model.requests.length };
    const expected: Asked = ask(this.model, wanted);
    const reply = by === 'gate'
      ? await this.scenario.agents[agent]!.client.post('/api/v1/execute', { capability, input: content, context })
      : await this.scenario.agents[agent]!.client.post('/api/v1/hitl', { capability, payload: content, context });
    const difference = differs('ask', expected, reply)
      ?? (expected.result === undefined ? undefined : unequal('the result', expected.result, reply.text('status')));
    const labels = [`ask ${by}: ${expected.code ?? expected.result ?? 'created'}`];
    if (expected.request === undefined || difference !== undefined) return { labels, difference };
    const id = by === 'gate' ? reply.text('hitlRequestId') : reply.text('request.id');
    this.scenario.handles.push({ id, digest: '' });
    const nth = this.model.requests.length - 1;
    if (window === undefined) return { labels, difference: await this.compare(nth) };
    return { labels };
  }

  private async decide(nth: number, attempt: DecisionResult): Promise<Met> {
    const { difference, labels } = await this.send({ nth, attempt, key: randomUUID(), body: this.bodyOf(nth, attempt), kept: undefined });
    return { labels, difference: difference ?? (await this.compare(nth)) };
  }

  private async send(call: Sent): Promise<Met> {
    const { nth, attempt } = call;
    const request = this.model.requests[nth]!;
    const strict = this.model.strict || request.strict;
    const before = JSON.stringify(request);
    const expected = decide(this.model, request, attempt);
    const reply = await this.call(call);
    if (JSON.stringify(request) !== before) call.kept = expected;
    if (!this.sent.includes(call)) this.sent.push(call);
    const label = labelOf(attempt, expected);
    const labels = strict && attempt.verb === 'approve' ? [label, `under strict, ${label}`] : [label];
    return { labels, difference: differs(attempt.verb, expected, reply) ?? (await this.wrongState(nth, reply)) };
  }

  private async repeat(pick: number, otherBody: boolean): Promise<Met> {
    if (this.sent.length === 0) return { labels: [] };
    const call = this.sent[pick % this.sent.length]!;
    const { nth, attempt, kept } = call;
    if (kept === undefined) {
      if (otherBody) return { labels: [] };
      // A refusal keeps no record: the call is as new.
      const { difference } = await this.send(call);
      return { labels: ['repeat: as new'], difference: difference ?? (await this.compare(nth)) };
    }
    const self = { agent: this.model.requests[nth]!.agent, otherAgent: 1 - this.model.requests[nth]!.agent }[attempt.who as string];
    const barred = self !== undefined && !this.model.agents[self]!.active ? refused(403, 'AGENT_INACTIVE') : undefined;
    const expected = barred ?? (otherBody ? refused(422, 'IDEMPOTENCY_KEY_REUSED') : kept);
    const reply = await this.call(otherBody ? { ...call, body: { ...call.body, reason: 'another' } } : call);
    const replayed = reply.headers.get('idempotent-replayed');
    return {
      labels: [`repeat: ${expected.code === undefined ? 'replayed' : expected.code}`],
      difference: differs('repeat', expected, reply)
        ?? (expected === kept ? unequal('Idempotent-Replayed', 'true', replayed) : undefined)
        ?? (await this.compare(nth)),
    };
  }

  /** Both orders are right: the click before the sweep, and after it. */
  private async clickLate(nth: number, attempt: DecisionResult): Promise<Met> {
    const request = this.model.requests[nth]!;
    const call = { nth, attempt, key: randomUUID(), body: this.bodyOf(nth, attempt), kept: undefined };
    await this.endWindow(nth);
    const reply = await this.call(call);
    await this.settled(nth);
    const recorded: string[] = [];
    for (const order of ['before the sweep', 'after the sweep'] as const) {
      const scenario = structuredClone(request);
      scenario.over = true;
      if (order === 'after the sweep') timeOut(this.model, scenario, 'window', 'system');
      const expected = decide(this.model, scenario, attempt);
      if (isOpen(scenario) && scenario.over) timeOut(this.model, scenario, 'window', 'system');
      const difference = differs(attempt.verb, expected, reply) ?? (await this.differenceOf(nth, scenario));
      if (difference === undefined) return { labels: [`click late, ${order}`, labelOf(attempt, expected)] };
      recorded.push(`${order}: ${difference}`);
    }
    return { labels: [], difference: `a late click fits no order: ${recorded.join('; ')}` };
  }

  private async sweep(nth: number): Promise<Met> {
    await this.endWindow(nth);
    await this.settled(nth);
    const { action } = timeOut(this.model, this.model.requests[nth]!, 'window', 'system');
    return { labels: [`sweep: ${action ?? 'cancelled'}`], difference: await this.compare(nth) };
  }

  private async runOut(agent: number, terms: ModelTerms): Promise<Met> {
    const capability = 'email.send';
    const grants = this.model.agents[agent]!.grants;
    const kept = grants.get(capability)!;
    const set = await govern(this.model, this.scenario, { kind: 'grant', agent, capability, terms }, WINDOW_SECONDS);
    if (set !== undefined) return { labels: [], difference: set };
    const { difference } = await this.ask({ agent, capability, by: 'gate', danger: false }, WINDOW_SECONDS);
    if (difference !== undefined) return { labels: [], difference };
    const nth = this.model.requests.length - 1;
    const request = this.model.requests[nth]!;
    // With each escalation a new window begins, and runs out too.
    while (isOpen(request)) timeOut(this.model, request, 'window', 'system');
    await this.settled(nth, true);
    const back = await govern(this.model, this.scenario, { kind: 'grant', agent, capability, terms: kept });
    return { labels: [`run out: ${terms.action}`], difference: back ?? (await this.compare(nth)) };
  }

  /** As if a reminder's time had come, the window's end moved along. */
  private async remind(nth: number, due: 'next' | 'all'): Promise<Met> {
    const { group, handles } = this.scenario;
    const { id } = handles[nth]!;
    const request = this.model.requests[nth]!;
    const minutes = request.remindersLeft.map(({ minutesBefore }) => minutesBefore);
    await group.server.sql(
      `update hitl_requests set expires_at = clock_timestamp() + make_interval(mins => $2),
         remind_at = clock_timestamp() - interval '1 second' where id = $1`,
      [id, due === 'all' ? Math.min(...minutes) : Math.max(...minutes)]);
    await until(`request ${id} was not reminded`, async () =>
      (await group.server.sql('select 1 from hitl_requests where id = $1 and remind_at <= clock_timestamp()', [id])).length === 0);
    const moved = remind(request, due);
    return { labels: [`remind ${due}: ${moved ? 'escalated' : 'told'}`], difference: await this.compare(nth) };
  }

  private async batch({ who, decision, items }: Extract<Command, { kind: 'batch' }>): Promise<Met> {
    const wanted = items.map(({ pick, digest }) => ({ nth: chosen(this.model, pick)!, digest }));
    const { agent } = this.model.requests[wanted[0]!.nth]!;
    const barred = barredFromBatch(this.model, who, agent);
    // What comes twice is decided once; with another digest it is another item.
    const answers = new Map<string, Answer>();
    const keyOf = ({ nth, digest }: (typeof wanted)[number]) => `${nth} ${digest}`;
    if (barred === undefined) {
      for (const { nth, digest } of wanted) {
        if (answers.has(keyOf({ nth, digest }))) continue;
        answers.set(keyOf({ nth, digest }), decide(this.model, this.model.requests[nth]!, { verb: decision, who, digest, inBatch: true }));
      }
    }
    const sent = wanted.map(({ nth, digest }) => ({ id: this.scenario.handles[nth]!.id, ...this.digestOf(nth, digest) }));
    const reply = await this.scenario.client(who, agent).post('/api/v1/hitl/batch', { items: sent, decision, note: 'many' });
    const difference = differs('batch', barred ?? OK, reply);
    if (barred !== undefined || difference !== undefined) return { labels: [`batch: ${barred?.code ?? 'answered'}`], difference };
    const recorded = (reply.list('results') as BatchResult[]).map(({ id, status, error }) => [id, status, error?.code ?? null]);
    const expected = wanted.map((item) => {
      const { status, code } = answers.get(keyOf(item))!;
      return [this.scenario.handles[item.nth]!.id, status, code ?? null];
    });
    let found = unequal('the results of a batch', expected, recorded);
    for (const nth of new Set(wanted.map((item) => item.nth))) found ??= await this.compare(nth);
    return { labels: [...answers.values()].map(({ code }) => `batch ${decision}: ${code ?? 'done'}`), difference: found };
  }

  private bodyOf(nth: number, { digest, verb, breakGlass, to, edit }: DecisionResult): Record<string, unknown> {
    return {
      ...(edit === undefined ? {} : { editedInput: { danger: edit === 'danger', number: this.edits++ } }),
      // Timing out takes no body.
      ...(verb === 'timeout' ? {} : { reason: breakGlass === 'with a reason' ? 'nobody else was to be had' : 'short' }),
      ...(to === undefined ? {} : { escalateTo: this.scenario.idOf(to, this.model.requests[nth]!.agent) }),
      ...(verb === 'timeout' ? {} : this.digestOf(nth, digest)),
      ...(breakGlass === undefined ? {} : { breakGlass: true }),
    };
  }

  private digestOf(nth: number, digest: DecisionResult['digest']): { expectedDigest?: string } {
    return digest === 'none' ? {} : { expectedDigest: digest === 'right' ? this.scenario.handles[nth]!.digest : STALE };
  }

  private call({ nth, attempt, key, body }: Sent): Promise<Reply> {
    const { agent } = this.model.requests[nth]!;
    return this.scenario.client(attempt.who, agent).post(`/api/v1/hitl/${this.scenario.handles[nth]!.id}/${attempt.verb}`, body,
      { headers: { 'idempotency-key': key } });
  }

  private async wrongState(nth: number, reply: Reply): Promise<string | undefined> {
    const { code } = reply.body as { code?: string };
    return code !== undefined && WITH_STATE.includes(code) ? wrongState(reply, await this.scenario.seen(nth)) : undefined;
  }

  private async compare(nth: number): Promise<string | undefined> {
    return this.differenceOf(nth, this.model.requests[nth]!);
  }

  private async differenceOf(nth: number, request: ModelRequest): Promise<string | undefined> {
    const difference = await this.scenario.difference(request, nth);
    if (difference === undefined) Object.assign(this.model.requests[nth]!, request);
    return difference;
  }

  private async endWindow(nth: number): Promise<void> {
    const { group, handles } = this.scenario;
    await group.server.sql(`update hitl_requests set expires_at = clock_timestamp() where id = $1`, [handles[nth]!.id]);
  }

  /** Until the sweep has been by; with `closed`, until it has come to an end. */
  private async settled(nth: number, closed = false): Promise<void> {
    const { root, handles, group } = this.scenario;
    const due = closed ? 'true' : 'expires_at <= clock_timestamp()';
    await until(`request ${handles[nth]!.id} was not swept`, async () => {
      (await root.post('/api/v1/hitl/check-timeouts')).expect(200);
      const rows = await group.server.sql(
        `select 1 from hitl_requests where id = $1 and status in ('pending', 'escalated') and ${due}`, [handles[nth]!.id]);
      return rows.length === 0;
    });
  }
}

async function until(failure: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let rounds = 0; rounds < 300; rounds++) {
    if (await isSo()) return;
    await pause(50);
  }
  throw new Error(failure);
}

function labelOf({ verb, edit }: DecisionResult, { code, action }: Answer): string {
  return `${verb}${edit === undefined ? '' : ' with an edit'}: ${code ?? action ?? 'done'}`;
}

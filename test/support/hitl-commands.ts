import { randomUUID } from 'node:crypto';
import { asAgent, type Reply } from './actors.js';
import {
  type Answer, ask, type Ask, type Asked, decide, type Deed, grant, isOpen, type Model, type ModelRequest, type ModelTerms, refused,
  timeOut,
} from './hitl-model.js';
import { grantBody, unequal, type World, wrongState } from './hitl-world.js';

/** One step of a walk, as data: which request it means is a number that is taken among those there are. */
export type Command =
  | ({ readonly kind: 'ask' } & Ask)
  | { readonly kind: 'decide'; readonly pick: Pick; readonly deed: Deed }
  /** The same call once more under its key, or another body under it. */
  | { readonly kind: 'repeat'; readonly pick: number; readonly otherBody: boolean }
  /** The window ends, and a click comes at the same moment. */
  | { readonly kind: 'click late'; readonly pick: Pick; readonly deed: Deed }
  /** The window ends, and a sweep comes by. */
  | { readonly kind: 'sweep'; readonly pick: Pick }
  /** A short window that nobody moves: it ends by itself. */
  | { readonly kind: 'run out'; readonly agent: number; readonly terms: ModelTerms }
  | { readonly kind: 'grant'; readonly agent: number; readonly capability: string; readonly terms: ModelTerms }
  | { readonly kind: 'revoke'; readonly agent: number; readonly capability: string }
  | { readonly kind: 'stop' | 'resume' | 'deactivate' | 'activate'; readonly agent: number };

export interface Pick {
  readonly nth: number;
  /** Among those that are open, or among all. */
  readonly open: boolean;
}

/** What a step met: labels for the coverage, and where the server differs from the model. */
export interface Met {
  readonly labels: readonly string[];
  readonly difference?: string | undefined;
}

/** A call that was sent under a key. */
interface Sent {
  readonly nth: number;
  readonly deed: Deed;
  readonly key: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** It changed something, so that its answer is kept. */
  kept: Answer | undefined;
}

const WINDOW_SECONDS = 1;
/** Refusals that show the state that stands. */
const WITH_STATE = ['HITL_ALREADY_DECIDED', 'HITL_EXPIRED', 'HITL_DIGEST_MISMATCH', 'NOT_EXECUTABLE'];
const STALE = '0'.repeat(64);

/** The walker of one walk: sends commands to the server and to the model, and compares. */
export class Walker {
  private readonly sent: Sent[] = [];
  private edits = 1_000;

  constructor(private readonly model: Model, private readonly world: World) {}

  /** Whether there is anything for the command to work on. */
  static canWalk(model: Model, command: Command): boolean {
    switch (command.kind) {
      case 'decide':
        return chosen(model, command.pick) !== undefined;
      case 'sweep':
      case 'click late': {
        // While a stop holds, the window stands still: there is no end of it to be late for.
        const nth = chosen(model, { ...command.pick, open: true });
        return nth !== undefined && !model.agents[model.requests[nth]!.agent]!.stopped;
      }
      case 'run out': {
        const { active, stopped } = model.agents[command.agent]!;
        return active && !stopped && model.requests.filter((one) => one.agent === command.agent && isOpen(one)).length < model.maxPending;
      }
      case 'revoke':
        return model.agents[command.agent]!.grants.get(command.capability)!.held;
      case 'stop':
        return !model.agents[command.agent]!.stopped;
      case 'resume':
        return model.agents[command.agent]!.stopped;
      case 'deactivate':
        return model.agents[command.agent]!.active;
      case 'activate':
        return !model.agents[command.agent]!.active;
      default:
        return true;
    }
  }

  async walk(command: Command): Promise<Met> {
    switch (command.kind) {
      case 'ask':
        return this.ask(command);
      case 'decide':
        return this.decide(chosen(this.model, command.pick)!, command.deed);
      case 'repeat':
        return this.repeat(command.pick, command.otherBody);
      case 'click late':
        return this.clickLate(chosen(this.model, { ...command.pick, open: true })!, command.deed);
      case 'sweep':
        return this.sweep(chosen(this.model, { ...command.pick, open: true })!);
      case 'run out':
        return this.runOut(command.agent, command.terms);
      default:
        return { labels: [command.kind], difference: await this.govern(command) };
    }
  }

  private async ask(wanted: Ask, window?: number): Promise<Met> {
    const { agent, capability, by, onBehalfOf, danger } = wanted;
    const context = onBehalfOf === undefined ? undefined : { on_behalf_of: this.world.idOf(onBehalfOf, agent) };
    const content = { danger, number: this.model.requests.length };
    const expected: Asked = ask(this.model, wanted);
    const reply = by === 'gate'
      ? await this.world.agents[agent]!.client.post('/api/v1/execute', { capability, input: content, context })
      : await this.world.agents[agent]!.client.post('/api/v1/hitl', { capability, payload: content, context });
    const difference = differs('ask', expected, reply)
      ?? (expected.result === undefined ? undefined : unequal('the result', expected.result, reply.text('status')));
    const labels = [`ask ${by}: ${expected.code ?? expected.result ?? 'created'}`];
    if (expected.request === undefined || difference !== undefined) return { labels, difference };
    const id = by === 'gate' ? reply.text('hitlRequestId') : reply.text('request.id');
    this.world.handles.push({ id, digest: '' });
    const nth = this.model.requests.length - 1;
    if (window === undefined) return { labels, difference: await this.compare(nth) };
    return { labels };
  }

  private async decide(nth: number, deed: Deed): Promise<Met> {
    const { difference, label } = await this.send({ nth, deed, key: randomUUID(), body: this.bodyOf(nth, deed), kept: undefined });
    return { labels: [label], difference: difference ?? (await this.compare(nth)) };
  }

  private async send(call: Sent): Promise<{ label: string; difference: string | undefined }> {
    const { nth, deed } = call;
    const request = this.model.requests[nth]!;
    const before = JSON.stringify(request);
    const expected = decide(this.model, request, deed);
    const reply = await this.call(call);
    if (JSON.stringify(request) !== before) call.kept = expected;
    if (!this.sent.includes(call)) this.sent.push(call);
    return { label: labelOf(deed, expected), difference: differs(deed.verb, expected, reply) ?? (await this.wrongState(nth, reply)) };
  }

  private async repeat(pick: number, otherBody: boolean): Promise<Met> {
    if (this.sent.length === 0) return { labels: [] };
    const call = this.sent[pick % this.sent.length]!;
    const { nth, deed, kept } = call;
    if (kept === undefined) {
      if (otherBody) return { labels: [] };
      // A refusal keeps no record: the call is as new.
      const { difference } = await this.send(call);
      return { labels: ['repeat: as new'], difference: difference ?? (await this.compare(nth)) };
    }
    const self = { agent: this.model.requests[nth]!.agent, otherAgent: 1 - this.model.requests[nth]!.agent }[deed.who as string];
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
  private async clickLate(nth: number, deed: Deed): Promise<Met> {
    const request = this.model.requests[nth]!;
    const call = { nth, deed, key: randomUUID(), body: this.bodyOf(nth, deed), kept: undefined };
    await this.endWindow(nth);
    const reply = await this.call(call);
    await this.settled(nth);
    const told: string[] = [];
    for (const order of ['before the sweep', 'after the sweep'] as const) {
      const world = structuredClone(request);
      world.over = true;
      if (order === 'after the sweep') timeOut(this.model, world, 'window', 'system');
      const expected = decide(this.model, world, deed);
      if (isOpen(world) && world.over) timeOut(this.model, world, 'window', 'system');
      const difference = differs(deed.verb, expected, reply) ?? (await this.differenceOf(nth, world));
      if (difference === undefined) return { labels: [`click late, ${order}`, labelOf(deed, expected)] };
      told.push(`${order}: ${difference}`);
    }
    return { labels: [], difference: `a late click fits no order: ${told.join('; ')}` };
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
    const set = await this.govern({ kind: 'grant', agent, capability, terms }, WINDOW_SECONDS);
    if (set !== undefined) return { labels: [], difference: set };
    const { difference } = await this.ask({ agent, capability, by: 'gate', danger: false }, WINDOW_SECONDS);
    if (difference !== undefined) return { labels: [], difference };
    const nth = this.model.requests.length - 1;
    const request = this.model.requests[nth]!;
    // With each escalation a new window begins, and runs out too.
    while (isOpen(request)) timeOut(this.model, request, 'window', 'system');
    await this.settled(nth, true);
    const back = await this.govern({ kind: 'grant', agent, capability, terms: kept });
    return { labels: [`run out: ${terms.action}`], difference: back ?? (await this.compare(nth)) };
  }

  private async govern(command: Exclude<Command, { kind: 'ask' | 'decide' | 'repeat' | 'click late' | 'sweep' | 'run out' }>,
    window?: number): Promise<string | undefined> {
    const { root, agents, stops } = this.world;
    const nth = command.agent;
    const agent = this.model.agents[nth]!;
    const { id } = agents[nth]!;
    switch (command.kind) {
      case 'grant': {
        const { capability, terms } = command;
        const body = { ...grantBody(capability, terms), ...(window === undefined ? {} : { hitlTimeoutSeconds: window }) };
        const expected = grant(this.model, nth, capability, terms);
        const difference = differs('grant', expected, await root.post(`/api/v1/agents/${id}/capabilities`, body));
        // What was not held when the token was made, it does not hold.
        if (difference === undefined && expected.status === 201 && agent.active) await this.renewToken(nth);
        return difference;
      }
      case 'revoke': {
        const listed = (await root.get(`/api/v1/agents/${id}/capabilities`)).expect(200);
        const grants = listed.list('grants') as { id: string; capability: string }[];
        const held = grants.find(({ capability }) => capability === command.capability)!;
        agent.grants.get(command.capability)!.held = false;
        return differs('revoke', { status: 204 }, await root.delete(`/api/v1/capabilities/grant/${held.id}`));
      }
      case 'stop': {
        const made = await root.post('/api/v1/stops', { scope: 'agent', id, reason: 'a walk' });
        agent.stopped = true;
        stops.set(nth, made.expect(201).text('stop.id'));
        return undefined;
      }
      case 'resume': {
        const stop = stops.get(nth)!;
        agent.stopped = false;
        stops.delete(nth);
        return differs('resume', { status: 204 }, await root.delete(`/api/v1/stops/${stop}`));
      }
      case 'deactivate':
        agent.active = false;
        return differs('deactivate', { status: 200 }, await root.post(`/api/v1/agents/${id}/deactivate`));
      case 'activate': {
        agent.active = true;
        const difference = differs('activate', { status: 200 }, await root.post(`/api/v1/agents/${id}/activate`));
        if (difference !== undefined) return difference;
        // Activation ends every older token.
        await this.renewToken(nth);
        return undefined;
      }
    }
  }

  private async renewToken(nth: number): Promise<void> {
    const { agents, root, house } = this.world;
    const token = (await root.post(`/api/v1/agents/${agents[nth]!.id}/token`)).expect(200).text('token');
    agents[nth] = { ...agents[nth]!, token, client: asAgent(house.server, token) };
  }

  private bodyOf(nth: number, { digest, verb, breakGlass, to, edit }: Deed): Record<string, unknown> {
    return {
      ...(edit === undefined ? {} : { editedInput: { danger: edit === 'danger', number: this.edits++ } }),
      ...(verb === 'timeout' ? {} : { reason: breakGlass === 'with a reason' ? 'nobody else was to be had' : 'short' }),
      ...(to === undefined ? {} : { escalateTo: this.world.idOf(to, this.model.requests[nth]!.agent) }),
      ...(digest === 'none' ? {} : { expectedDigest: digest === 'right' ? this.world.handles[nth]!.digest : STALE }),
      ...(breakGlass === undefined ? {} : { breakGlass: true }),
    };
  }

  private call({ nth, deed, key, body }: Sent): Promise<Reply> {
    const { agent } = this.model.requests[nth]!;
    return this.world.client(deed.who, agent).post(`/api/v1/hitl/${this.world.handles[nth]!.id}/${deed.verb}`, body,
      { headers: { 'idempotency-key': key } });
  }

  private async wrongState(nth: number, reply: Reply): Promise<string | undefined> {
    const { code } = reply.body as { code?: string };
    return code !== undefined && WITH_STATE.includes(code) ? wrongState(reply, await this.world.seen(nth)) : undefined;
  }

  private async compare(nth: number): Promise<string | undefined> {
    return this.differenceOf(nth, this.model.requests[nth]!);
  }

  private async differenceOf(nth: number, request: ModelRequest): Promise<string | undefined> {
    const difference = await this.world.difference(request, nth);
    if (difference === undefined) Object.assign(this.model.requests[nth]!, request);
    return difference;
  }

  private async endWindow(nth: number): Promise<void> {
    const { house, handles } = this.world;
    await house.server.sql(`update hitl_requests set expires_at = clock_timestamp() where id = $1`, [handles[nth]!.id]);
  }

  /** Until the sweep has been by; with `closed`, until it has come to an end. */
  private async settled(nth: number, closed = false): Promise<void> {
    const { root, handles, house } = this.world;
    const due = closed ? 'true' : 'expires_at <= clock_timestamp()';
    for (let rounds = 0; rounds < 300; rounds++) {
      (await root.post('/api/v1/hitl/check-timeouts')).expect(200);
      const rows = await house.server.sql(
        `select 1 from hitl_requests where id = $1 and status in ('pending', 'escalated') and ${due}`, [handles[nth]!.id]);
      if (rows.length === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`request ${handles[nth]!.id} was not swept`);
  }
}

function chosen({ requests }: Model, { nth, open }: Pick): number | undefined {
  const among = requests.flatMap((request, i) => (!open || isOpen(request) ? [i] : []));
  return among[nth % among.length];
}

function labelOf({ verb, edit }: Deed, { code, action }: Answer): string {
  return `${verb}${edit === undefined ? '' : ' with an edit'}: ${code ?? action ?? 'done'}`;
}

function differs(what: string, { status, code, action }: Answer, reply: Reply): string | undefined {
  const { body } = reply as Reply<{ code?: string; action?: string } | undefined>;
  const wanted = { status, code: code ?? null, action: action ?? null };
  const told = { status: reply.status, code: body?.code ?? null, action: body?.action ?? null };
  return unequal(`the answer to ${what}`, wanted, told);
}

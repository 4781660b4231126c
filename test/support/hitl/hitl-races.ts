import { asRoot, type Client, type Reply } from '../http/actors.js';
import type { AuditEntry } from '../log/entries.js';
import { anAgent, type BuiltAgent } from '../builders/agents.js';
import {
  type Answer, ask, isOpen, type Model, type ModelQuorum, type ModelRequest, type Principal, type TimeoutAction,
} from './hitl-model.js';
import { decide, type DecisionResult, type Verb } from './hitl-model-decisions.js';
import { timeOut } from './hitl-model-ends.js';
import { type TenantGroup, unequal } from './hitl-scenario.js';
import { done, made, oneOf, pause } from '../proofs/races.js';
import type { TestServer } from '../servers/server.js';

/** One side of a race: a command of somebody, or the end of the window with a sweep. */
export type Racer = { readonly attempt: DecisionResult } | 'window';

/** What is tried: who races whom over a fresh request of which kind, and by how much one is held back. */
export interface Race {
  readonly pair: string;
  readonly sides: readonly [Racer, Racer];
  readonly danger: boolean;
  /** Whose command goes to which server, and which is sent first. */
  readonly swapped: boolean;
  /** Milliseconds; negative holds the first back. */
  readonly stagger: number;
}

/** A lane has an agent of its own, so that its races touch nobody else's. */
export interface RaceAgent {
  readonly agent: BuiltAgent;
  readonly callers: readonly Client[];
  readonly action: TimeoutAction;
  readonly quorum?: ModelQuorum;
}

/** A race that has been run: to be judged with others, since the log and the receipts are read for many at once. */
export interface Run {
  readonly race: Race;
  readonly lane: RaceAgent;
  readonly id: string;
  readonly execution: string;
  readonly replies: readonly (Reply | undefined)[];
}

const CAPABILITY = 'crm.push';

export async function aRaceAgent(
  group: TenantGroup, servers: readonly TestServer[], action: TimeoutAction, quorum?: ModelQuorum,
): Promise<RaceAgent> {
  const grant = {
    hitlMode: 'propose', hitlTimeoutAction: action, conditions: [{ when: 'input.danger == true', hitlMode: 'escalate' }],
    ...(quorum === undefined ? {} : { quorum: { approvals: quorum.approvals } }),
  };
  const agent = await made(() => anAgent(group.server).granted(CAPABILITY, grant)
    .having({ ownerId: group.people.get('agentOwner')!.id, teamId: group.teamId }).create());
  const callers = servers.map((server) => asRoot(server).with({ authorization: `Bearer ${agent.token}` }));
  return { agent, callers, action, ...(quorum === undefined ? {} : { quorum }) };
}

/** Makes a request, and sends both at once, each to its own server. */
export async function run(group: TenantGroup, servers: readonly TestServer[], lane: RaceAgent, race: Race): Promise<Run> {
  const asked = (await done(() => lane.callers[0]!.post('/api/v1/execute', { capability: CAPABILITY, input: { danger: race.danger } })))
    .expect(202);
  const id = asked.text('hitlRequestId');
  for (const voter of votersBefore(race)) {
    const client = keyed(clientOf(group, servers[0]!, voter), `${id}-${voter}`);
    (await done(() => client.post(`/api/v1/hitl/${id}/approve`, {}))).expect(200);
  }
  const send = async (side: Racer, nth: number): Promise<Reply | undefined> => {
    const server = servers[race.swapped ? 1 - nth : nth]!;
    await pause(Math.max(0, nth === 0 ? -race.stagger : race.stagger));
    if (side !== 'window') {
      const { who, verb } = side.attempt;
      const caller = who === 'agent' ? lane.callers[race.swapped ? 1 - nth : nth]! : clientOf(group, server, who);
      const client = keyed(caller, `${id}-${nth}`);
      return done(() => client.post(`/api/v1/hitl/${id}/${verb}`, verb === 'escalate' ? { reason: 'a race' } : {},
        { query: verb === 'approve' ? { wait: 0 } : {} }));
    }
    await group.server.sql(
      `update hitl_requests set expires_at = clock_timestamp() where id = $1 and status in ('pending', 'escalated')`, [id]);
    (await done(() => asRoot(server).post('/api/v1/hitl/check-timeouts'))).expect(200);
    return undefined;
  };
  const [one, other] = race.sides;
  const calls = race.swapped ? [send(other, 1), send(one, 0)].reverse() : [send(one, 0), send(other, 1)];
  return { race, lane, id, execution: asked.text('executionId'), replies: await Promise.all(calls) };
}

/** What was turned away with an unknown commit is asked again under its key: its own first try is no other command. */
const keyed = (client: Client, key: string): Client => client.with({ 'idempotency-key': key });

function clientOf(group: TenantGroup, server: TestServer, who: Principal): Client {
  const person = group.people.get(who)!;
  return who === 'root' ? asRoot(server) : asRoot(server).with({ authorization: `Bearer ${person.key!}` });
}

/** Under a quorum of three, somebody has voted before the last two come. */
const votersBefore = ({ pair }: Race): readonly Principal[] => (pair === LAST_VOTES ? ['root'] : []);

export const LAST_VOTES = 'last vote x last vote';
export const SAME_PERSON = 'the same vote twice';

interface Stored {
  readonly id: string;
  readonly status: string;
  readonly level: number;
  readonly to: string | null;
  readonly outcome: string | null;
  readonly by: string | null;
  readonly decidedBy: string | null;
  readonly decidedAt: Date | null;
  readonly execution: string;
}

/** Waits until nothing of these is under way, and says for each who came first, or what fits no order of the two. */
export async function checkRace(
  group: TenantGroup, runs: readonly Run[], receipts: () => ReadonlyMap<string, number>,
): Promise<RaceResult[]> {
  const ids = runs.map(({ id }) => id);
  await settled(group, ids);
  const stored = await group.server.sql<Stored & { id: string }>(
    `select q.id, q.status, q.escalation_level as level, q.escalated_to as "to", q.decision_outcome as outcome, q.decision_by as by,
       q.decided_by as "decidedBy", q.decided_at as "decidedAt", x.status as execution
     from hitl_requests q join executions x on x.id = q.execution_id where q.id = any ($1)`, [ids]);
  const byId = new Map(stored.map((row) => [row.id, row]));
  const entries = new Map<string, AuditEntry[]>();
  for (const { agent } of new Set(runs.map(({ lane }) => lane))) {
    const page = (await asRoot(group.server).get('/api/v1/audit', { query: { agentId: agent.id, limit: 500 } })).expect(200);
    for (const entry of (page.list('entries') as AuditEntry[]).reverse()) {
      const of = String(entry.metadata['hitlId']);
      entries.set(of, [...(entries.get(of) ?? []), entry]);
    }
  }
  const received = receipts();
  return runs.map((one) => verdictOn(group, one, byId.get(one.id)!, entries.get(one.id) ?? [], received.get(one.execution) ?? 0));
}

export interface RaceResult {
  readonly pair: string;
  readonly first?: string;
  readonly answers: readonly string[];
  readonly difference?: string;
}

type Atom = { readonly side: number; readonly what: 'click' | 'end' | 'sweep' };

function verdictOn(group: TenantGroup, one: Run, row: Stored, entries: readonly AuditEntry[], receipts: number): RaceResult {
  const { race: { pair, sides }, replies } = one;
  const answers = replies.map((reply) => (reply === undefined ? 'swept' : `${reply.status} ${codeOf(reply) ?? ''}`.trim()));
  const atoms = sides.map((side, nth): Atom[] =>
    (side === 'window' ? [{ side: nth, what: 'end' }, { side: nth, what: 'sweep' }] : [{ side: nth, what: 'click' }]));
  const misfits: string[] = [];
  for (const order of mergesOf(atoms[0]!, atoms[1]!)) {
    const misfit = misfitOf(group, one, order, row, entries, receipts);
    if (misfit === undefined) return { pair, answers, first: order[0]!.side === 0 ? 'the first' : 'the second' };
    misfits.push(`${order.map(({ side, what }) => `${what} of ${side}`).join(', ')}: ${misfit}`);
  }
  const log = entries.map(({ event, actorId }) => `${event} by ${actorId}`).join(', ');
  return { pair, answers, difference: `${JSON.stringify(one.race)} with ${one.lane.action}: answered ${answers.join(' and ')}, left ${
    JSON.stringify(row)}, ${receipts} receipts and the log ${log}; no order explains that:\n${misfits.join('\n')}` };
}

/** Plays one order of events on the model: where its outcome is not what happened. */
function misfitOf(group: TenantGroup, { race, lane, replies }: Run, order: readonly Atom[], row: Stored, entries: readonly AuditEntry[],
  receipts: number): string | undefined {
  const { model, request } = fresh(lane, race);
  for (const voter of votersBefore(race)) decide(model, request, { verb: 'approve', who: voter, digest: 'none' });
  for (const { side, what } of order) {
    const racer = race.sides[side]!;
    if (what === 'end') request.over ||= isOpen(request);
    else if (what === 'sweep') sweep(model, request);
    else if (racer !== 'window') {
      const misfit = answerMisfit(decide(model, request, racer.attempt), replies[side]!, row);
      if (misfit !== undefined) return misfit;
    }
  }
  sweep(model, request);
  const idOf = (who: string | null) =>
    (who === null || who === 'system' ? who : who === 'agent' ? lane.agent.id : group.people.get(who as Principal)!.id);
  const { status, level, escalatedTo, decision, decidedBy, execution } = request;
  const wanted = [status, level, idOf(escalatedTo), decision?.outcome ?? null, decision?.by ?? null, idOf(decidedBy), execution];
  return unequal('what is stored', wanted, [row.status, row.level, row.to, row.outcome, row.by, row.decidedBy, row.execution])
    ?? unequal('the log', request.entries.map(({ event, actor }) => (event.startsWith('hitl.') ? `${event} by ${idOf(actor)}` : event)),
      entries.map(({ event, actorId }) => (event.startsWith('hitl.') ? `${event} by ${actorId}` : event)))
    ?? unequal('receipts at the runtime', execution === 'executed' ? 1 : 0, receipts);
}

function sweep(model: Model, request: ModelRequest): void {
  if (isOpen(request) && request.over) timeOut(model, request, 'window', 'system');
}

/** The loser is told the state that stands: the end, or, where the window is over and the sweep has yet to come, an open request. */
function answerMisfit({ status, code }: Answer, reply: Reply, { id, ...row }: Stored): string | undefined {
  const misfit = unequal('an answer', [status, code ?? null], [reply.status, codeOf(reply) ?? null]);
  if (misfit !== undefined || (code !== 'HITL_ALREADY_DECIDED' && code !== 'HITL_EXPIRED')) return misfit;
  const reported = reply.at('request') as { status: string };
  const unswept = code === 'HITL_EXPIRED' && (reported.status === 'pending' || reported.status === 'escalated');
  const wanted = unswept
    ? { id, status: reported.status, decidedBy: null, decidedAt: null }
    : { id, status: row.status, decidedBy: row.decidedBy, decidedAt: row.decidedAt?.toISOString() ?? null };
  return unequal('the state in the refusal', wanted, reported);
}

function fresh({ action, quorum }: RaceAgent, { danger }: Race): { model: Model; request: ModelRequest } {
  const terms = { mode: 'propose', action, held: true, ...(quorum === undefined ? {} : { quorum }) } as const;
  const agent = { active: true, stopped: false, inToken: new Set([CAPABILITY]), grants: new Map([[CAPABILITY, terms]]) };
  const model: Model = { agents: [agent, agent], requests: [], maxPending: 1, strict: false };
  return { model, request: ask(model, { agent: 0, capability: CAPABILITY, by: 'gate', danger }).request! };
}

function mergesOf(one: readonly Atom[], other: readonly Atom[]): Atom[][] {
  if (one.length === 0 || other.length === 0) return [[...one, ...other]];
  return [
    ...mergesOf(one.slice(1), other).map((rest) => [one[0]!, ...rest]),
    ...mergesOf(one, other.slice(1)).map((rest) => [other[0]!, ...rest]),
  ];
}

async function settled({ server }: TenantGroup, ids: readonly string[]): Promise<void> {
  for (let rounds = 0; rounds < 600; rounds++) {
    const rows = await server.sql(
      `select 1 from hitl_requests q join executions x on x.id = q.execution_id where q.id = any ($1)
         and ((q.status in ('pending', 'escalated') and q.expires_at <= clock_timestamp())
           or (q.status = 'approved' and x.status in ('pending_hitl', 'running'))) limit 1`, [ids]);
    if (rows.length === 0) return;
    await pause(50);
  }
  throw new Error('after half a minute something was still under way');
}

const codeOf = (reply: Reply): string | undefined => (reply.body as { code?: string } | undefined)?.code;

const WHO: Readonly<Record<Verb, readonly Principal[]>> = {
  approve: ['admin', 'owner', 'root', 'lead', 'teammate'],
  reject: ['admin', 'owner', 'root', 'lead', 'teammate'],
  escalate: ['admin', 'owner', 'root', 'lead', 'teammate'],
  cancel: ['agent', 'agent', 'admin', 'root'],
  timeout: ['admin', 'owner', 'root'],
};

/** A pair with people, and for a timeout the kind of it, drawn. */
export function drawn(pair: readonly [Verb, Verb], random: () => number): Race {
  const side = (verb: Verb): Racer =>
    (verb === 'timeout' && random() < 0.5 ? 'window' : { attempt: { verb, who: oneOf(WHO[verb], random), digest: 'none' } });
  return race(pair.join(' x '), [side(pair[0]), side(pair[1])], random);
}

export function drawnVotes(pair: typeof LAST_VOTES | typeof SAME_PERSON, random: () => number): Race {
  const vote = (who: Principal): Racer => ({ attempt: { verb: 'approve', who, digest: 'none' } });
  return race(pair, pair === SAME_PERSON ? [vote('teammate'), vote('teammate')] : [vote('admin'), vote('teammate')], random, false);
}

function race(pair: string, sides: readonly [Racer, Racer], random: () => number, mayDanger = true): Race {
  // Half are sent at the same moment, half a little apart: whoever is usually faster shall not always win.
  const stagger = random() < 0.5 ? 0 : Math.round((random() - 0.5) * 16);
  return { pair, sides, danger: mayDanger && random() < 0.15, swapped: random() < 0.5, stagger };
}

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { highestLevelOf } from '../../../src/domain/hitl/duties.js';
import type { EscalationLevel } from '../../../src/domain/hitl/transition.js';
import { DeciderQuery } from '../../../src/modules/authority/decider.query.js';
import type { Facts } from '../../../src/modules/authority/facts.js';
import { EligibleDecidersQuery, type RequestAtLevel } from '../../../src/modules/hitl/queue/eligible-deciders.query.js';
import { REQUEST_COLUMNS } from '../../../src/modules/hitl/requests/request-columns.js';
import type { HitlRequestEntity } from '../../../src/modules/hitl/requests/hitl-request.entity.js';
import { DecisionEligibilityService } from '../../../src/modules/hitl/decisions/decision-eligibility.service.js';
import type { Caller } from '../../../src/platform/auth/access/principal.js';
import type { Tx } from '../../../src/platform/database/transaction/tx.js';
import { Problem } from '../../../src/platform/http/reply/problem.js';
import { asRoot } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import { buildScenario, scenarios, type BuiltPersonRow, type BuiltScenario, type Scenario } from '../../support/hitl/queue-scenario.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

// Queues judge groups of requests, from rows that are read for many people at once. Here every person of a tenant group is judged for
// every request, at every level, by the service that judges single decisions; and its answers are those of the queues, and of whom the
// question is put to.

const NUM_RUNS = Number(process.env['QUEUE_WORLDS'] ?? 40);

let server: TestServer;
let model: { id: string; executionId: string };

beforeAll(async () => {
  server = await startServer();
  const agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
  const reply = (await agent.client.post('/api/v1/execute', { capability: 'email.send' })).expect(202);
  model = { id: reply.text('hitlRequestId'), executionId: reply.text('executionId') };
});

afterAll(() => server.stop());

/** What is true of one request and one person. */
interface Pair {
  readonly mayApprove: (level: EscalationLevel) => Promise<boolean>;
  readonly isOf: (level: EscalationLevel) => boolean;
}

const LEVELS = [0, 1, 2] as const;

async function pairOf(scenario: Scenario, built: BuiltScenario, n: number, person: BuiltPersonRow): Promise<Pair> {
  const wanted = scenario.requests[n]!;
  const terms = scenario.agents[wanted.agent]!;
  const tx = { query: (sql: string, values?: unknown[]) => server.sql(sql, values) } as unknown as Tx;
  const [row] = await server.sql<Record<string, unknown>>(
    `select q.*, a.owner_id, a.team_id as team_now, a.registered_by, m.role as place from hitl_requests q
     join agents a on a.organization_id = q.organization_id and a.id = q.agent_id
     left join team_members m on m.organization_id = a.organization_id and m.team_id = a.team_id and m.user_id = $2 where q.id = $1`,
    [built.requests[n]!.id, person.id]);
  const acts = person.isActive && (person.home === built.here || (scenario.isTenantGroup && person.role === 'owner'));
  const agent = {
    ...(row!['owner_id'] ? { ownerId: row!['owner_id'] } : {}), ...(row!['team_now'] ? { teamId: row!['team_now'] } : {}),
    registeredBy: row!['registered_by'],
  };
  const entity = {
    id: row!['id'], organizationId: built.here, agentId: row!['agent_id'], status: row!['status'], digest: row!['digest'], quorum: null,
    capability: 'email.send', hitlMode: 'propose', expiresAt: row!['expires_at'], timeoutSeconds: 60, timeoutAction: 'reject',
    decidedAt: null, decisionBy: null, createdAt: row!['created_at'], createdBy: row!['created_by'],
    separationOfDuties: row!['separation_of_duties'], initiators: row!['initiators'], vouchedBy: row!['vouched_by'],
    agentOwnerId: row!['agent_owner_id'], agentRegisteredBy: row!['agent_registered_by'], teamId: row!['team_id'],
    editedBy: null, editedAt: null,
  };
  const caller = {
    principal: {
      kind: 'user', userId: person.id, organizationId: person.home, role: person.role,
      credential: { kind: 'key', id: 'key_any', createdAt: new Date(0) },
    },
    actorId: person.id,
  } as unknown as Caller;
  const facts = { now: new Date(), stops: [], agent, separationOfDuties: scenario.isStrict ? 'strict' : 'standard' };
  const mayApprove = async (level: EscalationLevel): Promise<boolean> => {
    if (!acts) return false;
    const request = { ...entity, escalationLevel: level } as unknown as HitlRequestEntity;
    const judging = new DecisionEligibilityService({} as never, {} as never, new DeciderQuery({}));
    try {
      await judging.authorize(tx, { request, facts: facts as unknown as Facts }, 'approve', {}, caller);
      return true;
    } catch (error) {
      if (error instanceof Problem && (error.code === 'NOT_ELIGIBLE' || error.code === 'SELF_APPROVAL')) return false;
      throw error;
    }
  };
  const isOwner = terms.owner !== null && built.people[terms.owner]!.id === person.id;
  return {
    mayApprove,
    isOf: (level) => level === 0 ? isOwner || row!['place'] !== null
      : level === 1 ? row!['place'] === 'lead' : highestLevelOf({ kind: 'person', role: person.role } as never, {}) === 2,
  };
}

/** In whose queues the request stands, told in words that SQL has no part in. */
async function standsWith(level: EscalationLevel, pairs: readonly Pair[], addressee: number | null): Promise<Set<number>> {
  const may = await Promise.all(pairs.map((pair) => pair.mayApprove(level)));
  if (addressee !== null && may[addressee]) return new Set([addressee]);
  for (let up = level; up <= 2; up++) {
    const queue = pairs.flatMap((pair, i) => (may[i] && pair.isOf(up as EscalationLevel) ? [i] : []));
    if (queue.length > 0) return new Set(queue);
  }
  return new Set();
}

/** Whom the question about each request is put to, once a worker has recorded it. */
async function notifiedOf({ here, requests }: BuiltScenario): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const ids = requests.map(({ id }) => id);
  await server.sql(
    `insert into outbox (organization_id, kind, payload)
     select $1, 'notification.send', json_build_object('event', 'hitl.request.created', 'hitlRequestId', id) from unnest($2::text[]) as id`,
    [here, ids]);
  await eventually(async () => expect(await server.sql(`select 1 from outbox where organization_id = $1`, [here])).toEqual([]));
  const rows = await server.sql<{ id: string; users: string[] }>(
    `select hitl_request_id as id, array_agg(user_id) as users from notifications where hitl_request_id = any ($1) group by 1`, [ids]);
  return new Map(rows.map(({ id, users }) => [id, new Set(users)]));
}

async function compare(scenario: Scenario): Promise<Record<string, number>> {
  const built = await buildScenario(server, scenario, model);
  const eligible = new EligibleDecidersQuery({});
  const tx = { query: (sql: string, values?: unknown[]) => server.sql(sql, values) } as unknown as Tx;
  const counted = { pairs: 0, standing: 0, fallback: 0, addressed: 0, only: 0 };
  const queues = await Promise.all(built.people.map(async ({ id }) => {
    const reply = (await asRoot(server).get('/api/v1/hitl', { query: { assignedTo: id, limit: 100 } })).expect(200);
    const ids = (reply.list('requests') as { id: string }[]).map((one) => one.id);
    expect(reply.at('total')).toBe(ids.length);
    return new Set(ids);
  }));
  const notified = await notifiedOf(built);
  for (const [n, { id }] of built.requests.entries()) {
    const { level, escalatedTo } = scenario.requests[n]!;
    const [row] = await server.sql<RequestAtLevel & Record<string, unknown>>(
      `select ${REQUEST_COLUMNS} from hitl_requests q where q.id = $1`, [id]);
    const pairs = await Promise.all(built.people.map((person) => pairOf(scenario, built, n, person)));
    const wanted = await standsWith(level as EscalationLevel, pairs, escalatedTo);
    const shown = new Set(built.people.flatMap((_, i) => (queues[i]!.has(id) ? [i] : [])));
    expect({ request: n, in: [...shown] }).toEqual({ request: n, in: [...wanted] });
    const asked = built.people.flatMap((person, i) => (notified.get(id)?.has(person.id) ? [i] : []));
    const others = (notified.get(id)?.size ?? 0) - asked.length;
    expect({ request: n, asked, others }).toEqual({ request: n, asked: [...wanted], others: 0 });
    counted.pairs += pairs.length;
    counted.standing += wanted.size;
    if (escalatedTo !== null && wanted.has(escalatedTo)) counted.addressed++;
    else if (wanted.size > 0 && ![...wanted].some((i) => pairs[i]!.isOf(level as EscalationLevel))) counted.fallback++;

    for (const at of LEVELS) {
      const may = await Promise.all(pairs.map((pair) => pair.mayApprove(at)));
      const request = { ...row!, level: at };
      const answers = await Promise.all(built.people.map((person) => eligible.mayApproveAt(tx, request, person.id)));
      expect({ request: n, at, may: answers }).toEqual({ request: n, at, may });
      const ofLevel = built.people.filter((_, i) => may[i] && pairs[i]!.isOf(at));
      const only = (await eligible.onlyOnes(tx, [request])).get(id);
      expect({ request: n, at, only }).toEqual({ request: n, at, only: ofLevel.length === 1 ? ofLevel[0]!.id : undefined });
      if (only !== undefined) counted.only++;
    }
  }
  return counted;
}

test('queues, the only person of a level and who may be named are what the rules of deciding say', async () => {
  const sums: Record<string, number> = {};
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      for (const [what, count] of Object.entries(await compare(scenario))) sums[what] = (sums[what] ?? 0) + count;
    }),
    { numRuns: NUM_RUNS, endOnFailure: true },
  );
  process.stderr.write(`queues: ${JSON.stringify(sums)}\n`);
  // Scenarios in which nothing of this ever happens would prove nothing.
  for (const what of ['standing', 'fallback', 'addressed', 'only']) expect(sums[what]).toBeGreaterThan(0);
});

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { asAgent, asRoot, type Client, type Reply } from '../support/actors.js';
import { eventsOf } from '../support/audit.js';
import { anAgent, type BuiltAgent } from '../support/builders.js';
import { eventually } from '../support/eventually.js';
import { defineCapability, executionBecomes, executionOf, pauseOutbox, requestOf, resumeOutbox } from '../support/gate.js';
import { anOrganization, aPerson, aTeam, firstOrganization } from '../support/people.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { startServer, type TestServer } from '../support/server.js';
import { CHECKOUT } from '../support/test-run.js';

jest.setTimeout(120_000);

const EXECUTE = '/api/v1/execute';

let server: TestServer;
let receiver: Receiver;
let root: Client;
let home: string;
let abroad: string;
let names = 0;

beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  root = asRoot(server);
  home = await firstOrganization(server);
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});
beforeEach(async () => {
  abroad = await anOrganization(server);
});

const path = ({ id }: BuiltAgent) => `/api/v1/agents/${id}/transfer`;
const transfer = (agent: BuiltAgent, organizationId: string, client = root): Promise<Reply> =>
  client.post(path(agent), { organizationId });

interface Link {
  readonly organization_id: string;
  readonly chain: string;
  readonly seq: number;
  readonly id: string;
  readonly event: string;
  readonly actor_id: string;
  readonly hash: string;
  readonly prev_hash: string | null;
  readonly metadata: Record<string, unknown>;
}

const linksOf = (chain: string): Promise<Link[]> => server.sql(
  `select organization_id, chain, seq::integer, id, event, actor_id, hash, prev_hash, payload::json -> 'metadata' as metadata
   from audit_entries where chain = $1 order by seq`, [chain]);

interface Head {
  readonly seq: number;
  readonly hash: string;
  readonly revision: number;
  readonly open_requests: number;
  readonly closed: boolean;
}

async function headOf(organizationId: string, { id }: BuiltAgent): Promise<Head> {
  const [head] = await server.sql<Head & Record<string, unknown>>(
    `select seq::integer, hash, revision::integer, open_requests, closed_at is not null as closed
     from audit_heads where organization_id = $1 and chain = $2`, [organizationId, id]);
  return head!;
}

/** A new token with new grants, as the people of the agent's present organization give them. */
async function welcomed(agent: BuiltAgent, capability = 'web.search', hitlMode = 'auto'): Promise<Client> {
  (await root.post('/api/v1/capabilities/grant', { agentId: agent.id, capability, hitlMode })).expect(201);
  return asAgent(server, (await root.post(`/api/v1/agents/${agent.id}/token`)).expect(200).text('token'));
}

interface Verdict {
  readonly code: number;
  readonly valid: boolean;
  readonly breaks: readonly { readonly chain: string; readonly kind: string; readonly position: number }[];
}

/** As the command line says it, of everything or of one agent. */
function verified(...args: string[]): Promise<Verdict> {
  const command = [join(CHECKOUT, 'bin/countersign.mjs'), 'audit', 'verify', '--database-url', server.database.url, '--json', ...args];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, command, { cwd: CHECKOUT }, (error, stdout) => {
      const code = typeof error?.code === 'number' ? error.code : 0;
      if (stdout === '') reject(new Error(`nothing was printed, exit code ${code}`));
      else resolve({ ...(JSON.parse(stdout) as Verdict), code });
    });
  });
}

describe('what goes along and what stays', () => {
  test('the agent as it is said to be goes; rights, owner, team, node and tokens do not', async () => {
    const owner = await aPerson(server, 'member');
    const team = await aTeam(server, home);
    const agent = await anAgent(server).risk('high').tagged('eu').granted('web.search').granted('file.read').create();
    await server.sql('update agents set owner_id = $2, team_id = $3, node_last_seen = clock_timestamp() where id = $1',
      [agent.id, owner.id, team]);
    const moved = (await transfer(agent, abroad)).expect(200);
    expect(moved.at('agent')).toMatchObject({
      id: agent.id, organizationId: abroad, name: agent.agent.name, riskLevel: 'high', tags: ['eu'], status: 'active', capabilities: [],
      createdAt: agent.agent.createdAt,
    });
    expect(moved.at('agent')).not.toHaveProperty('nodeLastSeen');
    expect(await server.sql('select organization_id, owner_id, team_id, epoch > 0 as raised from agents where id = $1', [agent.id]))
      .toEqual([{ organization_id: abroad, owner_id: null, team_id: null, raised: true }]);
    expect(await server.sql('select 1 from capability_grants where agent_id = $1 and revoked_at is null', [agent.id])).toEqual([]);
    const revoked = (await linksOf(agent.id)).filter(({ event }) => event === 'capability.revoked');
    expect(revoked.map(({ organization_id, metadata }) => [metadata.capability, metadata.reason, organization_id]).sort()).toEqual([
      ['file.read', 'transferred', home], ['web.search', 'transferred', home],
    ]);
    (await root.get(`/api/v1/agents/${agent.id}`)).expect(200);
  });

  test('the people of the one no longer find it, those of the other do; what it did before stays with the one', async () => {
    const [before, after] = await Promise.all([
      aPerson(server, 'admin'), aPerson(server, 'admin', { organizationId: abroad }),
    ]);
    const agent = await anAgent(server).granted('web.search').create();
    const execution = (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(200).text('executionId');
    (await after.client.get(`/api/v1/agents/${agent.id}`)).expect(404);
    (await transfer(agent, abroad)).expect(200);
    (await before.client.get(`/api/v1/agents/${agent.id}`)).expect(404, 'NOT_FOUND');
    (await before.client.post(`/api/v1/agents/${agent.id}/token`)).expect(404, 'NOT_FOUND');
    (await after.client.get(`/api/v1/agents/${agent.id}`)).expect(200);
    (await before.client.get(`/api/v1/executions/${execution}`)).expect(200);
    (await after.client.get(`/api/v1/executions/${execution}`)).expect(404, 'NOT_FOUND');
    const seen = async ({ client }: { client: Client }) =>
      ((await client.get('/api/v1/audit', { query: { agentId: agent.id, limit: 500 } })).expect(200).list('entries') as { event: string }[])
        .map(({ event }) => event);
    expect((await seen(before)).at(0)).toBe('agent.transferred');
    expect(await seen(before)).toContain('execution.completed');
    expect(await seen(after)).toEqual(['agent.transferred']);
  });

  test('its old token is dead at once, on the gate too, and stays so when it comes back', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    (await transfer(agent, abroad)).expect(200);
    const dead = async () => {
      (await agent.client.get('/api/v1/agents')).expect(401, 'UNAUTHENTICATED');
      (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(401, 'UNAUTHENTICATED');
      (await agent.client.post(`/api/v1/agents/${agent.id}/token/refresh`)).expect(401, 'UNAUTHENTICATED');
    };
    await dead();
    (await transfer(agent, home)).expect(200);
    await dead();
    expect(await server.sql('select 1 from executions where agent_id = $1', [agent.id])).toEqual([]);
  });

  test('the gate there lets it act by the grants of there', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    (await transfer(agent, abroad)).expect(200);
    const bare = asAgent(server, (await root.post(`/api/v1/agents/${agent.id}/token`)).expect(200).text('token'));
    (await bare.post(EXECUTE, { capability: 'web.search' })).expect(403, 'CAPABILITY_NOT_GRANTED');
    const there = await welcomed(agent, 'email.send', 'propose');
    const asked = (await there.post(EXECUTE, { capability: 'email.send' })).expect(202).text('hitlRequestId');
    expect(await headOf(abroad, agent)).toMatchObject({ open_requests: 1, closed: false });
    const admin = await aPerson(server, 'admin', { organizationId: abroad });
    (await admin.client.post(`/api/v1/hitl/${asked}/approve`)).expect(200);
    expect(await requestOf(server, asked)).toMatchObject({ status: 'approved', execution: { status: 'executed' } });
  });

  test('one out of service goes as it is', async () => {
    const agent = await anAgent(server).create();
    (await root.post(`/api/v1/agents/${agent.id}/deactivate`)).expect(200);
    expect((await transfer(agent, abroad)).expect(200).at('agent.status')).toBe('deactivated');
    (await root.post(`/api/v1/agents/${agent.id}/activate`)).expect(200);
    (await (await welcomed(agent)).post(EXECUTE, { capability: 'web.search' })).expect(200);
  });
});

describe('who may, and where to', () => {
  test('an owner between two organizations of their tenant, and nowhere else', async () => {
    const tenantId = `ten_${'0'.repeat(30)}${++names}`;
    const [one, two] = [await anOrganization(server, { tenantId }), await anOrganization(server, { tenantId })];
    const owner = await aPerson(server, 'owner', { organizationId: one });
    const agent = await anAgent(server).inOrganization(one).create();
    const stranger = await anAgent(server).inOrganization(abroad).create();
    (await transfer(agent, abroad, owner.client)).expect(404, 'NOT_FOUND');
    (await transfer(agent, 'org_nowhere', owner.client)).expect(404, 'NOT_FOUND');
    (await transfer(stranger, two, owner.client)).expect(404, 'NOT_FOUND');
    (await transfer(agent, two, owner.client)).expect(200);
    (await transfer(agent, one, owner.client)).expect(200);
    expect((await linksOf(agent.id)).filter(({ event }) => event === 'agent.transferred').map(({ actor_id }) => actor_id))
      .toEqual([owner.id, owner.id, owner.id, owner.id]);
  });

  test('nobody below, and no agent', async () => {
    const agent = await anAgent(server).create();
    for (const role of ['admin', 'member', 'viewer'] as const) {
      (await transfer(agent, abroad, (await aPerson(server, role)).client)).expect(403, 'FORBIDDEN');
    }
    (await transfer(agent, abroad, agent.client)).expect(403, 'FORBIDDEN');
    (await root.post(path(agent), {})).expect(400, 'VALIDATION_FAILED');
    (await transfer(agent, 'org_nowhere')).expect(404, 'NOT_FOUND');
    (await transfer({ ...agent, id: 'agt_00000000000000000000000000absent0000' }, abroad)).expect(404, 'NOT_FOUND');
    (await root.delete(`/api/v1/agents/${agent.id}`)).expect(204);
    (await transfer(agent, abroad)).expect(404, 'NOT_FOUND');
  });

  test('not to where it is; with the same Idempotency-Key the first answer', async () => {
    const agent = await anAgent(server).create();
    (await transfer(agent, home)).expect(409, 'CONFLICT');
    const keyed = root.with({ 'idempotency-key': `transfer ${++names}`.replace(' ', '-') });
    const first = (await transfer(agent, abroad, keyed)).expect(200);
    const again = (await transfer(agent, abroad, keyed)).expect(200);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    (await transfer(agent, abroad)).expect(409, 'CONFLICT');
  });

  test.each<[string, (agent: BuiltAgent) => Promise<[scope: string, organization: string, agentId: string | null]>]>([
    ['the agent', ({ id }) => Promise.resolve(['agent', home, id])],
    ['its organization', () => Promise.resolve(['organization', home, null])],
    ['the organization it goes to', () => Promise.resolve(['organization', abroad, null])],
    ['everything', () => Promise.resolve(['all', 'org_platform', null])],
  ])('not while a stop holds %s; then, and not for a stop of another agent', async (_, of) => {
    const agent = await anAgent(server).create();
    const other = await anAgent(server).create();
    const stop = (scope: string, organization: string, agentId: string | null) => server.sql(
      `insert into stops (organization_id, id, scope, agent_id, reason, made_by, made_by_role, made_at)
       values ($1, $2, $3, $4, 'x', 'root', 'root', clock_timestamp())`, [organization, `stp_${++names}`, scope, agentId]);
    await stop('agent', home, other.id);
    await stop(...(await of(agent)));
    try {
      (await transfer(agent, abroad)).expect(409, 'CONFLICT');
    } finally {
      await server.sql(`update stops set lifted_at = clock_timestamp(), lifted_by = 'root' where agent_id is distinct from $1`, [other.id]);
    }
    (await transfer(agent, abroad)).expect(200);
  });
});

describe('what is under way', () => {
  /** A capability that the receiver does, in the agent's organization. */
  async function connected(hitlMode: string): Promise<{ agent: BuiltAgent; capability: string }> {
    const capability = `crm.transfer-${++names}`;
    await defineCapability(server, capability, { connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' } });
    return { capability, agent: await anAgent(server).granted(capability, { hitlMode }).create() };
  }

  test('open requests are cancelled by the system, and whoever decides on one is told', async () => {
    const agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).granted('finance.payment').create();
    const ids: string[] = [];
    const executions: string[] = [];
    for (const capability of ['email.send', 'finance.payment']) {
      const asked = (await agent.client.post(EXECUTE, { capability })).expect(202);
      ids.push(asked.text('hitlRequestId'));
      executions.push(asked.text('executionId'));
    }
    const waiting = root.get(`/api/v1/hitl/${ids[0]}`, { query: { wait: 20 } });
    const admin = await aPerson(server, 'admin');
    (await transfer(agent, abroad)).expect(200);
    expect((await waiting).expect(200).at('status')).toBe('cancelled');
    for (const id of ids) {
      expect(await requestOf(server, id)).toMatchObject({ status: 'cancelled', decided_by: 'system' });
      for (const what of ['approve', 'reject', 'cancel', 'timeout']) {
        (await root.post(`/api/v1/hitl/${id}/${what}`)).expect(409, 'HITL_ALREADY_DECIDED');
      }
      (await admin.client.post(`/api/v1/hitl/${id}/approve`)).expect(409, 'HITL_ALREADY_DECIDED');
    }
    for (const id of executions) expect(await executionOf(server, id)).toMatchObject({ status: 'cancelled' });
    expect((await linksOf(agent.id)).filter(({ event }) => event === 'hitl.cancelled')
      .map(({ actor_id, organization_id, metadata }) => [actor_id, organization_id, metadata.reason]))
      .toEqual(ids.map(() => ['system', home, 'agent_transferred']));
    expect(await headOf(home, agent)).toMatchObject({ open_requests: 0, closed: true });
    expect(await headOf(abroad, agent)).toMatchObject({ open_requests: 0, closed: false });
  });

  test('what was approved and had not begun does not begin, and gives its share of a limit back', async () => {
    const { agent, capability } = await connected('propose');
    const [grant] = (await root.get(`/api/v1/agents/${agent.id}/capabilities`)).list('grants') as { id: string }[];
    const asked = (await agent.client.post(EXECUTE, { capability })).expect(202);
    const execution = asked.text('executionId');
    await server.sql('insert into grant_usage (organization_id, grant_id) values ($1, $2)', [home, grant!.id]);
    await server.sql(`insert into grant_uses (organization_id, grant_id, measure, execution_id, amount) values ($1, $2, 'count', $3, 1)`,
      [home, grant!.id, execution]);
    await server.sql(`insert into grant_totals (organization_id, grant_id, measure, amount) values ($1, $2, 'count', 1)`, [home, grant!.id]);
    const before = receiver.requests.length;
    await pauseOutbox(server);
    try {
      (await root.post(`/api/v1/hitl/${asked.text('hitlRequestId')}/approve`, {}, { query: { wait: 0 } })).expect(200);
      (await transfer(agent, abroad)).expect(200);
    } finally {
      await resumeOutbox(server);
    }
    expect(await executionOf(server, execution)).toMatchObject({ status: 'cancelled', reason: 'agent_transferred' });
    expect(await requestOf(server, asked.text('hitlRequestId'))).toMatchObject({ status: 'approved' });
    expect((await linksOf(agent.id)).find(({ event }) => event === 'execution.cancelled')).toMatchObject({
      actor_id: 'system', organization_id: home, metadata: { executionId: execution, reason: 'agent_transferred' },
    });
    // The worker has taken the approval up and found that there is nothing to begin.
    await eventually(async () => expect(await server.sql(`select 1 from outbox where kind = 'execution.run'`)).toEqual([]),
      { within: 20_000, every: 100 });
    expect(receiver.requests).toHaveLength(before);
    expect(await server.sql('select 1 from grant_uses where execution_id = $1', [execution])).toEqual([]);
    expect(await server.sql('select amount::float from grant_totals where grant_id = $1', [grant!.id])).toEqual([{ amount: 0 }]);
  });

  test('409 while an action runs; a late answer to it goes to the organization\'s own chain', async () => {
    const { agent, capability } = await connected('auto');
    receiver.script({ delayMs: 14_000 });
    const call = agent.client.post(EXECUTE, { capability });
    const execution = await eventually(async () => {
      const [row] = await server.sql<{ id: string }>(`select id from executions where agent_id = $1 and status = 'running'`, [agent.id]);
      return row!.id;
    });
    (await transfer(agent, abroad)).expect(409, 'CONFLICT');
    expect(await server.sql('select organization_id from agents where id = $1', [agent.id])).toEqual([{ organization_id: home }]);
    await server.sql(`update executions set lease_until = clock_timestamp() where id = $1`, [execution]);
    await executionBecomes(server, execution, 'indeterminate', 20_000);
    (await transfer(agent, abroad)).expect(200);
    (await call).expect(200);
    const late = await eventually(async () => {
      const found = (await linksOf(`sys_${home}`)).find(({ event }) => event === 'execution.reported');
      expect(found).toMatchObject({ metadata: { executionId: execution, late: true } });
      return found!;
    }, { within: 20_000, every: 100 });
    expect(late).toMatchObject({ organization_id: home, actor_id: 'system' });
    expect((await linksOf(agent.id)).filter(({ organization_id }) => organization_id === home).at(-1)?.event).toBe('agent.transferred');
    const admin = await aPerson(server, 'admin');
    (await admin.client.post(`/api/v1/executions/${execution}/settle`, { outcome: 'success', note: 'it came' })).expect(200);
    expect((await linksOf(`sys_${home}`)).at(-1)).toMatchObject({ event: 'execution.settled', actor_id: admin.id });
    expect(await executionOf(server, execution)).toMatchObject({ settlement: { outcome: 'success' } });
    expect(await verified()).toMatchObject({ valid: true, code: 0 });
  });

  test('what the agent did before is reported by root, into the organization\'s own chain', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    const execution = (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(200).text('executionId');
    (await transfer(agent, abroad)).expect(200);
    const there = await welcomed(agent);
    (await there.post(`/api/v1/executions/${execution}/report`, { outcome: 'success' })).expect(404, 'NOT_FOUND');
    (await root.post(`/api/v1/executions/${execution}/report`, { outcome: 'success' })).expect(200);
    expect((await linksOf(`sys_${home}`)).at(-1)).toMatchObject({ event: 'execution.reported', metadata: { executionId: execution } });
    expect((await linksOf(agent.id)).map(({ event }) => event)).not.toContain('execution.reported');
  });
});

describe('its chain', () => {
  test('goes on without a gap: out ends it here, in continues it there, and neither names the other', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    (await root.post(path(agent), { organizationId: abroad, reason: 'the press moved' })).expect(200);
    const links = await linksOf(agent.id);
    expect(links.map(({ seq }) => seq)).toEqual(links.map((_, i) => i + 1));
    links.forEach((link, i) => expect(link.prev_hash).toBe(links[i - 1]?.hash ?? null));
    const [out, into] = links.slice(-2);
    expect(out).toMatchObject({ event: 'agent.transferred', organization_id: home, metadata: { direction: 'out' } });
    expect(into).toMatchObject({
      event: 'agent.transferred', organization_id: abroad, metadata: { direction: 'in', fromSeq: out!.seq, fromHash: out!.hash },
    });
    const stored = await server.sql<{ organization_id: string; text: string }>(
      `select organization_id, payload || disclosures as text from audit_entries where chain = $1 and event = 'agent.transferred' order by seq`,
      [agent.id]);
    expect(stored[0]!.text).not.toContain(abroad);
    expect(stored[1]!.text).not.toContain(home);
    for (const { text } of stored) expect(text).toContain('the press moved');
    expect(await headOf(home, agent)).toMatchObject({ seq: out!.seq, hash: out!.hash, closed: true });
    expect(await headOf(abroad, agent)).toMatchObject({ seq: into!.seq, hash: into!.hash, closed: false });
  });

  test('back and forth twice, working at each place: valid for both, for the agent and for all', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    const revisions: Record<string, number[]> = { [home]: [], [abroad]: [] };
    for (const target of [abroad, home, abroad, home]) {
      (await transfer(agent, target)).expect(200);
      (await (await welcomed(agent)).post(EXECUTE, { capability: 'web.search' })).expect(200);
      for (const place of [home, abroad]) revisions[place]!.push((await headOf(place, agent)).revision);
    }
    for (const seen of Object.values(revisions)) expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect((await eventsOf(server, agent.id)).filter((event) => event === 'agent.transferred')).toHaveLength(8);
    for (const organizationId of [home, abroad]) {
      // Once a minute for each credential.
      for (const target of ['/api/v1/audit/verify', `/api/v1/audit/verify?agent_id=${agent.id}`]) {
        const { client } = await aPerson(server, 'admin', { organizationId });
        const verdict = (await client.get(target)).expect(200);
        expect([verdict.at('valid'), verdict.at('breaks')]).toEqual([true, []]);
      }
    }
    expect((await root.get('/api/v1/audit/verify')).expect(200).at('valid')).toBe(true);
    expect(await verified()).toMatchObject({ code: 0, valid: true, breaks: [] });
    expect(await verified('--agent', agent.id)).toMatchObject({ code: 0, valid: true, breaks: [] });
  });

  test.each<[string, string, (agent: BuiltAgent) => readonly string[]]>([
    ['the entry of its arrival names another hash', 'edited', ({ id }) => [
      `update audit_entries set payload = replace(payload, '"fromHash":"', '"fromHash":"0') where chain = '${id}' and organization_id = '$'`,
    ]],
    ['its whole segment there is cut off', 'truncated', ({ id }) => ['audit_entries', 'audit_heads'].map((table) =>
      `delete from ${table} where chain = '${id}' and organization_id = '$'`)
      .concat(`delete from audit_tree_queue where organization_id = '$' and '${id}' = any (chains)`)],
    ['the entry of its arrival is gone', 'deleted', ({ id }) => [
      `delete from audit_entries where chain = '${id}' and organization_id = '$' and event = 'agent.transferred'`,
    ]],
  ])('is found broken when %s (%s)', async (_, kind, changes) => {
    const agent = await anAgent(server).create();
    (await transfer(agent, abroad)).expect(200);
    await welcomed(agent);
    expect(await verified()).toMatchObject({ valid: true });
    const tables = ['audit_entries', 'audit_heads', 'audit_tree_queue'];
    for (const table of tables) await server.sql(`create table kept_${table} as select * from ${table} where organization_id = $1`, [abroad]);
    try {
      for (const change of changes(agent)) await server.sql(change.replaceAll(`'$'`, `'${abroad}'`));
      const verdict = await verified();
      expect(verdict).toMatchObject({ valid: false, code: 1 });
      expect(verdict.breaks.map((one) => one.kind)).toContain(kind);
      expect(new Set(verdict.breaks.map((one) => one.chain))).toEqual(new Set([agent.id]));
    } finally {
      for (const table of tables) {
        await server.sql(`delete from ${table} where organization_id = $1`, [abroad]);
        await server.sql(`insert into ${table} overriding system value select * from kept_${table}`);
        await server.sql(`drop table kept_${table}`);
      }
    }
    expect(await verified()).toMatchObject({ valid: true });
  });
});

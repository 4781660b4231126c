import { changesSharedFacts } from '../../../src/domain/audit/catalogue/shared-fact-events.js';
import type { Basis } from '../../../src/domain/audit/catalogue/basis.js';
import { asRoot, type Client } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import { aTeam, firstOrganization } from '../../support/builders/people.js';
import type { Proof } from '../../support/proofs/proof.js';
import { done, generator, oneOf, pause } from '../../support/proofs/races.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { EXECUTE } from '../../support/http/paths.js';

const AGENTS = 6;
const CALLS_PER_ROUND = 60;
const CHANGES_PER_ROUND = 6;
const CAPABILITY = 'web.search';
const CHANGES = ['organization renamed', 'team\'s grant', 'definition', 'stop and its end', 'role'] as const;
type Change = (typeof CHANGES)[number];

interface Scenario {
  readonly servers: readonly TestServer[];
  readonly organizationId: string;
  readonly teamId: string;
  readonly userId: string;
  /** Of each agent, its client at each server. */
  readonly callers: readonly (readonly Client[])[];
}

/** An entry of an organization, in the order of its tree. */
interface Leaf {
  readonly chain: string;
  readonly seq: string;
  readonly event: string;
  readonly basis: Basis | null;
}

/**
 * Calls and approvals over two servers race with changes of what all agents of their organization share. The order that counts is the
 * organization's tree: what a decision rests on is the newest that stands before its entry.
 */
export const proof: Proof = {
  name: 'basis-race',
  title: 'In an organization\'s tree no entry that changes shared facts stands between a decision\'s basis and its entry.',
  longCount: 400,
  shortCount: 12,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const coverage: Record<string, number> = { 'decisions of the gate': 0, approvals: 0, 'by newer facts than the one before': 0 };
    for (const change of CHANGES) coverage[change] = 0;
    const random = generator(seed);
    const one = await startServer();
    try {
      const other = await startServer({ replicaOf: one });
      try {
        const scenario = await prepared([one, other]);
        let checked = 0;
        while (checked < count) {
          await round(scenario, random, coverage);
          progress(++checked);
        }
        const counterexample = outOfOrder(await treeOf(one, scenario.organizationId), scenario.organizationId, coverage);
        return { checked, coverage, ...(counterexample === undefined ? {} : { counterexample }) };
      } finally {
        await other.stop();
      }
    } finally {
      await one.stop();
    }
  },
};

async function prepared(servers: readonly TestServer[]): Promise<Scenario> {
  const [one] = servers as [TestServer, ...TestServer[]];
  const root = asRoot(one);
  const organizationId = await firstOrganization(one);
  const person = await root.post('/api/v1/users', { organizationId, email: 'ann@example.test', role: 'viewer' });
  const teamId = await aTeam(one, organizationId);
  (await root.post('/api/v1/capabilities/grant', { teamId, capability: CAPABILITY, hitlMode: 'auto' })).expect(201);
  (await root.post('/api/v1/capabilities/grant', { teamId, capability: 'email.send', hitlMode: 'propose' })).expect(201);
  const callers: (readonly Client[])[] = [];
  while (callers.length < AGENTS) {
    const agent = await anAgent(one).inOrganization(organizationId).having({ teamId }).create();
    callers.push(servers.map((server) => asRoot(server).with({ authorization: `Bearer ${agent.token}` })));
  }
  return { servers, organizationId, teamId, userId: person.expect(201).text('user.id'), callers };
}

async function round(scenario: Scenario, random: () => number, coverage: Record<string, number>): Promise<void> {
  const { servers, callers } = scenario;
  const changes = Array.from({ length: CHANGES_PER_ROUND }, async () => {
    const [kind, root] = [oneOf(CHANGES, random), asRoot(oneOf(servers, random))];
    await pause(random() * 60);
    await change(scenario, root, kind, random);
    coverage[kind]! += 1;
  });
  const calls = Array.from({ length: CALLS_PER_ROUND }, async (_, i) => {
    const client = oneOf(oneOf(callers, random), random);
    await pause((i / CALLS_PER_ROUND) * 80);
    await client.post(EXECUTE, { capability: CAPABILITY });
  });
  const approvals = callers.map(async (clients) => {
    await pause(random() * 60);
    const asked = await oneOf(clients, random).post(EXECUTE, { capability: 'email.send' });
    if (asked.status !== 202) return;
    await done(() => asRoot(oneOf(servers, random)).post(`/api/v1/hitl/${asked.text('hitlRequestId')}/approve`));
  });
  await Promise.all([...changes, ...calls, ...approvals]);
}

async function change(scenario: Scenario, root: Client, kind: Change, random: () => number): Promise<void> {
  const { organizationId, teamId, userId } = scenario;
  switch (kind) {
    case 'organization renamed':
      return void (await done(() => root.patch(`/api/v1/organizations/${organizationId}`, { name: `Racing ${random()}` }))).expect(200);
    case 'team\'s grant':
      return void (await done(() => root.post('/api/v1/capabilities/grant',
        { teamId, capability: CAPABILITY, hitlMode: oneOf(['auto', 'notify', 'block'], random) }))).expect(200);
    case 'definition':
      return void (await done(() => root.patch(`/api/v1/capabilities/${CAPABILITY}`,
        { inputSchema: { type: 'object', maxProperties: Math.ceil(random() * 100) } }))).expect(200);
    case 'stop and its end': {
      const stop = (await done(() => root.post('/api/v1/stops', { scope: 'organization', id: organizationId, reason: 'a race' })));
      return void (await done(() => root.delete(`/api/v1/stops/${stop.expect(201).text('stop.id')}`))).expect(204);
    }
    case 'role':
      return void (await done(() => root.patch(`/api/v1/users/${userId}`, { role: oneOf(['viewer', 'member'], random) }))).expect(200);
  }
}

/** What is integrated and what is still queued, of one moment, in the order of the tree. */
async function treeOf(server: TestServer, organizationId: string): Promise<Leaf[]> {
  return server.sql<Leaf>(
    `select l.chain, l.seq, e.event, e.payload::json #> '{metadata,basis}' as basis from (
       select 1 as part, t.tile as place, leaf.at, leaf.chain, leaf.seq
       from audit_tree_leaves t cross join lateral unnest(t.chains, t.seqs) with ordinality as leaf(chain, seq, at)
       where t.organization_id = $1
       union all
       select 2, 0, leaf.at, leaf.chain, leaf.seq
       from audit_trees t cross join lateral unnest(t.tail_chains, t.tail_seqs) with ordinality as leaf(chain, seq, at)
       where t.organization_id = $1
       union all
       select 3, q.id, leaf.at, leaf.chain, leaf.seq
       from audit_tree_queue q cross join lateral unnest(q.chains, q.seqs) with ordinality as leaf(chain, seq, at)
       where q.organization_id = $1) l
     join audit_entries e on e.organization_id = $1 and e.chain = l.chain and e.seq = l.seq
     order by l.part, l.place, l.at`,
    [organizationId],
  );
}

function outOfOrder(leaves: readonly Leaf[], organizationId: string, coverage: Record<string, number>): string | undefined {
  const own = `sys_${organizationId}`;
  // Positions in the organization's own chain: of its newest entry so far, and of the newest that changes what is shared.
  let newest = 0;
  let changed = 0;
  let before = 0;
  for (const { chain, seq, event, basis } of leaves) {
    if (chain === own) newest = Number(seq);
    if (chain === own && changesSharedFacts(chain, event)) changed = newest;
    if (basis === null) continue;
    const { organization } = basis;
    const said = `entry ${seq} of ${chain} (${event}) rests on position ${organization}`;
    if (organization < changed) return `${said}, and a change at ${changed} stands before it`;
    if (organization > newest) return `${said}, which only follows it`;
    coverage[event === 'hitl.approved' ? 'approvals' : 'decisions of the gate']! += 1;
    if (organization > before) coverage['by newer facts than the one before']! += 1;
    before = organization;
  }
  return undefined;
}

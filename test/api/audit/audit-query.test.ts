import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Client, asRoot } from '../../support/http/actors.js';
import type { AuditEntry as Entry } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { EXECUTE } from '../../support/http/paths.js';

const AUDIT = '/api/v1/audit';
/** Pages of so many begin so deep that the database merges the stretches that it reads. */
const DEEP = 480;

type Filters = Readonly<Record<string, string>>;
type AuditEntry = Entry & { readonly organizationId: string; readonly chain: string; readonly seq: number };

let server: TestServer;
let root: Client;
/** People's reads are no entries, so that the log stands still. */
let reader: Client;
let log: AuditEntry[];
let agents: BuiltAgent[];
let person: BuiltPerson;
let values: Record<string, string[]>;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
  const other = await anOrganization(server);
  person = await aPerson(server, 'admin');
  reader = person.client;
  agents = await Promise.all([1, 2, 3].map((nth) =>
    anAgent(server).named(`agent ${nth}`).risk(nth === 1 ? 'high' : 'limited').granted('web.search')
      .granted('file.read', { hitlMode: 'block' }).granted('email.send', { hitlMode: 'propose' }).create()));
  const foreign = await anAgent(server).inOrganization(other).granted('web.search').create();
  await foreign.client.post(EXECUTE, { capability: 'web.search', input: {} });
  for (const [nth, agent] of agents.entries()) {
    for (let i = 0; i < 4; i++) {
      const context = i === 0 ? { context: { on_behalf_of: person.id } } : {};
      await agent.client.post(EXECUTE, { capability: 'web.search', input: { i }, ...context });
    }
    await agent.client.post(EXECUTE, { capability: 'file.read', input: {} });
    const asked = await agent.client.post(EXECUTE, { capability: 'email.send', input: { to: 'a@example.org' } });
    // The last agent is decided over by root.
    const by = nth === 2 ? root : person.client;
    await by.post(`/api/v1/hitl/${asked.text('hitlRequestId')}/${nth === 0 ? 'approve' : 'reject'}`, nth === 0 ? {} : { reason: 'no' });
  }
  log = await all({});
  const at = (share: number) => log[Math.floor(log.length * share)]!.timestamp;
  values = {
    event: ['execution.started', 'hitl.rejected', 'admin.user_created', 'llm.request', 'no.such_event'],
    agentId: [agents[0]!.id, agents[2]!.id, 'agt_0000000000000000000000000000'],
    userId: [person.id, 'root', agents[0]!.id, 'usr_0000000000000000000000000000'],
    capability: ['web.search', 'email.send', 'no.such'],
    outcome: ['success', 'executed', 'failure', 'blocked'],
    organizationId: [log.find(({ agentId }) => agentId === agents[0]!.id)!.organizationId, other, 'org_platform', 'org_none'],
    from: [at(0.3), at(0.9), '2999-01-01T00:00:00.000Z'],
    to: [at(0.3), at(0.9), '2001-01-01T00:00:00.000Z'],
  };
});

afterAll(async () => {
  await server.stop();
});

/** Page by page, by the cursor. */
async function all(filters: Filters, limit = 100, client = reader): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = (await client.get(AUDIT, { query: { ...filters, limit, ...(cursor === undefined ? {} : { cursor }) } })).expect(200);
    found.push(...(page.list('entries') as AuditEntry[]));
    cursor = (page.body as { nextCursor?: string }).nextCursor;
    if (cursor === undefined) {
      expect(page.number('total')).toBe(found.length);
      return found;
    }
  }
}

/** What each filter means, entry by entry. */
const FITS: Readonly<Record<string, (entry: AuditEntry, wanted: string) => boolean>> = {
  event: (entry, wanted) => entry.event === wanted,
  agentId: (entry, wanted) => entry.agentId === wanted,
  userId: (entry, wanted) => entry.actorId === wanted || (wanted.startsWith('usr_') && JSON.stringify(entry.metadata).includes(wanted)),
  capability: (entry, wanted) => entry.capability === wanted,
  outcome: ({ outcome }, wanted) => outcome === wanted || (wanted === 'success' && outcome === 'executed'),
  organizationId: (entry, wanted) => entry.organizationId === wanted,
  from: (entry, wanted) => entry.timestamp >= wanted,
  to: (entry, wanted) => entry.timestamp <= wanted,
};

function wantedOf(filters: Filters): string[] {
  return log.filter((entry) => Object.entries(filters).every(([name, wanted]) => FITS[name]!(entry, wanted))).map(({ id }) => id).sort();
}

const NAMES = Object.keys(FITS);
const PAIRS = NAMES.flatMap((one, i) => NAMES.slice(i).map((other) => [one, other] as const));

describe('each filter, and each two together, find what they name and nothing else', () => {
  test.each(PAIRS)('%s and %s', async (one, other) => {
    let found = 0;
    for (const first of values[one]!) {
      for (const [nth, second] of (one === other ? [first] : values[other]!).entries()) {
        const filters: Filters = { [one]: first, [other]: second };
        if (filters['from']! > filters['to']!) {
          (await reader.get(AUDIT, { query: filters })).expect(400, 'VALIDATION_FAILED');
          continue;
        }
        const wanted = wantedOf(filters);
        found += wanted.length;
        expect({ filters, found: (await all(filters)).map(({ id }) => id).sort() }).toEqual({ filters, found: wanted });
        // Of what is found with the first filter once; of what is not there always.
        if (nth > 0 && wanted.length > 0) continue;
        const deep = (await reader.get(AUDIT, { query: { ...filters, limit: DEEP, offset: 150 } })).expect(200);
        expect(deep.number('total')).toBe(wanted.length);
        expect(deep.list('entries')).toHaveLength(Math.max(0, wanted.length - 150));
      }
    }
    expect(found).toBeGreaterThan(0);
  });

  test('three and more, the rarest of them last', async () => {
    const asked: Filters[] = [
      { event: 'execution.started', agentId: agents[0]!.id, userId: person.id },
      { capability: 'web.search', outcome: 'success', agentId: agents[1]!.id, from: values['from']![0]! },
      { userId: person.id, capability: 'email.send', outcome: 'success', to: values['to']![1]! },
    ];
    for (const filters of asked) {
      expect({ filters, found: (await all(filters, 3)).map(({ id }) => id).sort() }).toEqual({ filters, found: wantedOf(filters) });
    }
  });
});

test('pages are in one order, by cursor as by offset, and an agent\'s in that of its chain', async () => {
  const ids = log.map(({ id }) => id);
  expect(ids).toEqual([...ids].sort().reverse());
  const byOffset = [];
  for (let offset = 0; offset < ids.length; offset += 40) {
    const page = await reader.get(AUDIT, { query: { limit: 40, offset } });
    byOffset.push(...(page.list('entries') as AuditEntry[]).map(({ id }) => id));
  }
  expect(byOffset).toEqual(ids);
  const narrowed: Filters[] = [{}, { outcome: 'success' }, { capability: 'web.search' }, { from: values['from']![0]! }];
  for (const filters of narrowed) {
    const seqs = (await all({ agentId: agents[0]!.id, ...filters }, 2)).map(({ seq }) => seq);
    expect(seqs).toEqual([...seqs].sort((a, b) => b - a));
  }
});

test('where one server writes, a list of everything has the entries of a chain in its order too', async () => {
  const burst = await anAgent(server).granted('web.search').create();
  const calls = Array.from({ length: 40 }, (_, i) => burst.client.post(EXECUTE, { capability: 'web.search', input: { i } }));
  for (const answer of await Promise.all(calls)) answer.expect(200);
  const listed = await all({}, 500);
  for (const chain of new Set(listed.map((entry) => entry.chain))) {
    const seqs = listed.filter((entry) => entry.chain === chain).map(({ seq }) => seq);
    expect({ chain, seqs }).toEqual({ chain, seqs: [...seqs].sort((a, b) => b - a) });
  }
});

test('a member finds only what they made or what is about them, whatever they ask for', async () => {
  const member = await aPerson(server, 'member');
  const context = { on_behalf_of: member.id };
  (await agents[1]!.client.post(EXECUTE, { capability: 'web.search', input: {}, context })).expect(200);
  const own = await all({}, 100, member.client);
  expect(own.length).toBeGreaterThan(0);
  for (const entry of own) expect(entry.actorId === member.id || JSON.stringify(entry.metadata).includes(member.id)).toBe(true);
  expect(await all({ userId: person.id, event: 'execution.started' }, 100, member.client)).toEqual([]);
});

test('decisions about an agent of high risk are flagged, of others not', async () => {
  const decided = log.filter(({ event }) => event === 'hitl.approved' || event === 'hitl.rejected');
  expect(decided).toHaveLength(3);
  for (const entry of decided) expect(entry.metadata['flagged']).toBe(entry.agentId === agents[0]!.id ? true : undefined);
});

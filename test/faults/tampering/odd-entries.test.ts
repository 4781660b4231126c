import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { agentChain, organizationChain } from '../../../src/domain/audit/entry/chain.js';
import type { Disclosure } from '../../../src/domain/audit/entry/commitments.js';
import { prepareEntry, type PreparedEntry, type RecordedEvent } from '../../../src/domain/audit/entry/prepare-entry.js';
import { jcs } from '../../../src/domain/audit/entry/jcs.js';
import { REPLAY_EVENTS } from '../../../src/domain/audit/replay/replay.js';
import { SHARED_EVENTS } from '../../../src/domain/audit/replay/state/shared-facts.js';
import { RECORD_EVENTS } from '../../../src/domain/audit/completeness/recorded-state.js';
import { definitionDigest } from '../../../src/domain/gate/definition-digest.js';
import { newId } from '../../../src/domain/ids.js';
import type { JsonObject } from '../../../src/domain/json.js';
import { doublingSchema } from '../../support/routes/doubling-schema.js';
import { eventually } from '../../support/running/eventually.js';
import { aDecidedLog, type DecidedLog, recordedInFull } from '../../support/memory/decided-log.js';
import { delegatedInFull } from '../../support/memory/delegated-log.js';
import { type Receiver, startReceiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { Random } from '../../support/tampering/random.js';
import { tryingOut, type TryingOut } from '../../support/tampering/attempt.js';
import { integrityOf } from '../../support/log/verified-log.js';

// Whoever owns the database can put anything into what entries say, and append entries whose hashes fit and that say anything. None of that
// keeps a verification from its answer, nor from naming what else was done.

interface Entry {
  readonly id: string;
  readonly event: string;
  readonly chain: string;
  readonly payload: string;
  readonly disclosures: string;
}

const PATIENT = { every: 100 };

let server: TestServer;
let receiver: Receiver;
let owner: TryingOut;
let story: DecidedLog;
let entries: readonly Entry[];

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1', OUTBOUND_ALLOW: receiver.destination } });
  story = await aDecidedLog(server, receiver);
  await recordedInFull(server, story);
  await delegatedInFull(server, story);
  await eventually(async () => expect(await integrityOf(server.database.url)).toMatchObject({ verdict: 'valid' }), PATIENT);
  owner = await tryingOut(server.database);
  entries = await server.sql<Entry & Record<string, unknown>>(
    'select id, event, chain, payload, disclosures from audit_entries order by organization_id, chain, seq');
});

afterAll(async () => {
  await owner.end();
  await server.stop();
  await receiver.close();
});

const DEEP = `${'['.repeat(300)}${']'.repeat(300)}`;
/** As JSON: some of them no JSON of ours. */
const ODD = [
  'null', '[]', '[null]', '[{}]', '[[]]', '{}', '"x"', '"\\ud800"', '1e999', '-1', '1e21', 'true', '"__proto__"', '"constructor"',
  '[{"when":null}]', '{"approvals":"x","groups":[null]}', '{"type":"garbage","properties":1}', '{"__proto__":[]}',
  `"${'long '.repeat(20_000)}"`, DEEP,
];

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const changed = ({ id }: Entry, column: string, to: string) => `update audit_entries set "${column}" = ${quoted(to)} where id = '${id}'`;

/** What was done besides; it must be named as ever. */
function besides(changedId = ''): string {
  const other = entries.filter(({ chain, id }) => chain === story.agent.id && id !== changedId).at(-1)!;
  return changed(other, 'actor_id', 'usr_innocent');
}

/** What is wrong with what is said of a change: nothing where it and what was done besides are named. */
async function missed(entryId: string, ...changes: readonly (string | PreparedEntry)[]): Promise<string | undefined> {
  try {
    const breaks = await owner.breaksAfter(besides(entryId), ...changes);
    if (!breaks.some((one) => one.entryId === entryId)) return 'is not named';
    return breaks.some(({ detail }) => detail.includes('actor_id')) ? undefined : 'hides what was done besides';
  } catch (problem) {
    return `ends it: ${(problem as Error).stack?.split('\n').slice(0, 3).join(' ')}`;
  }
}

interface Change {
  readonly entry: Entry;
  readonly name: string;
  readonly sql: string;
}

/** JSON that cannot be written by `JSON.stringify` stands for itself, by its number. */
const MARK = '@odd';

/** Events that no judge reads are tried less. */
const SELDOM = 0.2;
const isJudged = (event: string) => RECORD_EVENTS.has(event) || REPLAY_EVENTS.has(event) || SHARED_EVENTS.includes(event);

/** Each member of each kind of entry, as it stands in the payload, with a value in its place. */
function plainly(value: (n: number) => string): Change[] {
  return oncePerKind(entries.flatMap((entry) => {
    const payload = JSON.parse(entry.payload) as JsonObject & { metadata: JsonObject };
    return Object.keys(payload.metadata).map((member) => ({ entry, member, payload }));
  }), ({ entry: { event }, member }) => `${event} ${member}`).flatMap(({ entry, member, payload }, n) => {
    const to = value(n);
    if (JSON.stringify(payload.metadata[member]) === to) return [];
    const text = JSON.stringify({ ...payload, metadata: { ...payload.metadata, [member]: MARK } }).replace(`"${MARK}"`, () => to);
    return [{ entry, name: `${entry.event} ${member} = ${to.slice(0, 40)}`, sql: changed(entry, 'payload', text) }];
  });
}

/** The same of each value that is disclosed. */
function disclosed(value: (n: number) => string): Change[] {
  return oncePerKind(entries.flatMap((entry) => {
    const all = JSON.parse(entry.disclosures) as Disclosure[];
    return all.map(({ pointer }, at) => ({ entry, pointer, all, at }));
  }), ({ entry: { event }, pointer }) => `${event} ${memberOf(pointer)}`).flatMap(({ entry, pointer, all, at }, n) => {
    const to = value(n);
    if ((all[at] as { value?: string }).value === to) return [];
    const text = JSON.stringify(all.map((one, i) => (i === at ? { ...one, value: to } : one)));
    return [{ entry, name: `${entry.event} ${pointer} : ${to.slice(0, 40)}`, sql: changed(entry, 'disclosures', text) }];
  });
}

const memberOf = (pointer: string) => pointer.split('/').slice(0, 3).join('/');

function oncePerKind<Item>(items: readonly Item[], kindOf: (item: Item) => string): Item[] {
  return [...new Map(items.map((item) => [kindOf(item), item])).values()];
}

async function allMissed(changes: readonly Change[]): Promise<string[]> {
  const found: string[] = [];
  for (const { entry, name, sql } of changes) {
    const what = await missed(entry.id, sql);
    if (what !== undefined) found.push(`${name} ${what}`);
  }
  return found;
}

test('nothing is wrong before', async () => {
  expect(await owner.breaksAfter()).toEqual([]);
});

describe('a changed cell of an entry is named, and hides nothing else', () => {
  test.each([['plain members', plainly], ['disclosed values', disclosed]])('%s of each kind, some odd value each', async (_, changesOf) => {
    const random = new Random('odd entries');
    const changes = changesOf(() => random.of(ODD)).filter(({ entry: { event } }) => isJudged(event) || random.chance(SELDOM));
    expect(changes.length).toBeGreaterThan(30);
    expect(await allMissed(changes)).toEqual([]);
  });

  test.each([
    ['conditions', '[null]'], ['conditions', '[{}]'], ['conditions', '[[]]'], ['conditions', '[{"when":null}]'],
    ['limits', '[null]'], ['quorum', '{"approvals":"x","groups":[null]}'], ['quorum', '{"approvals":2,"groups":[null]}'],
    ['input', '"\\ud800"'], ['input', '1e999'], ['input', '{"a":"\\ud800"}'], ['connector', '{}'], ['connector', '"\\ud800"'],
    ['tags', '[{}]'],
  ])('every disclosed %s = %s', async (member, value) => {
    const changes = disclosed(() => value).filter(({ name }) => name.includes(`/metadata/${member}`));
    expect(changes.length).toBeGreaterThan(0);
    expect(await allMissed(changes)).toEqual([]);
  });

  test.each(['9999-99-99T99:99:99.999Z', '                        ', '+0275760-09-13T00:00Z   ', '9999-12-31T23:59:59.999Z'])(
    'a time of %j, in each kind', async (time) => {
      const random = new Random(time);
      const each = oncePerKind(entries, ({ event }) => event).filter(() => random.chance(0.4));
      expect(await allMissed(each.map((entry) => ({ entry, name: entry.event, sql: changed(entry, 'timestamp', time) })))).toEqual([]);
    });
});

test.each(['constructor', '__proto__', 'toString'])('an execution whose status is %s is named, and hides nothing else', async (status) => {
  const breaks = await owner.breaksAfter(besides(), `update executions set status = '${status}' where agent_id = '${story.agent.id}'`);
  const details = breaks.map(({ detail }) => detail).join('\n');
  expect(details).toContain(`has status ${status}, its entries say`);
  expect(details).toContain('actor_id');
});

describe('an entry whose hash fits, and that says what no server writes, is named, and hides nothing else', () => {
  const agents = (type: string, metadata: object, capability?: string) => () => prepared({
    type, metadata, chain: agentChain(story.organizationId, story.agent.id), agentId: story.agent.id, ...(capability && { capability }),
  });
  const organizations = (type: string, metadata: object, capability?: string) => () =>
    prepared({ type, metadata, chain: organizationChain(story.organizationId), ...(capability && { capability }) });
  const prepared = (event: object) => prepareEntry(event as RecordedEvent, {
    id: newId('audit'), actorId: 'root', timestamp: new Date(), origin: { via: 'cli' },
  });
  const granted = { grantId: 'grt_odd', version: 1, capability: 'web.search', hitlMode: 'auto' };
  const expiresAt = '2030-01-01T00:00:00.000Z';
  const asked = { hitlId: 'hitl_odd', capability: 'web.search', input: {}, hitlMode: 'propose', expiresAt, digest: 'd' };
  const begun = { executionId: 'exec_odd', definition: 'd', input: {}, reasons: [] };
  const defined = { capability: 'web.search', definition: 'd' };
  /** With a value of a wrong kind; where it is committed, the text commits to it. */
  const ODD_VALUES: readonly (readonly [string, () => PreparedEntry])[] = [
    ['conditions', agents('capability.granted', { ...granted, conditions: [null] }, 'web.search')],
    ['when', agents('capability.config_updated', { ...granted, conditions: [{ when: null, hitlMode: 'auto' }] }, 'web.search')],
    ["a team's conditions", organizations('capability.granted', { ...granted, teamId: 'team_x', conditions: [{}] }, 'web.search')],
    ['limits', agents('capability.granted', { ...granted, limits: [null] }, 'web.search')],
    ['quorum', agents('capability.granted', { ...granted, quorum: { approvals: 2, groups: [null] } }, 'web.search')],
    ['input', agents('hitl.created', { ...asked, input: [null] }, 'web.search')],
    ['context', agents('execution.started', { ...begun, context: 'x' }, 'web.search')],
    ['schema', organizations('capability.defined', { ...defined, inputSchema: [null] }, 'web.search')],
    ['connector', organizations('capability.definition_updated', { ...defined, connector: { url: 1 } }, 'web.search')],
    ['tags', agents('agent.updated', { tags: [{}] })],
    ['tenant', organizations('admin.organization_created', { organizationId: 'org_odd', name: 'a', tenantId: ['ten_odd'] })],
  ];

  test.each(ODD_VALUES)('a wrong %s', async (_, make) => {
    const entry = make();
    expect(await missed(entry.id, entry)).toBeUndefined();
  });

  test('conditions, or a schema, that nobody could evaluate, and a call under them', async () => {
    const asking = (n: number) => ({ when: `now.getSeconds() == ${n} || input.n == ${n}`, hitlMode: 'propose' });
    const conditions = Array.from({ length: 3_000 }, (_, n) => asking(n));
    const grant = agents('capability.granted', { ...granted, conditions }, 'web.search')();
    const inputSchema = doublingSchema(40);
    const definition = definitionDigest({ inputSchema });
    const schema = organizations('capability.definition_updated', {
      ...defined, definition, description: 'x', category: 'c', hitlMode: 'auto', riskScore: 1, inputSchema,
    }, 'web.search')();
    const call = agents('execution.started', { ...begun, grantId: 'grt_odd', grantVersion: 1, definition }, 'web.search');
    expect(await missed(grant.id, grant, call())).toBeUndefined();
    expect(await missed(schema.id, schema, call())).toBeUndefined();
  });

  const plain: readonly (readonly [string, readonly string[], () => PreparedEntry])[] = [
    ['capability.granted', Object.keys(granted), agents('capability.granted', granted, 'web.search')],
    ['capability.revoked', ['grantId'], agents('capability.revoked', { grantId: 'grt_odd', capability: 'web.search' }, 'web.search')],
    ['execution.started', ['executionId', 'definition'], agents('execution.started', begun, 'web.search')],
    ['hitl.created', ['hitlId', 'hitlMode', 'expiresAt'], agents('hitl.created', asked, 'web.search')],
    ['hitl.approved', ['hitlId'], agents('hitl.approved', { hitlId: 'hitl_odd' }, 'web.search')],
    ['agent.registered', ['riskLevel'], agents('agent.registered', { name: 'a', riskLevel: 'high' })],
    ['agent.token_refreshed', ['expiresAt'], agents('agent.token_refreshed', { epoch: 0, expiresAt })],
    ['admin.stop_started', ['stopId'], organizations('admin.stop_started', { stopId: 'stp_odd', scope: 'organization', reason: 'r' })],
    ['admin.stop_ended', ['stopId'], organizations('admin.stop_ended', { stopId: 'stp_odd', scope: 'organization' })],
    ['admin.user_created', ['userId', 'role'], organizations('admin.user_created', { userId: newId('usr'), role: 'admin' })],
    ['admin.team_changed', ['teamId', 'change'], organizations('admin.team_changed', { teamId: 'team_odd', change: 'member_added' })],
    ['gdpr.erasure_requested', ['erasureId'], organizations('gdpr.erasure_requested', { erasureId: 'ers_odd', count: 1 })],
  ];

  test.each(plain.flatMap(([type, members, make]) => members.flatMap((member) =>
    ['gone', '[null]', '{"a":1}'].map((value) => [type, member, value, make] as const))))(
    '%s whose %s is %s', async (_type, member, value, make) => {
      const entry = make();
      const { metadata, ...payload } = JSON.parse(entry.payload) as { metadata: JsonObject };
      const { [member]: _, ...others } = metadata;
      const said = value === 'gone' ? others : { ...others, [member]: JSON.parse(value) as JsonObject };
      const text = jcs({ ...payload, metadata: said });
      expect(await missed(entry.id, { ...entry, payload: text })).toBeUndefined();
    });

  test.each(['9999-99-99T99:99:99.999Z', '2026-13-01T00:00:00.000Z'])('a time that is none: %s', async (time) => {
    const entry = agents('execution.started', begun, 'web.search')();
    expect(await missed(entry.id, { ...entry, timestamp: time, payload: entry.payload.replace(entry.timestamp, time) })).toBeUndefined();
  });
});

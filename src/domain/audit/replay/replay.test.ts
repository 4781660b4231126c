import { describe, expect, it } from '@jest/globals';
import { AGENT, BEGIN, RecordedLog } from '../../../../test/support/memory/recorded-log.js';
import { definitionDigest } from '../../gate/definition-digest.js';
import { PLATFORM_ORGANIZATION } from '../entry/chain.js';
import type { AuditEvent } from '../catalogue/audit-events.js';

const when = (source: string, hitlMode = 'propose') => ({ conditions: [{ when: source, hitlMode }] });
const RIGHT = { right: 1, notReplayable: {}, wrong: [] };
const only = (because: string) => ({ right: 0, notReplayable: { [because]: 1 }, wrong: [] });

describe('what an erased value leaves', () => {
  it.each([
    ['a condition over it: nobody can tell', when('input.amount > 10'), only('erased')],
    ['a condition that could only notify', when('input.amount > 10', 'notify'), RIGHT],
    ['no condition', {}, RIGHT],
  ])('%s', async (_, terms, found) => {
    const recorded = new RecordedLog().grant(1, terms).begin(2, { input: { amount: 5, q: 'x' } }).erase('/metadata/input/amount');
    expect(await recorded.replayed()).toEqual(found);
  });

  it.each<[string, object, string]>([
    ['another value than the condition reads', when('input.amount > 100'), '/metadata/input/to'],
    ['something of the context', when('input.amount > 100'), '/metadata/context/who'],
    ['what the condition looks for', when('has(input.to)'), '/metadata/input/to'],
  ])('%s: nobody can tell, since conditions may read all of the call', async (_, terms, pointer) => {
    const call = { input: { amount: 50_000, to: 'Grace' }, context: { who: 'Grace' } };
    expect(await new RecordedLog().grant(1, terms).begin(2, call).erase(pointer).replayed()).toEqual(only('erased'));
  });

  it('a mode that no condition explains is wrong all the same', async () => {
    const recorded = new RecordedLog().grant(1, { hitlMode: 'block', ...when('input.a == 1') });
    recorded.begin(2, { input: { a: 1 } }).erase('/metadata/input/a');
    expect(await recorded.replayed()).toMatchObject({ right: 0, wrong: ['the gate blocks it'] });
  });

  it('erased terms of the grant', async () => {
    expect(await new RecordedLog().grant(1, when('true')).erase('/metadata/conditions').begin(2).replayed()).toEqual(only('erased'));
  });
});

describe('limits, which the log does not count', () => {
  it.each([
    [[{ max: 1, per: 'day', then: 'propose' }], only('limits')],
    [[], RIGHT],
  ])('%j', async (limits, found) => {
    expect(await new RecordedLog().grant(1, limits.length > 0 ? { limits } : {}).begin(2).replayed()).toEqual(found);
  });
});

describe('what a decision rests on', () => {
  const inputSchema = { type: 'object', required: ['q'] };
  const defined: AuditEvent = {
    type: 'capability.definition_updated', capability: 'web.search',
    metadata: { capability: 'web.search', definition: definitionDigest({ inputSchema } as never), inputSchema } as never,
  };
  const stop: AuditEvent = { type: 'admin.stop_started', metadata: { stopId: 'stp_1', scope: 'organization', reason: 'r' } };
  const lifted: AuditEvent = { type: 'admin.stop_ended', metadata: { stopId: 'stp_1', scope: 'organization' } };
  const renamed: AuditEvent = { type: 'admin.user_updated', metadata: { userId: 'usr_a', name: 'Married' } };
  const recorded = () => new RecordedLog().grant(1);
  const BEFORE = 'what it rests on had changed before it was written';

  it.each<[string, (log: RecordedLog) => RecordedLog, readonly string[]]>([
    ['a definition that changed within the same second, before it', (log) => log.organization(100, defined),
      ['the capability was not defined as it says']],
    ['a stop within the same second', (log) => log.organization(100, stop), ['the gate refuses it: A stop holds this agent: in force.']],
    ['a stop of everything', (log) => log.organization(100, stop, PLATFORM_ORGANIZATION),
      ['the gate refuses it: A stop holds this agent: in force.']],
    ['a stop that was lifted', (log) => log.organization(99, stop).organization(100, lifted), []],
  ])('%s', async (_, change, wrong) => {
    expect((await change(recorded()).begin(100).replayed()).wrong).toEqual(wrong);
  });

  it.each([
    ['the agent', 'agent'], ['its organization', 'organization'],
  ] as const)('whatever clocks say: %s, stamped years before', async (_, of) => {
    const years = -BEGIN / 1_000;
    const log = recorded().organization(10, stop).begin(60);
    if (of === 'agent') log.agent(years, { type: 'agent.updated', metadata: { description: 'x' } });
    else log.organization(years, renamed);
    expect((await log.replayed()).wrong).toEqual(['the gate refuses it: A stop holds this agent: in force.']);
    expect((await recorded().begin(60).organization(years, stop).replayed()).wrong).toEqual([]);
  });

  it('is what had not changed before it was written', async () => {
    const log = recorded();
    const basis = log.basis(99);
    expect((await log.organization(99, stop).begin(100, { basis }).replayed()).wrong).toEqual([BEFORE]);
    expect((await recorded().organization(99, renamed).begin(100, { basis }).replayed()).wrong).toEqual([]);
  });

  it('is nothing that changed only afterwards, and nothing that no chain tells', async () => {
    const ahead = (log: RecordedLog, more: object) => ({ basis: { ...log.basis(100), ...more } });
    const stopped = recorded().organization(10, stop);
    const early = stopped.begin(100, ahead(stopped, { organization: 3 })).organization(101, lifted);
    expect((await early.replayed()).wrong).toEqual(['it rests on what changed only after it was written']);
    for (const beyond of [{ organization: 9 }, { platform: 1 }]) {
      const log = recorded();
      expect((await log.begin(100, ahead(log, beyond)).replayed()).wrong).toEqual(['it rests on what no chain has recorded']);
    }
  });

  it.each([
    ['nothing', undefined], ['a text', 'x'], ['half a position', { organization: 0.5, platform: 0, at: '2026-05-01T12:00:00.000Z' }],
    ['one before the first', { organization: -1, platform: 0, at: '2026-05-01T12:00:00.000Z' }],
    ['no time', { organization: 1, platform: 0, at: 'noon' }],
    ['a time without milliseconds', { organization: 1, platform: 0, at: '2026-05-01T12:00:00Z' }],
  ])('has to be recorded: %s', async (_, basis) => {
    expect((await recorded().begin(100, { basis }).replayed()).wrong).toEqual(['it does not tell what it rests on']);
  });

  it('is in the order of the tree, whichever chain is read first', async () => {
    const log = recorded();
    for (let n = 0; n < 40; n++) {
      log.organization(100 + n, n % 2 === 0 ? stop : lifted);
      if (n % 2 === 1) log.begin(100 + n).begin(100 + n);
    }
    expect(await log.replayed()).toEqual({ right: 40, notReplayable: {}, wrong: [] });
    const { leaves } = log.log;
    const last = leaves.findLastIndex(({ chain }) => chain === 'sys_org_a');
    leaves.push(...leaves.splice(last, 1));
    expect((await log.replayed()).wrong).toHaveLength(2);
  });

  it('hides none of many that are wrong', async () => {
    const log = recorded();
    for (let n = 0; n < 1_150; n++) log.begin(100 + n, { definition: 'x'.repeat(43) });
    const { right, wrong } = await log.replayed();
    expect([right, wrong.length, new Set(wrong)]).toEqual([0, 1_000, new Set(['the capability was not defined as it says'])]);
  });
});

describe('the instant that conditions saw', () => {
  const time = (second: number) => new Date(BEGIN + second * 1_000).toISOString();
  const ran = (source: string, second = 30) => new RecordedLog().grant(1, when(source)).begin(second).replayed();
  const ASKS = ['the gate asks a person first (propose)'];

  it.each([
    ['the second', 'now.getSeconds() == 30', 'now.getSeconds() == 31'],
    ['the millisecond', 'now.getMilliseconds() == 250', 'now.getMilliseconds() == 251'],
    ['a span of one', `now >= timestamp("${time(30.25)}") && now < timestamp("${time(30.251)}")`, `now > timestamp("${time(30.25)}")`],
  ])('is recorded to the millisecond: %s', async (_, holds, holdsNot) => {
    expect((await ran(holds, 30.25)).wrong).toEqual(ASKS);
    expect((await ran(holdsNot, 30.25)).wrong).toEqual([]);
  });

  it('is that of its basis, and not of its stamp', async () => {
    const log = new RecordedLog().grant(1, when(`now < timestamp("${time(29)}")`));
    expect((await log.begin(30, { basis: log.basis(28) }).replayed()).wrong).toEqual(ASKS);
  });

  it("decides which of two grants held, the agent's own or its team's", async () => {
    const shared = { grantId: 'grt_t', version: 1, teamId: 'team_1', capability: 'web.search', hitlMode: 'auto', timeoutAction: 'reject' };
    const log = (second: number, grantId: string) => new RecordedLog().agent(1, { type: 'agent.updated', metadata: { teamId: 'team_1' } })
      .organization(2, { type: 'capability.granted', capability: 'web.search', metadata: shared } as AuditEvent)
      .grant(3, { expiresAt: time(30) }).begin(second, { grantId }).replayed();
    expect((await log(29.999, 'grt_1')).wrong).toEqual([]);
    expect((await log(29.999, 'grt_t')).wrong).toEqual(['grant grt_t was not the one that held']);
    expect((await log(30, 'grt_t')).wrong).toEqual([]);
    expect((await log(30, 'grt_1')).wrong).toEqual(['grant grt_1 was not the one that held']);
  });
});

describe('tokens and keys, as far as the log knows them', () => {
  const issued = (capabilities: string[] | undefined, expires: number): AuditEvent => ({
    type: 'auth.agent_jwt_issued',
    metadata: { epoch: 0, expiresAt: new Date(BEGIN + expires * 1_000).toISOString(), ...(capabilities ? { capabilities } : {}) },
  });
  const made = (keyId: string, expires?: number): AuditEvent => ({
    type: 'agent.key_created',
    metadata: { keyId, name: 'nightly', ...(expires === undefined ? {} : { expiresAt: new Date(BEGIN + expires * 1_000).toISOString() }) },
  });
  const deleted = (keyId: string): AuditEvent => ({ type: 'agent.key_deleted', metadata: { keyId } });
  const NONE = 'no token or key of the agent held the capability';

  it.each([
    ['one that holds it', [issued(['web.search'], 900)], []],
    ['one that holds something else', [issued(['file.read'], 900)], [NONE]],
    ['one that nobody says what it holds', [issued(undefined, 900)], []],
    ['one that had run out', [issued(['web.search'], 50)], [NONE]],
    ['a key, which names no capability', [made('key_a')], []],
    ['a key that has not run out', [made('key_a', 900)], []],
    ['a key that had run out', [made('key_a', 50)], [NONE]],
    ['a key that was deleted', [made('key_a'), deleted('key_a')], [NONE]],
    ['a key beside one that was deleted', [made('key_a'), made('key_b'), deleted('key_a')], []],
    ['a key that was revoked with the tokens', [made('key_a'), { type: 'agent.tokens_revoked', metadata: { epoch: 1 } } as const], [NONE]],
    ['one that was revoked', [issued(['web.search'], 900), { type: 'agent.tokens_revoked', metadata: { epoch: 1 } } as const], [NONE]],
  ])('%s', async (_, events, wrong) => {
    const recorded = new RecordedLog().grant(1);
    for (const event of events) recorded.agent(2, event);
    expect((await recorded.begin(100, {}, AGENT).replayed()).wrong).toEqual(wrong);
  });
});

it('says of what a sweep took with it that it cannot tell', async () => {
  expect(await new RecordedLog().grant(1).begin(2).cut(2).replayed()).toEqual(only('swept'));
});

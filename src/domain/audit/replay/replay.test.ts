import { describe, expect, it } from '@jest/globals';
import { AGENT, BEGIN, RecordedLog } from '../../../../test/support/memory/recorded-log.js';
import { definitionDigest } from '../../gate/definition-digest.js';
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
    const told = new RecordedLog().grant(1, terms).begin(2, { input: { amount: 5, q: 'x' } }).erase('/metadata/input/amount');
    expect(await told.replayed()).toEqual(found);
  });

  const both = 'input.amount > 100 ';
  it.each<[string, object, string, unknown]>([
    ['another value than the condition reads', when('input.amount > 100'), '/metadata/input/to', 'wrong'],
    ['another than it asks for by name', when('input["amount"] > 100'), '/metadata/input/to', 'wrong'],
    ['another than it looks for', when('has(input.amount)'), '/metadata/input/to', 'wrong'],
    ['something of the context', when('input.amount > 100'), '/metadata/context/who', 'wrong'],
    ['one of two that it reads, and the other suffices', when(`${both} || input.to == "x"`), '/metadata/input/to', 'wrong'],
    ['one of two that it reads, whose other suffices behind', when(`input.to == "x" || ${both}`), '/metadata/input/to', 'wrong'],
    ['one of two that it needs', when(`${both} && input.to == "x"`), '/metadata/input/to', 'erased'],
    ['what it looks for', when('has(input.to) && input.amount < 0'), '/metadata/input/to', 'erased'],
    ['something of what it counts', when('size(input) > 5'), '/metadata/input/to', 'erased'],
    ['something of what it goes through', when('input.exists(name, name == "no")'), '/metadata/input/to', 'erased'],
    ['some member of what it asks by another', when('input[context.who] == 1'), '/metadata/input/to', 'erased'],
    ['what one condition reads, and another does not', {
      conditions: [{ when: 'input.to == "x"', hitlMode: 'notify' }, { when: 'input.amount > 100', hitlMode: 'propose' }],
    }, '/metadata/input/to', 'wrong'],
  ])('%s', async (_, terms, pointer, found) => {
    const call = { input: { amount: 50_000, to: 'Grace' }, context: { who: 'Grace' } };
    const { wrong, notReplayable } = await new RecordedLog().grant(1, terms).begin(2, call).erase(pointer).replayed();
    expect(wrong.length > 0 ? 'wrong' : Object.keys(notReplayable)[0]).toBe(found);
  });

  it('a name: it may have been any that is not there', async () => {
    const begun = (source: string) => {
      const told = new RecordedLog().grant(1, when(source)).begin(2, { input: { amount: 50_000, Grace: 1 } });
      return told.erase('/metadata/input/Grace', '/metadata/input/[erased]').replayed();
    };
    expect(await begun('input.total > 100')).toEqual(only('erased'));
    expect(await begun('input.amount > 100')).toMatchObject({ wrong: ['the gate asks a person first (propose)'] });
  });

  it('a mode that no condition explains is wrong all the same', async () => {
    const told = new RecordedLog().grant(1, { hitlMode: 'block', ...when('input.a == 1') });
    told.begin(2, { input: { a: 1 } }).erase('/metadata/input/a');
    expect(await told.replayed()).toMatchObject({ right: 0, wrong: ['the gate blocks it'] });
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

describe('chains that commit side by side', () => {
  const changed = (second: number, inputSchema: object): ((told: RecordedLog) => RecordedLog) => (told) => told.organization(second, {
    type: 'capability.definition_updated', capability: 'web.search',
    metadata: { capability: 'web.search', definition: definitionDigest({ inputSchema } as never), inputSchema },
  } as AuditEvent);
  const SCHEMA = { type: 'object', required: ['q'] };

  it.each([
    ['well before', 1, false], ['just before', 98, true], ['just after', 102, true], ['well after', 200, true],
  ])('a definition changed %s: the old one', async (_, second, isRight) => {
    const { right, wrong } = await changed(second, SCHEMA)(new RecordedLog().grant(1)).begin(100).replayed();
    const found = isRight ? { right: 1, wrong: [] } : { right: 0, wrong: ['the capability was not defined as it says'] };
    expect({ right, wrong }).toEqual(found);
  });

  it('a clock that steps back makes nobody wrong', async () => {
    const told = new RecordedLog().grant(1).begin(3_600);
    changed(3_000, SCHEMA)(told);
    told.begin(3_010).begin(3_590, { definition: definitionDigest({ inputSchema: SCHEMA } as never), input: { q: 'x' } });
    expect(await told.replayed()).toEqual({ right: 3, notReplayable: {}, wrong: [] });
  });

  it.each([
    ['in force', [50], 'a stop'], ['lifted long before', [50, 60], undefined], ['made just then', [99], undefined],
  ])("a stop of the organization's, %s", async (_, [from, to], found) => {
    const stop = { stopId: 'stp_1', scope: 'organization' } as const;
    const told = new RecordedLog().grant(1).organization(from!, { type: 'admin.stop_started', metadata: { ...stop, reason: 'r' } });
    if (to !== undefined) told.organization(to, { type: 'admin.stop_ended', metadata: stop });
    const { wrong } = await told.begin(100).replayed();
    expect(wrong.length).toBe(found === undefined ? 0 : 1);
  });
});

describe('clocks that were wrong', () => {
  const inputSchema = { type: 'object', required: ['q'] };
  const digest = definitionDigest({ inputSchema } as never);
  const defined: AuditEvent = {
    type: 'capability.definition_updated', capability: 'web.search',
    metadata: { capability: 'web.search', definition: digest, inputSchema } as never,
  };
  const renamed: AuditEvent = { type: 'admin.user_updated', metadata: { userId: 'usr_a', name: 'Married' } };
  const YEARS = -BEGIN / 1_000;
  const HALF_AN_HOUR = 1_800;
  const many = (told: RecordedLog, count: number, more: object) => {
    for (let n = 0; n < count; n++) told.begin(100 + n, more);
    return told;
  };

  it('make none of many wrong', async () => {
    const told = new RecordedLog().grant(1).organization(60 + HALF_AN_HOUR, defined);
    expect(await many(told, 1_150, { definition: digest, input: { q: 'x' } }).replayed())
      .toEqual({ right: 1_150, notReplayable: {}, wrong: [] });
  });

  it('hide none of many that are', async () => {
    const told = new RecordedLog().grant(1).organization(60 + HALF_AN_HOUR, defined);
    const { right, wrong } = await many(told, 1_150, { definition: 'x'.repeat(43) }).replayed();
    expect([right, wrong.length, new Set(wrong)]).toEqual([0, 1_000, new Set(['the capability was not defined as it says'])]);
  });

  const expired = () => new RecordedLog().grant(1, { expiresAt: new Date(BEGIN + 10_000).toISOString() }).begin(7_200);
  const elsewhere = (id: string, second: number) => (told: RecordedLog) =>
    told.organization(7_210, renamed, id).organization(second, renamed, id);
  const EXPIRED = ['the gate refuses it: The grant has expired.'];

  it.each<[string, (told: RecordedLog) => RecordedLog, readonly string[]]>([
    ['nothing', (told) => told, EXPIRED],
    ["its own chain's, by a little", (told) => told.begin(7_190).begin(7_150), EXPIRED],
    ["its own chain's, by years", (told) => told.agent(YEARS, { type: 'agent.updated', metadata: { description: 'x' } }), EXPIRED],
    ["its organization's, by years", (told) => told.organization(7_210, renamed).organization(YEARS, renamed), EXPIRED],
    ["another organization's, by years", elsewhere('org_b', YEARS), EXPIRED],
    ["another organization's", elsewhere('org_b', 5), EXPIRED],
    ["the platform's", elsewhere('org_platform', 5), EXPIRED],
  ])('excuse no grant that had long run out: %s', async (_, more, wrong) => {
    expect((await more(expired()).replayed()).wrong).toEqual(expect.arrayContaining([...wrong]));
  });

  it.each<[string, (told: RecordedLog) => RecordedLog]>([
    ["its own chain's", (told) => told.agent(5, { type: 'agent.updated', metadata: { description: 'x' } })],
    ["its organization's", (told) => told.organization(1_810, renamed).organization(5, renamed)],
  ])('excuse a grant that had run out within the hour: %s', async (_, more) => {
    const told = () => new RecordedLog().grant(1, { expiresAt: new Date(BEGIN + 10_000).toISOString() }).begin(HALF_AN_HOUR);
    expect((await told().replayed()).wrong).toEqual(EXPIRED);
    expect((await more(told()).replayed()).wrong).toEqual([]);
  });

  it.each([
    ["its organization's", (told: RecordedLog) => told.organization(5, renamed)],
    ["its own chain's", (told: RecordedLog) => told.agent(5, { type: 'agent.updated', metadata: { description: 'x' } })],
  ])('excuse nothing that the tree has in order: %s', async (_, more) => {
    const stop: AuditEvent = { type: 'admin.stop_started', metadata: { stopId: 's', scope: 'organization', reason: 'r' } };
    const { wrong } = await more(new RecordedLog().grant(1).organization(10, stop).begin(60)).replayed();
    expect(wrong).toEqual(['the gate refuses it: A stop holds this agent: in force.']);
  });
});

describe('tokens, as far as the log knows them', () => {
  const issued = (capabilities: string[] | undefined, expires: number): AuditEvent => ({
    type: 'auth.agent_jwt_issued',
    metadata: { epoch: 0, expiresAt: new Date(BEGIN + expires * 1_000).toISOString(), ...(capabilities ? { capabilities } : {}) },
  });
  const NONE = 'no token of the agent held the capability';

  it.each([
    ['one that holds it', [issued(['web.search'], 900)], []],
    ['one that holds something else', [issued(['file.read'], 900)], [NONE]],
    ['one that nobody says what it holds', [issued(undefined, 900)], []],
    ['one that had run out', [issued(['web.search'], 50)], [NONE]],
    ['one that was revoked', [issued(['web.search'], 900), { type: 'agent.tokens_revoked', metadata: { epoch: 1 } } as const], [NONE]],
  ])('%s', async (_, events, wrong) => {
    const told = new RecordedLog().grant(1);
    for (const event of events) told.agent(2, event);
    expect((await told.begin(100, {}, AGENT).replayed()).wrong).toEqual(wrong);
  });
});

it('says of what a sweep took with it that it cannot tell', async () => {
  expect(await new RecordedLog().grant(1).begin(2).cut(2).replayed()).toEqual(only('swept'));
});

import { describe, expect, it } from '@jest/globals';
import { AGENT, BEGIN, ToldLog } from '../../../../test/support/told-log.js';
import { definitionDigest } from '../../gate/definition-digest.js';
import type { AuditEvent } from '../catalogue.js';

const when = (source: string, hitlMode = 'propose') => ({ conditions: [{ when: source, hitlMode }] });
const RIGHT = { right: 1, notReplayable: {}, wrong: [] };
const only = (because: string) => ({ right: 0, notReplayable: { [because]: 1 }, wrong: [] });

describe('what an erased value leaves', () => {
  it.each([
    ['a condition over it: nobody can tell', when('input.amount > 10'), only('erased')],
    ['a condition that could only notify', when('input.amount > 10', 'notify'), RIGHT],
    ['no condition', {}, RIGHT],
  ])('%s', async (_, terms, found) => {
    const told = new ToldLog().grant(1, terms).begin(2, { input: { amount: 5, q: 'x' } }).erase('/metadata/input/amount');
    expect(await told.replayed()).toEqual(found);
  });

  it('a mode that no condition explains is wrong all the same', async () => {
    const told = new ToldLog().grant(1, { hitlMode: 'block', ...when('input.a == 1') });
    told.begin(2, { input: { a: 1 } }).erase('/metadata/input/a');
    expect(await told.replayed()).toMatchObject({ right: 0, wrong: ['the gate blocks it'] });
  });

  it('erased terms of the grant', async () => {
    expect(await new ToldLog().grant(1, when('true')).erase('/metadata/conditions').begin(2).replayed()).toEqual(only('erased'));
  });
});

describe('limits, which the log does not count', () => {
  it.each([
    [[{ max: 1, per: 'day', then: 'propose' }], only('limits')],
    [[], RIGHT],
  ])('%j', async (limits, found) => {
    expect(await new ToldLog().grant(1, limits.length > 0 ? { limits } : {}).begin(2).replayed()).toEqual(found);
  });
});

describe('chains that commit side by side', () => {
  const changed = (second: number, inputSchema: object): ((told: ToldLog) => ToldLog) => (told) => told.organization(second, {
    type: 'capability.definition_updated', capability: 'web.search',
    metadata: { capability: 'web.search', definition: definitionDigest({ inputSchema } as never), inputSchema },
  } as AuditEvent);
  const SCHEMA = { type: 'object', required: ['q'] };

  it.each([
    ['well before', 1, false], ['just before', 98, true], ['just after', 102, true], ['well after', 200, true],
  ])('a definition changed %s: the old one', async (_, second, isRight) => {
    const { right, wrong } = await changed(second, SCHEMA)(new ToldLog().grant(1)).begin(100).replayed();
    const found = isRight ? { right: 1, wrong: [] } : { right: 0, wrong: ['the capability was not defined as it says'] };
    expect({ right, wrong }).toEqual(found);
  });

  it('a clock that steps back makes nobody wrong', async () => {
    const told = new ToldLog().grant(1).begin(3_600);
    changed(3_000, SCHEMA)(told);
    told.begin(3_010).begin(3_590, { definition: definitionDigest({ inputSchema: SCHEMA } as never), input: { q: 'x' } });
    expect(await told.replayed()).toEqual({ right: 3, notReplayable: {}, wrong: [] });
  });

  it.each([
    ['in force', [50], 'a stop'], ['lifted long before', [50, 60], undefined], ['made just then', [99], undefined],
  ])("a stop of the organization's, %s", async (_, [from, to], found) => {
    const stop = { stopId: 'stp_1', scope: 'organization' } as const;
    const told = new ToldLog().grant(1).organization(from!, { type: 'admin.stop_started', metadata: { ...stop, reason: 'r' } });
    if (to !== undefined) told.organization(to, { type: 'admin.stop_ended', metadata: stop });
    const { wrong } = await told.begin(100).replayed();
    expect(wrong.length).toBe(found === undefined ? 0 : 1);
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
    const told = new ToldLog().grant(1);
    for (const event of events) told.agent(2, event);
    expect((await told.begin(100, {}, AGENT).replayed()).wrong).toEqual(wrong);
  });
});

it('says of what a sweep took with it that it cannot tell', async () => {
  expect(await new ToldLog().grant(1).begin(2).cut(2).replayed()).toEqual(only('swept'));
});

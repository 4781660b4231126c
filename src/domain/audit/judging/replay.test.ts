import { describe, expect, it } from '@jest/globals';
import { append, type MemoryLog } from '../../../../test/support/memory-log.js';
import { definitionDigest } from '../../gate/definition-digest.js';
import { newId } from '../../ids.js';
import type { AuditEvent } from '../catalogue.js';
import { agentChain, organizationChain } from '../chain.js';
import { openEntry } from './open-entry.js';
import { Replay, REPLAY_EVENTS } from './replay.js';
import { SharedFacts } from './shared-facts.js';

const ORGANIZATION = 'org_a';
const AGENT = newId('agt');
const DEFINITION = definitionDigest({});
const BEGIN = Date.parse('2026-05-01T12:00:00.000Z');

/** A small log: events of the agent, and of its organization (`org`), each at a second. */
class Told {
  readonly log: MemoryLog = { entries: [], heads: [], leaves: [] };

  constructor() {
    this.organization(0, { type: 'admin.organization_created', metadata: { organizationId: ORGANIZATION, name: 'A' } });
    this.agent(0, { type: 'agent.registered', metadata: { name: 'a', riskLevel: 'limited' } });
  }

  agent(second: number, event: AuditEvent, actorId = 'root'): this {
    append(this.log, { ...event, chain: agentChain(ORGANIZATION, AGENT), agentId: AGENT }, stampOf(second, actorId));
    return this;
  }

  organization(second: number, event: AuditEvent): this {
    append(this.log, { ...event, chain: organizationChain(ORGANIZATION) }, stampOf(second, 'root'));
    return this;
  }

  grant(second: number, more: object = {}): this {
    return this.agent(second, { type: 'capability.granted', capability: 'web.search', metadata: granted(more) } as AuditEvent);
  }

  begin(second: number, more: object = {}, actorId = 'root'): this {
    return this.agent(second, {
      type: 'execution.started', capability: 'web.search',
      metadata: {
        executionId: newId('exec'), grantId: 'grt_1', grantVersion: 1, definition: DEFINITION, input: {}, reasons: [], ...more,
      },
    } as AuditEvent, actorId);
  }

  /** The last entry as it reads when one of its values is erased. */
  erase(pointer: string): this {
    const { entries } = this.log;
    const last = entries.at(-1)!;
    const disclosures = (JSON.parse(last.disclosures) as { d: string; pointer: string }[])
      .map((one) => (one.pointer === pointer ? { d: one.d, pointer, erased: true } : one));
    entries[entries.length - 1] = { ...last, disclosures: JSON.stringify(disclosures) };
    return this;
  }

  /** Without the first entries of the agent's chain, as a sweep leaves it. */
  cut(count: number): this {
    const chain = [{ chain: AGENT, seq: count, hash: 'x', count }];
    const root = { size: 1, root: 'r', platformSize: 1, platformRoot: 'r' };
    this.organization(900, {
      type: 'admin.audit_retention_sweep',
      metadata: { sweepId: 's', before: 'b', chains: chain, archive: { skeleton: 'a', disclosures: 'b' }, checkpoint: root },
    });
    this.log.entries = this.log.entries.filter((entry) => entry.chain !== AGENT || entry.seq > count);
    return this;
  }

  replayed() {
    const shared = new SharedFacts();
    const replay = new Replay(shared);
    for (const entry of this.log.entries) if (entry.chain !== AGENT) shared.add(entry);
    for (const entry of this.log.entries.filter(({ chain }) => chain === AGENT)) {
      replay.entry(entry, REPLAY_EVENTS.has(entry.event) ? openEntry(entry, true) : undefined);
    }
    const { right, notReplayable, breaks } = replay.end();
    return { right, notReplayable, wrong: breaks.map(({ detail }) => detail.replace(/^entry \d+ of chain agt_\w+ \(.*?\): /, '')) };
  }
}

const granted = (more: object) =>
  ({ grantId: 'grt_1', version: 1, capability: 'web.search', hitlMode: 'auto', timeoutAction: 'reject', ...more });
const stampOf = (second: number, actorId: string) =>
  ({ id: newId('audit', BEGIN + second * 1_000), actorId, timestamp: new Date(BEGIN + second * 1_000) });
const when = (source: string, hitlMode = 'propose') => ({ conditions: [{ when: source, hitlMode }] });

const RIGHT = { right: 1, notReplayable: {}, wrong: [] };
const only = (because: string) => ({ right: 0, notReplayable: { [because]: 1 }, wrong: [] });

describe('what an erased value leaves', () => {
  it.each([
    ['a condition over it: nobody can tell', when('input.amount > 10'), only('erased')],
    ['a condition that could only notify', when('input.amount > 10', 'notify'), RIGHT],
    ['no condition', {}, RIGHT],
  ])('%s', (_, terms, found) => {
    const told = new Told().grant(1, terms).begin(2, { input: { amount: 5, q: 'x' } }).erase('/metadata/input/amount');
    expect(told.replayed()).toEqual(found);
  });

  it('a mode that no condition explains is wrong all the same', () => {
    const told = new Told().grant(1, { hitlMode: 'block', ...when('input.a == 1') });
    told.begin(2, { input: { a: 1 } }).erase('/metadata/input/a');
    expect(told.replayed()).toMatchObject({ right: 0, wrong: ['the gate blocks it'] });
  });

  it('erased terms of the grant', () => {
    expect(new Told().grant(1, when('true')).erase('/metadata/conditions').begin(2).replayed()).toEqual(only('erased'));
  });
});

describe('limits, which the log does not count', () => {
  it.each([
    [[{ max: 1, per: 'day', then: 'propose' }], only('limits')],
    [[], RIGHT],
  ])('%j', (limits, found) => {
    expect(new Told().grant(1, limits.length > 0 ? { limits } : {}).begin(2).replayed()).toEqual(found);
  });
});

describe('chains that commit side by side', () => {
  const changed = (second: number, inputSchema: object): ((told: Told) => Told) => (told) => told.organization(second, {
    type: 'capability.definition_updated', capability: 'web.search',
    metadata: { capability: 'web.search', definition: definitionDigest({ inputSchema } as never), inputSchema },
  } as AuditEvent);
  const SCHEMA = { type: 'object', required: ['q'] };

  it.each([
    ['well before', 1, false], ['just before', 98, true], ['just after', 102, true], ['well after', 200, true],
  ])('a definition changed %s: the old one', (_, second, isRight) => {
    const { right, wrong } = changed(second, SCHEMA)(new Told().grant(1)).begin(100).replayed();
    const found = isRight ? { right: 1, wrong: [] } : { right: 0, wrong: ['the capability was not defined as it says'] };
    expect({ right, wrong }).toEqual(found);
  });

  it('a clock that steps back makes nobody wrong', () => {
    const told = new Told().grant(1).begin(3_600);
    changed(3_000, SCHEMA)(told);
    told.begin(3_010).begin(3_590, { definition: definitionDigest({ inputSchema: SCHEMA } as never), input: { q: 'x' } });
    expect(told.replayed()).toEqual({ right: 3, notReplayable: {}, wrong: [] });
  });

  it.each([
    ['in force', [50], 'a stop'], ['lifted long before', [50, 60], undefined], ['made just then', [99], undefined],
  ])("a stop of the organization's, %s", (_, [from, to], found) => {
    const stop = { stopId: 'stp_1', scope: 'organization' } as const;
    const told = new Told().grant(1).organization(from!, { type: 'admin.stop_started', metadata: { ...stop, reason: 'r' } });
    if (to !== undefined) told.organization(to, { type: 'admin.stop_ended', metadata: stop });
    const { wrong } = told.begin(100).replayed();
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
  ])('%s', (_, events, wrong) => {
    const told = new Told().grant(1);
    for (const event of events) told.agent(2, event);
    expect(told.begin(100, {}, AGENT).replayed().wrong).toEqual(wrong);
  });
});

it('says of what a sweep took with it that it cannot tell', () => {
  expect(new Told().grant(1).begin(2).cut(2).replayed()).toEqual(only('swept'));
});

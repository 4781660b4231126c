import { describe, expect, it } from '@jest/globals';
import { AGENT, BEGIN, RecordedLog } from '../../../../test/support/memory/recorded-log.js';
import { CONDITIONS_MAX, type Condition } from '../../gate/conditions.js';
import type { GateDecision, GrantFacts } from '../../gate/decide.js';
import { definitionDigest } from '../../gate/definition-digest.js';
import type { JsonObject } from '../../json.js';
import type { AuditEvent } from '../catalogue/audit-events.js';
import { NEW_AGENT } from './state/agent-state.js';
import { Effort } from './superseded/effort.js';
import type { GrantState } from './state/grant-state.js';
import { type ReplayedCall, replayDecision, type RecordedDecision } from './replay-decision.js';
import { SharedFacts } from './state/shared-facts.js';
import type { ReplayResult } from './replay-result.js';

const TEAM = 'team_1';
const CAPABILITY = 'web.search';
/** When the call was stamped; what is told so many seconds beside it may have come before or after. */
const STAMPED = 30;

const grant = (more: Partial<GrantFacts> = {}): GrantState => ({
  capability: CAPABILITY, isErased: false,
  facts: {
    id: 'grt_1', version: 1, hitlMode: 'auto', conditions: [], limits: [], reminders: [], timeoutSeconds: 60, timeoutAction: 'reject',
    ...more,
  },
});

const teamGrant = (told: RecordedLog, second: number, version: number, more: object = {}) => told.organization(second, {
  type: 'capability.granted', capability: CAPABILITY,
  metadata: { grantId: 'grt_t', version, teamId: TEAM, capability: CAPABILITY, hitlMode: 'auto', timeoutAction: 'reject', ...more },
} as AuditEvent);

const defined = (told: RecordedLog, second: number, definition: JsonObject = {}) => told.organization(second, {
  type: 'capability.definition_updated', capability: CAPABILITY,
  metadata: {
    capability: CAPABILITY, definition: definitionDigest(definition), description: `d${second}`, category: 'c', hitlMode: 'auto',
    riskScore: 1, ...definition,
  },
} as unknown as AuditEvent);

const RUNS: RecordedDecision = { fits: ({ kind }) => kind === 'run', definition: definitionDigest({}) };
const LIMITED = { limits: [{ max: 1, per: 'day', then: 'block' }] } as const;

/** What comes of a call of an agent of the team, and how much that takes. */
function judged(own: GrantState | undefined, told = new RecordedLog(), said: RecordedDecision = RUNS, input: JsonObject = {}, stamped = STAMPED) {
  const shared = new SharedFacts(() => true);
  for (const entry of told.log.entries) if (entry.chain !== AGENT) shared.add(entry);
  const asked: ReplayedCall = {
    organizationId: 'org_a', agentId: AGENT, capability: CAPABILITY, at: BEGIN + stamped * 1_000, input, context: undefined,
    erased: { input: undefined, context: undefined }, agent: { ...NEW_AGENT, teamId: TEAM }, own, revoked: new Set(), isStopped: false,
    byToken: false,
  };
  const effort = new Effort();
  const verdict: ReplayResult = replayDecision(asked, said, shared.read('as told'), undefined, effort);
  return { verdict, effort: effort.spent };
}

const asks = (...whens: readonly string[]): { conditions: Condition[] } =>
  ({ conditions: whens.map((when) => ({ when, hitlMode: 'propose' })) });
/** Near to all that one condition may take. */
const heavy = (n: number) => `input.l.exists(x, x + ${n} == 0.5 && x * 2 + 3 - 4 > 7)`;
const takingAtMost = (members: number) => ({ inputSchema: { type: 'object', maxProperties: members } });
const LIST: JsonObject = { l: Array.from({ length: 1_000 }, (_, i) => i) };

describe('how much it takes to decide a call anew', () => {
  const many = (change: (told: RecordedLog, n: number) => unknown) => {
    const told = new RecordedLog();
    for (let n = 1; n <= 20; n++) change(told, n);
    return told;
  };

  it("is the same while a grant of the agent's own holds, however often its team's changes", () => {
    const told = many((log, n) => teamGrant(log, STAMPED - 5 + n / 10, n, { timeoutSeconds: n }));
    expect(judged(grant(LIMITED), told)).toEqual(judged(grant(LIMITED)));
  });

  it('is the same however often a definition is told that decides the same', () => {
    const told = many((log, n) => defined(log, STAMPED - 5 + n / 10));
    expect(judged(grant(LIMITED), told)).toEqual(judged(grant(LIMITED)));
  });

  it('asks no grant and no definition but what the entry names', () => {
    const told = many((log, n) => {
      teamGrant(log, STAMPED - 5 + n / 10, n, asks(heavy(n)));
      defined(log, STAMPED - 5 + n / 10, takingAtMost(n));
    });
    const one = new RecordedLog();
    teamGrant(one, 1, 7, asks(heavy(7)));
    defined(one, 1, takingAtMost(7));
    const said = { ...RUNS, grantId: 'grt_t', grantVersion: 7, definition: definitionDigest(takingAtMost(7)) };
    const [among, alone] = [judged(undefined, told, said, LIST), judged(undefined, one, said, LIST)];
    expect([among.verdict.kind, alone.verdict.kind]).toEqual(['right', 'right']);
    expect(among.effort - alone.effort).toBeLessThan(20_000);
    const wrongly: RecordedDecision = { ...said, fits: ({ kind }) => kind === 'ask' };
    expect(judged(undefined, told, wrongly, LIST).effort - judged(undefined, one, wrongly, LIST).effort).toBeLessThan(20_000);
  });

  it('evaluates a condition that reads no time once, whatever another one reads', () => {
    const effort = (...whens: string[]) => judged(grant({ ...LIMITED, ...asks(...whens) }), undefined, undefined, LIST).effort;
    const [time, light] = ['now < timestamp("2020-01-01T00:00:00Z")', 'input.n == 1'];
    expect(effort(time, heavy(1)) - effort(time)).toBe(effort(light, heavy(1)) - effort(light));
    expect(effort(time)).toBeGreaterThan(effort(light));
  });

  it('tries a mode that conditions of the second ask for once', () => {
    const bySecond = (count: number) => asks(...Array.from({ length: count }, (_, n) => `now.getSeconds() == ${61 + n}`));
    const [many, one] = [judged(grant({ ...LIMITED, ...bySecond(CONDITIONS_MAX) })), judged(grant({ ...LIMITED, ...bySecond(1) }))];
    // Each is read.
    expect(many).toEqual({ ...one, effort: one.effort + (CONDITIONS_MAX - 1) * 10_000 });
  });

  it('is nothing where no definition is the one that the entry names', () => {
    const told = many((log, n) => defined(log, STAMPED - 5 + n / 10, takingAtMost(n)));
    const { verdict, effort } = judged(grant(), told, { ...RUNS, definition: 'd' });
    expect([verdict, effort]).toEqual([{ kind: 'wrong', detail: 'the capability was not defined as it says' }, 0]);
  });

  it('asks of several grants that come to the same only once what comes of that', () => {
    const told = (to: number) => {
      const log = new RecordedLog();
      for (let n = 1; n <= to; n++) teamGrant(log, STAMPED + n / 100, n, { ...LIMITED, timeoutSeconds: n });
      return judged(undefined, log).effort;
    };
    // Looking at one more of them, and deciding nothing.
    expect(told(40) - told(20)).toBe(20 * (10 + 100));
  });
});

describe('conditions that would take more than one may', () => {
  const tooMuch = (count: number, time = '') => asks(...Array.from({ length: count }, (_, n) => `input.l.exists(x, ${
    Array.from({ length: 50 }, (__, k) => `x == ${n * 100 + k}.5`).join(' || ')})${time}`));

  it.each(['propose', 'block'] as const)('are not asked where the grant says %s and the entry that it ran', (hitlMode) => {
    const { verdict, effort } = judged(grant({ ...tooMuch(CONDITIONS_MAX), hitlMode }), undefined, RUNS, LIST);
    expect(verdict).toMatchObject({ kind: 'wrong' });
    expect(effort).toBeLessThan(1_000);
  });

  it('hide no other decision, nor where they hang on the time, before and after a full minute', () => {
    const own = grant(tooMuch(CONDITIONS_MAX, ' || now.getHours() > 24'));
    expect(judged(own, undefined, RUNS, LIST).verdict).toMatchObject({ kind: 'wrong' });
    expect(judged(own, undefined, RUNS, LIST, 65).verdict).toMatchObject({ kind: 'wrong' });
  });
});

describe('more orders than can be tried', () => {
  const blocked: RecordedDecision = { fits: ({ kind }: GateDecision) => kind === 'block' };
  const told = (grants: number) => {
    const log = new RecordedLog();
    for (let n = 1; n <= grants; n++) {
      const conditions = Array.from({ length: CONDITIONS_MAX }, (_, i) => ({ when: heavy(n * 100 + i), hitlMode: 'block' }));
      teamGrant(log, STAMPED - 5 + n / 100, n, { conditions });
    }
    return log;
  };

  it('are not tried, and what came of the call is left open', () => {
    const [found, more] = [judged(undefined, told(20), blocked, LIST), judged(undefined, told(40), blocked, LIST)];
    expect(found.verdict).toEqual({ kind: 'not_replayable', because: 'orders' });
    // The others are looked at.
    expect(more).toEqual({ ...found, effort: found.effort + 20 * 10 });
  });

  it('hide nothing where one of those that are tried is right', () => {
    const log = told(20);
    teamGrant(log, STAMPED + 9, 99, { hitlMode: 'block' });
    expect(judged(undefined, log, blocked, LIST).verdict).toEqual({ kind: 'right' });
  });

  it('are not a few: what is wrong in all of them is wrong', () => {
    expect(judged(undefined, told(1), blocked, LIST).verdict).toMatchObject({ kind: 'wrong' });
    expect(judged(undefined, told(20), { ...blocked, grantId: 'grt_t', grantVersion: 3 }, LIST).verdict).toMatchObject({ kind: 'wrong' });
  });

  it('are those of definitions, too', () => {
    const log = new RecordedLog();
    for (let n = 1; n <= 100; n++) defined(log, STAMPED - 5 + n / 100, takingAtMost(n));
    expect(judged(grant(), log, blocked).verdict).toEqual({ kind: 'not_replayable', because: 'orders' });
  });
});

describe('which grant may have held', () => {
  const ends = (second: number) => new Date(BEGIN + second * 1_000);

  it("is the team's between the end of the agent's own and the end of the team's", () => {
    const own = grant({ expiresAt: ends(STAMPED - 8) });
    const told = teamGrant(new RecordedLog(), 1, 1, { expiresAt: ends(STAMPED - 5).toISOString() });
    expect(judged(own, told, { ...RUNS, grantId: 'grt_t' }).verdict).toEqual({ kind: 'right' });
    expect(judged(own, told, { ...RUNS, grantId: 'grt_1' }).verdict).toEqual({ kind: 'right' });
  });

  it("is not the team's while the agent's own holds", () => {
    const told = teamGrant(new RecordedLog(), 1, 1);
    expect(judged(grant(), told, { ...RUNS, grantId: 'grt_t' }).verdict).toMatchObject({ detail: 'grant grt_t was not the one that held' });
    const later = grant({ expiresAt: ends(STAMPED + 11) });
    expect(judged(later, told, { ...RUNS, grantId: 'grt_t' }).verdict).toMatchObject({ kind: 'wrong' });
  });

  it('asks for what its own conditions of the second ask for, and not those of another', () => {
    const told = teamGrant(new RecordedLog(), 1, 1, asks('int(now) % 2 == 1'));
    const own = grant({ expiresAt: ends(STAMPED + 5) });
    const asked: RecordedDecision = { ...RUNS, fits: ({ kind }) => kind === 'ask' };
    expect(judged(own, told, { ...asked, grantId: 'grt_1' }).verdict).toMatchObject({ kind: 'wrong' });
    expect(judged(own, told, { ...asked, grantId: 'grt_t' }).verdict).toEqual({ kind: 'right' });
  });
});

import { describe, expect, it } from '@jest/globals';
import { TIMEOUT_ACTIONS, type TimeoutAction } from '../gate/vocabulary.js';
import { type Decider, judgeDecider, type Membership } from './duties.js';
import { type Accepted, HITL_STATUSES, type HitlCommand, type HitlState, type HitlStatus, isOpen, opening, type Refused,
  transition, type EscalationLevel } from './transition.js';

// The whole machine: every state, command, decider, level, mode and moment, against the rules written down a second time.

const NOW = new Date('2026-05-01T12:00:00.000Z');
const WINDOW_SECONDS = 1800;
const at = (ms: number) => new Date(NOW.getTime() + ms);
const NEW_WINDOW = at(WINDOW_SECONDS * 1000).getTime();

const LEVELS = [0, 1, 2] as const satisfies readonly EscalationLevel[];
const MOMENTS = { before: at(1), at: at(0), after: at(-1) } as const;
type Moment = keyof typeof MOMENTS;

const WHO = ['root', 'owner', 'admin', 'lead of the team', 'member of the team', 'member who owns the agent', 'member of no team',
  'viewer of the team'] as const;
type Who = (typeof WHO)[number];

const escalate = (parts: object): HitlCommand => ({ kind: 'escalate', reason: 'large', ...parts });
/** Each with the word by which the rules below know it. */
const COMMANDS: readonly (readonly [string, HitlCommand])[] = [
  ['approve', { kind: 'approve' }],
  ['approve', { kind: 'approve', note: 'fine', deciderLevel: 2 }],
  ['approve', { kind: 'approve', note: 'the building burns', breakGlass: true }],
  ['reject', { kind: 'reject' }],
  ['cancel', { kind: 'cancel' }],
  ['cancel by system', { kind: 'cancel', by: 'system' }],
  ['vote', { kind: 'vote', approvals: 1, needed: 2 }],
  ['edit', { kind: 'edit', version: 2, digest: 'd', input: {}, diff: [] }],
  ['remind', { kind: 'remind', secondsBefore: 60 }],
  ['timeout by window', { kind: 'timeout', trigger: 'window' }],
  ['timeout by hand', { kind: 'timeout', trigger: 'manual' }],
  ['escalate', escalate({})],
  ['escalate', escalate({ by: 'human', to: 'usr_boss' })],
  ['escalate by system', escalate({ by: 'system' })],
  ...LEVELS.flatMap((toLevel) => [
    ['escalate', escalate({ toLevel })] as const,
    ['escalate by system', escalate({ toLevel, by: 'system' })] as const,
  ]),
];

interface Case {
  status: HitlStatus;
  level: EscalationLevel;
  hitlMode: 'propose' | 'escalate';
  hardcoded: boolean;
  quorum: boolean;
  timeoutAction: TimeoutAction;
  moment: Moment;
  endedByWindow: boolean;
  who: Who;
  word: string;
  command: HitlCommand;
}

function* cases(): Generator<Case> {
  for (const status of HITL_STATUSES)
    for (const level of LEVELS)
      for (const hitlMode of ['propose', 'escalate'] as const)
        for (const hardcoded of [false, true])
          for (const quorum of [false, true])
            for (const timeoutAction of TIMEOUT_ACTIONS)
              for (const moment of Object.keys(MOMENTS) as Moment[])
                for (const endedByWindow of isOpen(status) ? [false] : [false, true])
                  for (const who of WHO)
                    for (const [word, command] of COMMANDS)
                      yield { status, level, hitlMode, hardcoded, quorum, timeoutAction, moment, endedByWindow, who, word, command };
}

const stateOf = ({ status, level, hitlMode, hardcoded, quorum, timeoutAction, moment, endedByWindow }: Case): HitlState =>
  ({ status, level, hitlMode, hardcoded, quorum, timeoutAction, endedByWindow, timeoutSeconds: WINDOW_SECONDS,
    expiresAt: MOMENTS[moment] });

/** What the code says, in one line: first the state, then the person, as every decision asks. */
function said(c: Case): string {
  const state = stateOf(c);
  const outcome = transition(state, c.command, NOW);
  if (outcome.kind === 'refused') return outcome.code;
  const kind = KIND_OF_DUTY[c.word];
  if (kind !== undefined) {
    const result = judgeDecider({
      decider: deciderOf(c.who),
      request: { level: c.level, createdAt: NOW, separationOfDuties: 'standard', initiators: ['usr_else'], agent: { teamId: 'team' } },
      agent: { teamId: 'team', ownerId: c.who === 'member who owns the agent' ? 'usr_me' : 'usr_else' },
      organization: { separationOfDuties: 'standard', hasSingleUser: false, selves: new Map() },
      command: { kind },
    });
    if (result.kind === 'may_not') return result.code;
  }
  return inWords(outcome, state);
}

function inWords({ next, events, effects, action }: Accepted, { expiresAt }: HitlState): string {
  const window = next.expiresAt.getTime() === expiresAt.getTime() ? 'same' : next.expiresAt.getTime() === NEW_WINDOW ? 'new' : 'odd';
  return [
    next.status, next.level, `${window} window`, next.decision ? `${next.decision.outcome} by ${next.decision.by}` : 'open',
    events.map(({ type, actor }) => `${type}@${actor}`).join(' '),
    effects.map((effect) => (effect.kind === 'run' ? 'run' : effect.kind === 'cancel' ? `ends:${effect.reason}` : effect.event)).join(' '),
    ...(action === undefined ? [] : [action]),
  ].join(' | ');
}

function deciderOf(who: Who): Decider {
  if (who === 'root') return { kind: 'root' };
  const since = at(-1000);
  const role = who === 'owner' || who === 'admin' ? who : who.startsWith('viewer') ? 'viewer' : 'member';
  const membership: Membership | undefined = who === 'lead of the team' ? { role: 'lead', since, roleSince: since }
    : who.endsWith('of the team') ? { role: 'member', since, roleSince: since } : undefined;
  return { kind: 'person', userId: 'usr_me', role, accountSince: since, addressSince: since, roleSince: since,
    ...(membership ? { membership } : {}) };
}

/** A vote and an edit ask what an approval asks. What the system does, or the access table gives to admins and agents, asks nobody. */
const KIND_OF_DUTY: Record<string, 'approve' | 'reject' | 'escalate'> =
  { approve: 'approve', vote: 'approve', edit: 'approve', reject: 'reject', escalate: 'escalate' };

// The rules again, from the text and not from the code. `=` the status or level that it has, `+` the level that is asked for.
const RULES: Record<string, string> = {
  'approve': 'approved | = | same window | approved by human | hitl.approved@caller | run hitl.request.approved',
  'reject': 'rejected | = | same window | rejected by human | hitl.rejected@caller | ends:rejected hitl.request.rejected',
  'cancel': 'cancelled | = | same window | cancelled by human | hitl.cancelled@caller | ends:cancelled hitl.request.cancelled',
  'cancel by system':
    'cancelled | = | same window | cancelled by system | hitl.cancelled@system | ends:cancelled hitl.request.cancelled',
  'escalate': 'escalated | + | new window | open | hitl.escalated@caller | hitl.request.escalated',
  'escalate by system': 'escalated | + | new window | open | hitl.escalated@system | hitl.request.escalated',
  'vote': '= | = | same window | open | hitl.voted@caller | ',
  'edit': '= | = | same window | open | hitl.edited@caller | ',
  'remind': '= | = | same window | open | hitl.reminded@system | hitl.request.reminder',
  'timeout reject': 'timed_out | = | same window | rejected by timeout | hitl.timed_out@WHO | ends:timed_out hitl.request.timed_out',
  'timeout notify_only':
    'timed_out | = | same window | rejected by timeout | hitl.timed_out@WHO | ends:timed_out hitl.request.timed_out',
  'timeout approve':
    'approved | = | same window | approved by system | hitl.timed_out@WHO hitl.approved@system | run hitl.request.approved',
  'timeout escalate': 'escalated | + | new window | open | hitl.timed_out@WHO hitl.escalated@system | hitl.request.escalated',
};
const DECIDES_AT: Record<Who, string> = {
  'root': '012', 'owner': '012', 'admin': '012', 'lead of the team': '01', 'member of the team': '0', 'member who owns the agent': '0',
  'member of no team': '', 'viewer of the team': '',
};

function wanted(c: Case): string {
  const isTimeout = c.word.startsWith('timeout');
  // A click after the window is HITL_EXPIRED, swept or not.
  if (!['pending', 'escalated'].includes(c.status)) return c.endedByWindow && !isTimeout ? 'HITL_EXPIRED' : 'HITL_ALREADY_DECIDED';
  if (isTimeout) return timedOut(c);
  if (c.moment !== 'before' && c.word !== 'cancel by system') return 'HITL_EXPIRED';
  const asked = c.command.kind === 'escalate' ? (c.command.toLevel ?? c.level + 1) : undefined;
  if (asked !== undefined && (asked > 2 || asked <= c.level)) return 'ESCALATION_LIMIT';
  if (c.word in KIND_OF_DUTY && !DECIDES_AT[c.who].includes(String(c.level))) return 'NOT_ELIGIBLE';
  return filledIn(RULES[c.word]!, c.status, c.level, asked);
}

function timedOut(c: Case): string {
  const byHand = c.word === 'timeout by hand';
  if (!byHand && c.moment === 'before') return 'NOT_DUE';
  const milder = {
    reject: 'reject', notify_only: 'notify_only', escalate: c.level === 2 ? 'reject' : 'escalate',
    // Time alone, and only of a plain proposal.
    approve: [c.hitlMode, c.hardcoded, c.quorum, byHand].join() === 'propose,false,false,false' ? 'approve' : 'reject',
  }[c.timeoutAction];
  const rule = RULES[`timeout ${milder}`]!.replace('WHO', byHand ? 'caller' : 'system');
  return `${filledIn(rule, c.status, c.level, c.level + 1)} | ${milder}`;
}

function filledIn(rule: string, status: HitlStatus, level: number, risen: number | undefined): string {
  const [to, height, ...rest] = rule.split(' | ');
  return [to === '=' ? status : to, height === '=' ? level : risen, ...rest].join(' | ');
}

describe('the whole machine', () => {
  it('says of every case what the rules say', () => {
    let count = 0;
    const answers = new Set<string>();
    const wrong: string[] = [];
    for (const c of cases()) {
      count++;
      const answer = said(c);
      answers.add(answer);
      const rule = wanted(c);
      if (answer !== rule && wrong.length < 10) wrong.push(`${JSON.stringify(c)}\n  says  ${answer}\n  rule  ${rule}`);
    }
    expect(wrong).toEqual([]);
    // 2 open statuses, and 4 final ones ended by their window or not; 3 levels, 2 modes, hardcoded, quorum, 4 actions, 3 moments.
    expect(count).toBe((2 + 4 * 2) * 3 * 2 * 2 * 2 * 4 * 3 * WHO.length * 20);
    for (const code of ['HITL_ALREADY_DECIDED', 'HITL_EXPIRED', 'ESCALATION_LIMIT', 'NOT_DUE', 'NOT_ELIGIBLE']) {
      expect(answers).toContain(code);
    }
    // Every rule was used, from both statuses and at every level where it applies.
    expect(answers.size).toBe(DIFFERENT_ANSWERS);
  });
});

/**
 * 5 codes; 4 ends by a command at 3 levels; 3 that keep both statuses at 3 levels; escalations by 2 targets and 2 actors; timeouts
 * that end it at 3 levels (2 actions by 2 actors, `approve` by time alone); timeouts that escalate, by 2 targets and 2 actors.
 */
const DIFFERENT_ANSWERS = 5 + 4 * 3 + 3 * 3 * 2 + 2 * 2 + (2 * 2 + 1) * 3 + 2 * 2;

/** A life so far: its state, and how the state was reached. */
interface Life {
  readonly state: HitlState;
  readonly clock: number;
  readonly byHand: number;
  readonly rises: number;
}

describe('from every opening', () => {
  const keyOf = ({ state: { status, level }, byHand, rises }: Life) => [status, level, byHand, rises].join();
  const asked = COMMANDS.map(([, command]) => command);

  const next = ({ state, clock, byHand, rises }: Life, command: HitlCommand, late: boolean): Life | Refused => {
    const now = late ? state.expiresAt : new Date(clock + 1);
    const outcome = transition(state, command, now);
    if (outcome.kind === 'refused') return outcome;
    const rose = outcome.events.some(({ type }) => type === 'hitl.escalated');
    const hand = rose && command.kind === 'escalate';
    return { state: { ...state, ...outcome.next }, clock: now.getTime(), byHand: byHand + (hand ? 1 : 0), rises: rises + (rose ? 1 : 0) };
  };

  const openings = (['propose', 'escalate'] as const).flatMap((hitlMode) => LEVELS.flatMap((forced) =>
    [false, true].flatMap((hardcoded) => [false, true].flatMap((quorum) => TIMEOUT_ACTIONS.map((timeoutAction): Life => ({
      state: { hitlMode, hardcoded, quorum, timeoutAction, timeoutSeconds: WINDOW_SECONDS,
        ...opening(hitlMode, NOW, WINDOW_SECONDS, forced) },
      clock: NOW.getTime(), byHand: 0, rises: 0,
    }))))));

  it('every life ends, no final state is left, no level falls, only an escalation moves the window, two at most', () => {
    let steps = 0;
    for (const start of openings) {
      const reached = new Map([[keyOf(start), start]]);
      for (const life of reached.values()) {
        for (const late of [false, true]) {
          for (const command of asked) {
            steps++;
            const after = next(life, command, late);
            if ('kind' in after) continue;
            expect(isOpen(life.state.status)).toBe(true);
            expect(after.state.level).toBeGreaterThanOrEqual(life.state.level);
            const moved = after.state.expiresAt.getTime() !== life.state.expiresAt.getTime();
            expect(moved).toBe(after.rises > life.rises);
            expect(after.rises > life.rises).toBe(after.state.level > life.state.level);
            reached.set(keyOf(after), reached.get(keyOf(after)) ?? after);
          }
        }
        expect(life.byHand).toBeLessThanOrEqual(2);
        expect(life.rises).toBeLessThanOrEqual(2);
        expect(sweepsUntilEnd(life)).toBeLessThanOrEqual(3 - life.state.level);
      }
      const finals = new Set([...reached.values()].map(({ state }) => state.status).filter((status) => !isOpen(status)));
      expect([...finals].sort()).toEqual(['approved', 'cancelled', 'rejected', 'timed_out']);
    }
    expect(steps).toBeGreaterThan(10_000);
  });

  /** When nobody ever does anything: how many windows it takes. */
  function sweepsUntilEnd(life: Life): number {
    if (!isOpen(life.state.status)) return 0;
    const after = next(life, { kind: 'timeout', trigger: 'window' }, true);
    if ('kind' in after) throw new Error(`the sweep leaves ${life.state.status} at level ${life.state.level} as it is`);
    return 1 + sweepsUntilEnd(after);
  }
});

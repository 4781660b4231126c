import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TIMEOUT_ACTIONS, type TimeoutAction } from '../gate/vocabulary.js';
import { HITL_STATUSES, isOpen, opening, transition, TRANSITIONS, type EscalationLevel, type HitlCommand, type HitlState,
  type HitlStatus } from './transition.js';

const NOW = new Date('2026-05-01T12:00:00.000Z');
const at = (ms: number) => new Date(NOW.getTime() + ms);

function request(parts: Partial<HitlState> = {}): HitlState {
  return { status: 'pending', level: 0, hitlMode: 'propose', hardcoded: false, quorum: false, expiresAt: at(60_000),
    timeoutSeconds: 1800, timeoutAction: 'reject', ...parts };
}
const due = (parts: Partial<HitlState> = {}) => request({ expiresAt: at(-1), ...parts });
const sweep: HitlCommand = { kind: 'timeout', trigger: 'window' };
const manual: HitlCommand = { kind: 'timeout', trigger: 'manual' };

describe('the table', () => {
  it('reaches every status from an opening, and nothing leaves a final one', () => {
    const reached = new Set<HitlStatus>([opening('propose', NOW, 60).status, opening('escalate', NOW, 60).status]);
    for (let before = -1; before !== reached.size; ) {
      before = reached.size;
      for (const { from, to } of TRANSITIONS) if (reached.has(from)) reached.add(to);
    }
    expect([...reached].sort()).toEqual([...HITL_STATUSES].sort());
    const leaving = new Set(TRANSITIONS.map(({ from }) => from));
    for (const status of HITL_STATUSES) expect(leaving.has(status)).toBe(isOpen(status));
    // From each open status every final one can be reached, so nothing can be stuck.
    for (const from of ['pending', 'escalated'] as const) {
      const finals = TRANSITIONS.filter((row) => row.from === from && !isOpen(row.to)).map(({ to }) => to);
      expect([...new Set(finals)].sort()).toEqual(['approved', 'cancelled', 'rejected', 'timed_out']);
    }
  });

  it('has one row for each open status and trigger, each with an event', () => {
    const keys = TRANSITIONS.map(({ from, trigger }) => `${from} ${trigger}`);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).toHaveLength(2 * 11);
    for (const row of TRANSITIONS) expect(row.events.length).toBeGreaterThan(0);
  });
});

describe('openings', () => {
  it('a proposal waits at level 0, an escalation at level 2, each for its window', () => {
    expect(opening('propose', NOW, 90)).toEqual({ status: 'pending', level: 0, expiresAt: at(90_000), decision: null });
    expect(opening('escalate', NOW, 1)).toEqual({ status: 'escalated', level: 2, expiresAt: at(1_000), decision: null });
    expect(opening('propose', NOW, 1, 2)).toMatchObject({ status: 'pending', level: 2 });
  });
});

describe.each(['pending', 'escalated'] as const)('from %s', (status) => {
  const hitlMode = 'propose' as const;

  it('approve', () => {
    expect(transition(request({ status, hitlMode, level: 1 }), { kind: 'approve', note: 'fine' }, NOW)).toEqual({
      kind: 'accepted',
      next: { status: 'approved', level: 1, expiresAt: at(60_000), decision: { outcome: 'approved', note: 'fine', by: 'human' } },
      events: [{ type: 'hitl.approved', actor: 'caller' }],
      effects: [{ kind: 'run' }, { kind: 'notify', event: 'hitl.request.approved' }],
    });
  });

  it('reject', () => {
    expect(transition(request({ status }), { kind: 'reject' }, NOW)).toMatchObject({
      next: { status: 'rejected', decision: { outcome: 'rejected', note: null, by: 'human' } },
      events: [{ type: 'hitl.rejected', actor: 'caller' }],
      effects: [{ kind: 'cancel', reason: 'rejected' }, { kind: 'notify', event: 'hitl.request.rejected' }],
    });
  });

  it('cancel, by its agent or by the system', () => {
    expect(transition(request({ status }), { kind: 'cancel' }, NOW)).toMatchObject({
      next: { status: 'cancelled', decision: { outcome: 'cancelled', by: 'human' } },
      events: [{ type: 'hitl.cancelled', actor: 'caller' }],
      effects: [{ kind: 'cancel', reason: 'cancelled' }, { kind: 'notify', event: 'hitl.request.cancelled' }],
    });
    expect(transition(request({ status }), { kind: 'cancel', by: 'system' }, NOW)).toMatchObject({
      next: { decision: { by: 'system' } }, events: [{ actor: 'system' }],
    });
  });

  it.each([[0, 1], [1, 2]] as const)('escalate rises from level %i to %i and opens a new window', (level, next) => {
    expect(transition(request({ status, level }), { kind: 'escalate', reason: 'large' }, NOW)).toMatchObject({
      next: { status: 'escalated', level: next, expiresAt: at(1_800_000), decision: null },
      events: [{ type: 'hitl.escalated', actor: 'caller' }],
      effects: [{ kind: 'notify', event: 'hitl.request.escalated' }],
    });
  });

  it('escalate goes straight to a forced level, never down, never past 2', () => {
    expect(transition(request({ status }), { kind: 'escalate', reason: 'x', toLevel: 2, by: 'system' },
      NOW)).toMatchObject({ next: { level: 2 }, events: [{ actor: 'system' }] });
    expect(transition(request({ status, level: 2 }), { kind: 'escalate', reason: 'x' }, NOW)).toEqual({ kind: 'refused',
      code: 'ESCALATION_LIMIT' });
    expect(transition(request({ status, level: 1 }), { kind: 'escalate', reason: 'x', toLevel: 1 },
      NOW)).toEqual({ kind: 'refused', code: 'ESCALATION_LIMIT' });
  });

  it.each<[TimeoutAction, EscalationLevel, HitlStatus, string[], object | null]>([
    ['reject', 0, 'timed_out', ['hitl.timed_out'], { outcome: 'rejected', by: 'timeout' }],
    ['notify_only', 0, 'timed_out', ['hitl.timed_out'], { outcome: 'rejected', by: 'timeout' }],
    ['approve', 0, 'approved', ['hitl.timed_out', 'hitl.approved'], { outcome: 'approved', by: 'system' }],
    ['escalate', 0, 'escalated', ['hitl.timed_out', 'hitl.escalated'], null],
    ['escalate', 1, 'escalated', ['hitl.timed_out', 'hitl.escalated'], null],
  ])('timeout with %s at level %i', (timeoutAction, level, to, events, decision) => {
    const outcome = transition(due({ status, timeoutAction, level }), sweep, NOW);
    expect(outcome).toMatchObject({ kind: 'accepted', action: timeoutAction, next: { status: to, decision } });
    if (outcome.kind === 'accepted') expect(outcome.events).toEqual(events.map((type) => ({ type, actor: 'system' })));
  });
});

describe('timeouts apply what is allowed', () => {
  const applied = (parts: Partial<HitlState>, command: HitlCommand = sweep) => {
    const outcome = transition(due(parts), command, NOW);
    return outcome.kind === 'accepted' ? [outcome.action, outcome.next.status] : outcome.code;
  };

  it.each<[string, Partial<HitlState>]>([
    ['the mode escalate', { hitlMode: 'escalate' }],
    ['a hardcoded capability', { hardcoded: true }],
    ['a quorum', { quorum: true }],
  ])('approve acts as reject for %s', (_name, parts) => expect(applied({ ...parts,
    timeoutAction: 'approve' })).toEqual(['reject', 'timed_out']));

  it('approve acts as reject by hand, before and after the window', () => {
    expect(applied({ timeoutAction: 'approve' }, manual)).toEqual(['reject', 'timed_out']);
    expect(applied({ timeoutAction: 'approve', expiresAt: at(60_000) }, manual)).toEqual(['reject', 'timed_out']);
  });

  it.each<[string, Partial<HitlState>, 'admin' | 'people', unknown]>([
    ['goes to an admin who is needed by now', {}, 'admin', ['escalate', 'escalated']],
    ['rejects where admins had their time', { level: 2 }, 'admin', ['reject', 'timed_out']],
    ['rejects where people are needed by now', {}, 'people',
      ['reject', 'timed_out']],
    ['rejects what was edited and nobody else has looked at', { edited: true }, 'admin', ['reject', 'timed_out']],
    ['never goes to an admin by itself from a hardcoded capability', { hardcoded: true }, 'admin', ['reject', 'timed_out']],
  ])('approve %s', (_name, parts, approvalNeeds, wanted) =>
    expect(applied({ ...parts, timeoutAction: 'approve' }, { ...sweep, approvalNeeds } as HitlCommand)).toEqual(wanted));

  it('what needs an admin goes straight to level 2, whatever else the action', () => {
    expect(transition(due({ timeoutAction: 'approve' }), { ...sweep, approvalNeeds: 'admin' } as HitlCommand, NOW))
      .toMatchObject({ next: { status: 'escalated', level: 2, expiresAt: at(1_800_000) } });
    expect(applied({ timeoutAction: 'notify_only' }, { ...sweep, approvalNeeds: 'admin' } as HitlCommand)).toEqual(['notify_only',
      'timed_out']);
  });

  it('escalate acts as reject at level 2', () => expect(applied({ timeoutAction: 'escalate', level: 2 })).toEqual(['reject',
    'timed_out']));

  it('the hand is the actor of the timeout, the system of what follows', () => {
    expect(transition(request({ timeoutAction: 'escalate' }), manual, NOW)).toMatchObject({
      events: [{ type: 'hitl.timed_out', actor: 'caller' }, { type: 'hitl.escalated', actor: 'system' }],
    });
  });

  it('a sweep that comes early does nothing', () => expect(applied({ expiresAt: at(1) })).toBe('NOT_DUE'));
});

describe('time', () => {
  const clicks: HitlCommand[] = [{ kind: 'approve' }, { kind: 'reject' }, { kind: 'cancel' }, { kind: 'escalate', reason: 'x' }];

  it.each(clicks)('$kind is possible until the last millisecond and not from expiresAt on', (command) => {
    expect(transition(request({ expiresAt: at(1) }), command, NOW).kind).toBe('accepted');
    expect(transition(request({ expiresAt: at(0) }), command, NOW)).toEqual({ kind: 'refused', code: 'HITL_EXPIRED' });
    expect(transition(due(), command, NOW)).toEqual({ kind: 'refused', code: 'HITL_EXPIRED' });
  });

  it('the system may cancel what is past its window and not swept yet', () =>
    expect(transition(due(), { kind: 'cancel', by: 'system' }, NOW).kind).toBe('accepted'));

  it('decided comes before expired', () => {
    for (const status of ['approved', 'rejected', 'timed_out', 'cancelled'] as const) {
      for (const command of [...clicks, sweep, manual]) {
        expect(transition(due({ status }), command, NOW)).toEqual({ kind: 'refused', code: 'HITL_ALREADY_DECIDED' });
      }
    }
  });
});

describe('any life of a request', () => {
  const command = fc.oneof<fc.Arbitrary<HitlCommand>[]>(
    fc.record({ kind: fc.constant('approve' as const) }),
    fc.record({ kind: fc.constant('reject' as const) }),
    fc.record({ kind: fc.constant('cancel' as const), by: fc.constantFrom('human' as const, 'system' as const) }),
    fc.record({ kind: fc.constant('escalate' as const), reason: fc.constant('r') }),
    fc.record({ kind: fc.constant('timeout' as const), trigger: fc.constantFrom('window' as const, 'manual' as const) }),
  );

  it('is decided at most once, never falls in level, and time alone never approves what it may not', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('propose' as const, 'escalate' as const), fc.boolean(), fc.boolean(), fc.constantFrom(...TIMEOUT_ACTIONS),
        fc.array(fc.tuple(command, fc.integer({ min: 0, max: 90_000 })), { maxLength: 12 }),
        (hitlMode, hardcoded, quorum, timeoutAction, steps) => {
          let state: HitlState = { ...request({ hitlMode, hardcoded, quorum, timeoutAction, timeoutSeconds: 60 }),
            ...opening(hitlMode, NOW, 60) };
          let clock = NOW.getTime();
          let decisions = 0;
          for (const [step, pause] of steps) {
            clock += pause;
            const before = state;
            const outcome = transition(state, step, new Date(clock));
            if (outcome.kind === 'refused') continue;
            state = { ...state, ...outcome.next };
            expect(isOpen(before.status)).toBe(true);
            expect(state.level).toBeGreaterThanOrEqual(before.level);
            expect(isOpen(state.status)).toBe(outcome.next.decision === null);
            if (outcome.next.decision) decisions++;
            if (isOpen(state.status)) expect(state.expiresAt.getTime()).toBe(clock + 60_000);
            if (state.status === 'approved' && step.kind === 'timeout') {
              expect([hitlMode, hardcoded, quorum, timeoutAction, step.trigger]).toEqual(['propose', false, false, 'approve',
                'window']);
            }
            expect(outcome.effects.some(({ kind }) => kind === 'run')).toBe(state.status === 'approved');
          }
          expect(decisions).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

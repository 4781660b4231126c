import type { Command } from './hitl-commands.js';
import type { Ask, ModelReminder, ModelTerms, Principal } from './hitl-model.js';
import type { DecisionResult, Verb } from './hitl-model-decisions.js';

const ask = (more: Partial<Ask> = {}): Command =>
  ({ kind: 'ask', agent: 0, capability: 'email.send', by: 'gate', danger: false, ...more });
const attempt = (verb: Verb, who: Principal, more: Partial<DecisionResult> = {}): DecisionResult =>
  ({ verb, who, digest: 'right', ...more });
/** On the only open request. */
const act = (verb: Verb, who: Principal, more: Partial<DecisionResult> = {}): Command =>
  ({ kind: 'decide', pick: { nth: 0, open: true }, attempt: attempt(verb, who, more) });
/** On a closed one. */
const again = (nth: number, verb: Verb, who: Principal): Command =>
  ({ kind: 'decide', pick: { nth, open: false }, attempt: attempt(verb, who) });
const late = (verb: Verb, who: Principal): Command => ({ kind: 'click late', pick: { nth: 0, open: true }, attempt: attempt(verb, who) });
const sweep: Command = { kind: 'sweep', pick: { nth: 0, open: true } };
const grant = (mode: ModelTerms['mode'], action: ModelTerms['action'] = 'reject', quorum?: ModelTerms['quorum']): Command =>
  ({ kind: 'grant', agent: 0, capability: 'email.send', terms: { mode, action, ...(quorum ? { quorum } : {}) } });
const reminding = (...reminders: ModelReminder[]): Command =>
  ({ kind: 'grant', agent: 0, capability: 'email.send', terms: { mode: 'propose', action: 'reject', reminders } });
const remind = (due: 'next' | 'all'): Command => ({ kind: 'remind', pick: { nth: 0, open: true }, due });
/** On those that are open, in their order; `none` of those that are not. */
const batch = (who: Principal, decision: 'approve' | 'reject', digests: readonly DecisionResult['digest'][], open = true): Command =>
  ({ kind: 'batch', who, decision, items: digests.map((digest, nth) => ({ pick: { nth, open }, digest })) });
const repeat = (pick: number, otherBody = false): Command => ({ kind: 'repeat', pick, otherBody });

/** A walk that meets every command and every answer: what chance leaves out of a short run is in it. */
export const TOUR: readonly Command[] = [
  // Who may, at level 0; what was shown; once.
  ask(),
  act('approve', 'agent'), act('approve', 'viewer'), act('approve', 'foreignAdmin'), act('approve', 'stranger'),
  act('reject', 'stranger'),
  act('approve', 'teammate', { digest: 'stale' }), act('reject', 'teammate', { digest: 'stale' }),
  act('cancel', 'admin', { digest: 'stale' }),
  act('cancel', 'lead'), act('cancel', 'otherAgent'), act('timeout', 'lead'), act('timeout', 'foreignAdmin'),
  act('approve', 'teammate'),
  again(0, 'approve', 'admin'), again(0, 'reject', 'admin'), again(0, 'cancel', 'agent'), again(0, 'timeout', 'admin'),
  // Their own connector, an adapter's request, money.
  ask({ capability: 'crm.push' }), act('approve', 'agentOwner'),
  ask({ capability: 'crm.push', by: 'adapter' }), act('approve', 'root', { digest: 'none' }),
  ask({ capability: 'phone.call' }), act('approve', 'lead'), act('reject', 'admin'),
  ask(), act('cancel', 'agent'),
  ask(), act('timeout', 'admin'),
  // Handed on: to the lead, to a person, no further.
  ask(), act('escalate', 'stranger'), act('escalate', 'viewer'), act('escalate', 'agent'), act('escalate', 'foreignAdmin'),
  act('escalate', 'teammate', { digest: 'stale' }), act('escalate', 'teammate', { to: 'stranger' }), act('escalate', 'teammate'),
  act('approve', 'teammate'), act('escalate', 'lead', { to: 'owner' }), act('escalate', 'admin'), act('approve', 'lead'),
  act('approve', 'admin'), again(0, 'escalate', 'admin'),
  // Named by the agent: an admin decides, not the one named.
  ask({ onBehalfOf: 'owner' }), act('approve', 'teammate'), act('approve', 'owner'),
  act('approve', 'owner', { breakGlass: 'without' }), act('approve', 'owner', { breakGlass: 'with a reason' }),
  // Windows.
  ask(), sweep, ask(), late('approve', 'teammate'), ask(), late('cancel', 'agent'), ask(), late('timeout', 'root'), ask(),
  late('escalate', 'root'),
  grant('propose', 'notify_only'), ask(), act('timeout', 'root'), ask(), sweep,
  grant('propose', 'escalate'), ask(), act('timeout', 'root'), act('approve', 'teammate'), sweep, act('approve', 'lead'), sweep,
  { kind: 'run out', agent: 0, terms: { mode: 'propose', action: 'reject' } },
  grant('propose', 'approve'), ask(), act('timeout', 'root'), ask({ danger: true }), sweep, ask(), sweep, ask(),
  late('reject', 'teammate'),
 
  { kind: 'grant', agent: 0, capability: 'crm.push', terms: { mode: 'propose', action: 'approve' } },
  ask({ capability: 'crm.push' }), sweep,
  ask(), grant('escalate'), sweep, act('reject', 'root'), grant('propose', 'approve'), ask(), grant('block'), sweep,
  // Edited: by whom it may decide along, or for others to decide.
  grant('propose'), ask(), act('approve', 'teammate', { edit: 'harmless' }),
  ask(), act('approve', 'teammate', { edit: 'danger' }), act('approve', 'admin', { digest: 'none' }),
  act('reject', 'admin', { digest: 'none' }),
  act('approve', 'admin', { edit: 'harmless' }), act('approve', 'admin'), act('approve', 'owner'),
  // Several people: each once, those who may still, one no is enough, and the owner alone in need.
  grant('propose', 'reject', { approvals: 2, withAdmin: true }), ask(), act('approve', 'teammate'), act('approve', 'teammate'),
  act('approve', 'lead'), act('approve', 'admin'),
  ask(), act('approve', 'teammate'), act('escalate', 'lead', { to: 'admin' }), act('approve', 'lead'), act('approve', 'admin'),
  ask(), act('approve', 'root'), act('reject', 'teammate'), ask(), act('approve', 'lead'),
  act('approve', 'admin', { edit: 'harmless' }),
  act('approve', 'owner', { breakGlass: 'without' }), act('approve', 'owner', { breakGlass: 'with a reason' }),
  grant('propose'), ask(), grant('propose', 'reject', { approvals: 2, withAdmin: false }), act('approve', 'lead'),
  act('approve', 'root'),
  grant('propose', 'approve'), ask(), grant('propose', 'reject', { approvals: 2, withAdmin: false }), sweep,
  // What is allowed may change while it waits.
  grant('propose'), ask(), grant('escalate'), act('approve', 'lead'), act('approve', 'lead'), act('approve', 'admin'),
  grant('propose'), ask(), grant('block'), act('approve', 'teammate', { edit: 'harmless' }), act('approve', 'teammate'), ask(),
  ask({ by: 'adapter' }),
  grant('auto'), ask(), ask({ by: 'adapter' }), act('approve', 'teammate'),
  grant('escalate', 'approve'),
  grant('propose'), ask(), { kind: 'revoke', agent: 0, capability: 'email.send' }, act('approve', 'teammate'), ask(),
  grant('propose'),
  ask(), { kind: 'deactivate', agent: 0 }, ask(), act('cancel', 'agent'), act('approve', 'teammate'),
  { kind: 'activate', agent: 0 },
  ask(), { kind: 'stop', agent: 0 }, ask(), act('approve', 'admin'), act('reject', 'admin'), act('timeout', 'admin'),
  act('escalate', 'admin'),
  { kind: 'resume', agent: 0 }, act('approve', 'admin'),
  ask(), { kind: 'stop', agent: 0 }, act('cancel', 'admin'), { kind: 'resume', agent: 0 },
  // The same key again: answered as before, or as new, or as somebody else's.
  // Many at once, each as if alone, one of them twice.
  ask(), ask(), ask(), ask({ agent: 1 }),
  batch('viewer', 'approve', ['right']), batch('agent', 'reject', ['right']), batch('foreignAdmin', 'approve', ['right', 'right']),
  batch('stranger', 'reject', ['right']), batch('lead', 'approve', ['none', 'stale', 'right', 'right', 'right']),
  act('escalate', 'admin', { to: 'owner' }), act('escalate', 'owner'), batch('owner', 'approve', ['right', 'none']),
  batch('owner', 'reject', ['right', 'right', 'right']), batch('admin', 'reject', ['right', 'right'], false),
  grant('propose', 'reject', { approvals: 2, withAdmin: false }), ask(), ask(), batch('lead', 'approve', ['right', 'right']),
  batch('lead', 'approve', ['right']), batch('admin', 'approve', ['right', 'right']),
  // Reminders: told, moved up, and what nobody gave in time.
  reminding({ minutesBefore: 15, escalates: false }, { minutesBefore: 5, escalates: true }), ask(),
  remind('next'), remind('next'), remind('all'), remind('all'), act('reject', 'owner'),
  ask(), remind('next'), act('approve', 'teammate'),
  // Strict: then or now; the agent's owner too, and an edit decides nothing.
  grant('propose'), ask(), { kind: 'strict' }, act('approve', 'agentOwner'), act('approve', 'teammate'),
  ask(), { kind: 'standard' }, act('approve', 'agentOwner'), act('approve', 'lead', { edit: 'harmless' }), act('approve', 'lead'),
  batch('agentOwner', 'approve', ['right']), act('approve', 'teammate'),
  grant('propose', 'reject', { approvals: 2, withAdmin: false }), ask(), act('approve', 'agentOwner'), { kind: 'strict' },
  act('approve', 'lead'), act('approve', 'teammate'), { kind: 'standard' }, grant('propose'),
  repeat(0), repeat(12), repeat(12, true),
  ask(), ask(), ask(), ask(), ask(), ask(),
];

/** What the tour meets, and every run has to. */
export const ANSWERS: readonly string[] = [
  'activate', 'approve with an edit: CAPABILITY_BLOCKED', 'approve with an edit: done', 'approve: CONFLICT',
  'approve: FORBIDDEN', 'approve: HITL_ALREADY_DECIDED', 'approve: HITL_DIGEST_MISMATCH', 'approve: HITL_EXPIRED',
  'approve: NOT_ELIGIBLE', 'approve: NOT_EXECUTABLE', 'approve: NOT_FOUND', 'approve: REASON_REQUIRED',
  'approve: SELF_APPROVAL', 'approve: STOPPED', 'approve: done', 'ask adapter: CAPABILITY_BLOCKED', 'ask adapter: created',
  'ask gate: AGENT_INACTIVE', 'ask gate: CAPABILITY_NOT_GRANTED', 'ask gate: STOPPED', 'ask gate: TOO_MANY_PENDING',
  'ask gate: blocked', 'ask gate: executed', 'ask gate: pending_hitl', 'cancel: AGENT_INACTIVE', 'cancel: FORBIDDEN',
  'cancel: HITL_ALREADY_DECIDED', 'cancel: HITL_DIGEST_MISMATCH', 'cancel: HITL_EXPIRED', 'cancel: NOT_FOUND', 'cancel: done',
  'click late, before the sweep', 'deactivate', 'escalate: ESCALATION_LIMIT', 'escalate: FORBIDDEN',
  'escalate: HITL_ALREADY_DECIDED', 'escalate: HITL_DIGEST_MISMATCH', 'escalate: HITL_EXPIRED', 'escalate: NOT_ELIGIBLE',
  'escalate: NOT_FOUND', 'escalate: STOPPED', 'escalate: TARGET_NOT_ELIGIBLE', 'escalate: done', 'grant',
  'reject: HITL_ALREADY_DECIDED', 'reject: HITL_DIGEST_MISMATCH', 'reject: HITL_EXPIRED', 'reject: NOT_ELIGIBLE',
  'reject: STOPPED', 'reject: done', 'repeat: IDEMPOTENCY_KEY_REUSED', 'repeat: as new', 'repeat: replayed', 'resume', 'revoke',
  'batch approve: HITL_DIGEST_MISMATCH', 'batch approve: NOT_ELIGIBLE', 'batch approve: NOT_FOUND', 'batch approve: CONFLICT',
  'batch approve: SELF_APPROVAL', 'batch approve: done', 'batch reject: HITL_ALREADY_DECIDED', 'batch reject: NOT_ELIGIBLE',
  'batch reject: done', 'batch: FORBIDDEN', 'remind all: escalated', 'remind next: escalated', 'remind next: told', 'standard', 'strict',
  'under strict, approve with an edit: done', 'under strict, approve: SELF_APPROVAL', 'under strict, approve: done',
  'run out: reject', 'stop', 'sweep: approve', 'sweep: cancelled', 'sweep: escalate', 'sweep: notify_only', 'sweep: reject',
  'timeout: FORBIDDEN', 'timeout: HITL_ALREADY_DECIDED', 'timeout: NOT_FOUND', 'timeout: STOPPED', 'timeout: escalate',
  'timeout: notify_only', 'timeout: reject',
];

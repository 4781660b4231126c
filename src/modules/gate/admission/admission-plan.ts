import { randomBytes } from 'node:crypto';
import { basisOf } from '../../../domain/audit/catalogue/basis.js';
import type { AuditEvent } from '../../../domain/audit/catalogue/audit-events.js';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import { type PreparedEntry, prepareEntry } from '../../../domain/audit/entry/prepare-entry.js';
import type { GateDecision } from '../../../domain/gate/decide.js';
import type { Use } from '../../../domain/gate/limits.js';
import { actionDigest } from '../../../domain/hitl/digest.js';
import { onBehalfOf } from '../../../domain/hitl/on-behalf-of.js';
import { nextReminderAt } from '../../../domain/hitl/reminders.js';
import { HIGHEST_LEVEL, opening } from '../../../domain/hitl/transition.js';
import { newId } from '../../../domain/ids.js';
import type { JsonObject } from '../../../domain/json.js';
import { type Effect, notify } from '../../../platform/outbox/effects.js';
import type { Facts } from '../../authority/facts.js';
import { runsBy } from '../../executions/choose-runtime.js';
import type { ExecutionRuntime } from '../../executions/execution.entity.js';
import { startedEvent } from '../../executions/started-event.js';
import type { AdmissionAnswer, AdmissionItem, ReachedLimits } from './admission-item.js';
import { rulesOf, taskColumns, taskMembers, taskPeople } from './task-of-plan.js';
import { Deadline } from '../runtimes/deadline.js';

/** Seconds after the runtime's deadline before recovery may call an execution abandoned. */
export const LEASE_GRACE_SECONDS = 30;

/** From the beginning of a set of calls, or of their ends, to that of the next, in milliseconds (batcher.ts). */
export const RHYTHM_MS = 10;

/** An execution that begins at the gate has begun once. */
const FIRST_FENCE = 1;

/** Columns of a row by their names in the database. */
type Row = Record<string, unknown>;

/** The rows and entries of one decided item, and its answer once they are committed. */
export interface AdmissionPlan {
  readonly answer: AdmissionAnswer;
  readonly execution?: Row;
  readonly request?: Row;
  readonly executionId?: string;
  readonly opens: 0 | 1;
  /** What the execution adds to the counts of its grant's limits. */
  readonly uses: readonly Use[];
  readonly effects: readonly Effect[];
  readonly entries: readonly PreparedEntry[];
}

/** Turns a decision into rows and entries. Pure but for ids, salts and the clock. */
export function planAdmission(item: AdmissionItem, read: Facts, decision: GateDecision): AdmissionPlan {
  const facts = item.from ? { ...read, runtime: item.from.runtime } : read;
  if (item.dryRun) return answerOnly(dryRun(item, decision, facts));
  switch (decision.kind) {
    case 'invalid': {
      const { code, errors } = decision;
      return answerOnly({ kind: 'refused', code, detail: 'The input does not fit the capability.', errors });
    }
    case 'refuse':
      return refusal(item, facts, decision);
    case 'block':
      return item.admission === 'execute' ? blocked(item, facts, decision) : refusedRequest(item, facts, decision);
    case 'ask':
      return ask(item, facts, decision, decision.mode);
    case 'run':
      // An adapter that asks for an approval gets a person, whatever milder mode the grant has.
      if (item.admission === 'request') return ask(item, facts, decision, 'propose');
      return facts.runtime.runtime === 'receipt' ? licence(item, facts, decision) : start(item, facts, decision);
  }
}

type Of<Kind extends GateDecision['kind']> = Extract<GateDecision, { kind: Kind }>;

function answerOnly(answer: AdmissionAnswer): AdmissionPlan {
  return { answer, opens: 0, uses: [], effects: [], entries: [] };
}

function dryRun(item: AdmissionItem, decision: GateDecision, facts: Facts): AdmissionAnswer {
  const { reasons, flagged } = decision;
  const named = decision.kind === 'refuse' || decision.kind === 'invalid' ? decision.code : decision.kind;
  return {
    kind: 'dry_run', decision: named, reasons, flagged,
    ...('effectiveMode' in decision ? { effectiveMode: decision.effectiveMode } : {}),
    ...(decision.kind === 'run' || decision.kind === 'ask' ? { runs: runsBy(facts.runtime.runtime) } : {}),
    ...reachedOf(item, facts, decision),
    ...('byLimits' in decision ? { byLimits: decision.byLimits } : {}),
  };
}

function reachedOf({ organizationId }: AdmissionItem, { grant }: Facts, decision: GateDecision): { reached?: ReachedLimits } {
  if (!grant || !('limits' in decision) || decision.limits.length === 0) return {};
  return { reached: { organizationId, grantId: grant.id, limits: decision.limits } };
}

/** A capability that the token lacks is refused without an entry. Any other refusal has one entry, with the code as its reason. */
function refusal(item: AdmissionItem, facts: Facts, decision: Of<'refuse'>): AdmissionPlan {
  const answer: AdmissionAnswer = { kind: 'refused', code: decision.code, detail: decision.detail };
  if (!decision.recorded) return answerOnly(answer);
  const event = blockedEvent(item, facts, decision.code, decision);
  return { answer, opens: 0, uses: [], effects: [], entries: [entry(item, newId('audit'), event)] };
}

function refusedRequest(item: AdmissionItem, facts: Facts, decision: Of<'block'>): AdmissionPlan {
  const entries = [entry(item, newId('audit'), blockedEvent(item, facts, 'CAPABILITY_BLOCKED', decision))];
  return { answer: { kind: 'refused', code: 'CAPABILITY_BLOCKED', detail: decision.reason }, opens: 0, uses: [], effects: [], entries };
}

function blocked(item: AdmissionItem, facts: Facts, decision: Of<'block'>): AdmissionPlan {
  const executionId = newId('exec');
  const before = beside(item, executionId);
  const auditId = newId('audit');
  const { reason, byLimits } = decision;
  return {
    answer: { kind: 'blocked', executionId, auditId, reason, byLimits, ...judged(decision), ...reachedOf(item, facts, decision) },
    execution: {
      ...executionRow(item, facts, decision, executionId, 'receipt'), status: 'blocked', reason, audit_id: auditId,
    },
    executionId,
    opens: 0,
    uses: [],
    effects: [],
    entries: [...before, entry(item, auditId, blockedEvent(item, facts, reason, decision, executionId))],
  };
}

function licence(item: AdmissionItem, facts: Facts, decision: Of<'run'>): AdmissionPlan {
  const executionId = newId('exec');
  // Made in the order of the chain: ids rise, and a list by them has an effect after its cause.
  const started = startedEntry(item, facts, decision, executionId, 'receipt');
  const auditId = newId('audit');
  const now = new Date();
  const closing = entry(item, auditId, {
    type: 'execution.completed',
    capability: item.capability,
    metadata: { executionId, durationMs: 0, ...flag(decision) },
  }, true);
  return {
    answer: { kind: 'executed', executionId, auditId, durationMs: 0, ...judged(decision) },
    execution: {
      ...executionRow(item, facts, decision, executionId, 'receipt'),
      status: 'executed', audit_id: auditId, started_at: now, closed_at: now, duration_ms: 0,
    },
    executionId,
    opens: 0,
    uses: decision.uses,
    effects: decision.notify ? [notify(item.organizationId, 'execution.notified', { executionId, ...trace(item) })] : [],
    entries: [started, closing],
  };
}

function start(item: AdmissionItem, facts: Facts, decision: Of<'run'>): AdmissionPlan {
  const { runtime, timeoutSeconds } = facts.runtime;
  const executionId = newId('exec');
  const now = new Date();
  return {
    answer: {
      kind: 'started',
      ...judged(decision),
      execution: {
        organizationId: item.organizationId, agentId: item.agentId, executionId, capability: item.capability,
        // In canonical order, as after an approval: the same action reaches its receiver as the same bytes.
        input: JSON.parse(item.inputText) as JsonObject,
        inputText: item.inputText, flagged: decision.flagged, notify: decision.notify,
        deadline: Deadline.in(timeoutSeconds * 1000), fence: FIRST_FENCE,
        ...(item.action === undefined ? {} : { action: item.action }),
        ...(item.context ? { context: item.context } : {}),
        ...(facts.definition?.connector ? { connector: facts.definition.connector } : {}),
        ...(item.from ? { runtime: item.from.runtime.runtime } : {}),
        ...(item.traceparent ? { traceparent: item.traceparent } : {}),
      },
    },
    execution: {
      ...executionRow(item, facts, decision, executionId, runtime), status: 'running', started_at: now,
      fence: FIRST_FENCE, lease_seconds: timeoutSeconds + LEASE_GRACE_SECONDS,
    },
    executionId,
    opens: 0,
    uses: decision.uses,
    effects: [],
    entries: [startedEntry(item, facts, decision, executionId, runtime), ...beside(item, executionId)],
  };
}

function ask(
  called: AdmissionItem,
  facts: Facts,
  decision: Of<'ask'> | Of<'run'>,
  mode: 'propose' | 'escalate',
): AdmissionPlan {
  const shown = called.from?.asked();
  if (called.from && !shown) return answerOnly({ kind: 'refused', code: 'BODY_TOO_LARGE', detail: TOO_LARGE_TO_ASK });
  const item = { ...called, ...shown };
  const executionId = newId('exec');
  const hitlRequestId = newId('hitl');
  // The window begins by the database's clock, which also ends it.
  const { now } = facts;
  const grant = facts.grant!;
  const behind = onBehalfOf(item.context);
  // Where the agent says that it acts for a person, admins decide.
  const { status, level, expiresAt } = opening(mode, now, grant.timeoutSeconds, behind === undefined ? 0 : HIGHEST_LEVEL);
  const nonce = randomBytes(16).toString('base64url');
  // The service never runs the action of an adapter, whatever connector the capability has.
  const runtime = item.admission === 'request' ? 'receipt' : facts.runtime.runtime;
  const runs = runsBy(runtime);
  const { action, agentId, capability, input } = item;
  const definition = facts.definition!.digest;
  const named = action === undefined ? {} : { action };
  const digest = actionDigest({ agentId, capability, definition, hitlRequestId, input, nonce, runs, ...named });
  const created: AuditEvent = {
    type: 'hitl.created',
    capability,
    metadata: {
      hitlId: hitlRequestId, capability, input, hitlMode: mode, expiresAt: expiresAt.toISOString(), digest, executionId, level,
      grantId: grant.id, grantVersion: grant.version, definition, reasons: decision.reasons, ...asked(item), ...flag(decision),
      ...taskMembers(facts), ...taskPeople(facts), basis: basisOf(facts),
    },
  };
  return {
    answer: { kind: 'pending', executionId, hitlRequestId, runs, expiresAt, ...judged(decision), ...reachedOf(item, facts, decision) },
    execution: { ...executionRow(item, facts, decision, executionId, runtime), status: 'pending_hitl', hitl_request_id: hitlRequestId },
    request: {
      organization_id: item.organizationId, id: hitlRequestId, agent_id: agentId, agent_name: facts.agent!.name, capability,
      action: action ?? null, hitl_mode: mode, status, runs, input: item.inputText, context: item.contextText ?? null, nonce,
      definition, digest,
      flagged: decision.flagged, reasons: decision.reasons, grant_id: grant.id, execution_id: executionId, created_by: item.actorId,
      created_at: now, expires_at: expiresAt, timeout_seconds: grant.timeoutSeconds,
      escalation_level: level, escalated_at: mode === 'escalate' ? now : null,
      ...rulesOf(item, facts), ...taskColumns(facts), reminders: grant.reminders,
      remind_at: nextReminderAt({ reminders: grant.reminders, remindedSeconds: null, expiresAt }),
      version: 1, break_glass: false,
    },
    executionId,
    opens: 1,
    uses: decision.uses,
    // People who are asked for an explicit approval are notified with high priority (interface, section 3).
    effects: [notify(item.organizationId, 'hitl.request.created', {
      hitlRequestId, ...(mode === 'escalate' ? { priority: 'high' } : {}), ...trace(item),
    })],
    entries: [entry(item, newId('audit'), created), ...beside(item, executionId)],
  };
}

function executionRow(item: AdmissionItem, facts: Facts, decision: GateDecision, id: string, runtime: ExecutionRuntime): Row {
  return {
    organization_id: item.organizationId, id, agent_id: item.agentId, capability: item.capability, action: item.action ?? null,
    effective_mode: 'effectiveMode' in decision ? decision.effectiveMode : 'block', flagged: decision.flagged, runtime,
    input: item.inputText, context: item.contextText ?? null, reasons: decision.reasons, definition: facts.definition!.digest,
    grant_id: facts.grant?.id ?? null, grant_version: facts.grant?.version ?? null, requested_by: item.actorId,
    traceparent: item.traceparent ?? null, created_at: new Date(), ...taskColumns(facts),
  };
}

function startedEntry(
  item: AdmissionItem,
  facts: Facts,
  decision: Of<'run'>,
  executionId: string,
  runtime: ExecutionRuntime,
): PreparedEntry {
  const { capability, input } = item;
  return entry(item, newId('audit'), startedEvent({
    executionId, capability, input, reasons: decision.reasons, runtime, flagged: decision.flagged, ...asked(item),
    grant: facts.grant!, definition: facts.definition!.digest, basis: basisOf(facts), task: facts.task,
  }));
}

function blockedEvent(item: AdmissionItem, facts: Facts, reason: string, decision: GateDecision, executionId?: string): AuditEvent {
  return {
    type: 'execution.blocked',
    capability: item.capability,
    metadata: {
      reason, reasons: decision.reasons, input: item.input, ...(executionId === undefined ? {} : { executionId }), ...asked(item),
      ...flag(decision), ...taskMembers(facts), basis: basisOf(facts),
    },
  };
}

function entry(item: AdmissionItem, id: string, event: AuditEvent, closing = false): PreparedEntry {
  const chain = agentChain(item.organizationId, item.agentId);
  return prepareEntry(
    { ...event, chain, agentId: item.agentId },
    { id, actorId: item.actorId, timestamp: new Date(), ...(item.origin && !closing ? { origin: item.origin } : {}) },
  );
}

const TOO_LARGE_TO_ASK = 'People are asked before this call is made, and it is larger than what they can be shown (256 KiB).';

/** What the call's own module tells the log. */
function beside(item: AdmissionItem, executionId: string): PreparedEntry[] {
  return (item.from?.events(executionId) ?? []).map((event) => entry(item, newId('audit'), event, true));
}

const asked = ({ context, action }: AdmissionItem) => ({ ...(context ? { context } : {}), ...(action === undefined ? {} : { action }) });
const trace = ({ traceparent }: AdmissionItem) => (traceparent === undefined ? {} : { traceparent });
const flag = (decision: GateDecision) => (decision.flagged ? { flagged: true } : {});

function judged(decision: Of<'block'> | Of<'ask'> | Of<'run'>) {
  return { effectiveMode: decision.effectiveMode, flagged: decision.flagged, reasons: decision.reasons };
}

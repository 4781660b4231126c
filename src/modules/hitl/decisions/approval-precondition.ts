import { jcs } from '../../../domain/audit/entry/jcs.js';
import { hasModelCall } from '../../../domain/gate/decided-input.js';
import type { GateDecision } from '../../../domain/gate/decide.js';
import { actionDigest, sameDigest } from '../../../domain/hitl/digest.js';
import { stricterQuorum } from '../../../domain/hitl/quorum.js';
import { HIGHEST_LEVEL, type EscalationLevel } from '../../../domain/hitl/transition.js';
import { type JsonObject, isJsonObject } from '../../../domain/json.js';
import { decideByFacts, quorumByFacts } from '../../authority/decide-by-facts.js';
import type { Facts } from '../../authority/facts.js';
import type { HitlRequestEntity } from '../requests/hitl-request.entity.js';

/** The precondition fails for this decider; somebody of a higher level can still approve. */
export const ESCALATION_NEEDED = 'escalation_needed';
/** The precondition fails for an approval by time; people can still approve. */
export const QUORUM_NEEDED = 'quorum_needed';

/** The precondition fails while the log is without its anchors; the request stays open. */
export const UNAVAILABLE = 'unavailable';

export interface FailedPrecondition {
  /** A code for the audit entry. */
  code: string;
  detail: string;
}

/**
 * Why a requested action may no longer run, or undefined. Checked at the approval, and again when the action begins.
 *
 * @param deciderLevel the highest level at which the approver decides, the lowest of these where several approve; null where no person
 * approves
 */
export function failedPrecondition(
  request: HitlRequestEntity, facts: Facts, deciderLevel: EscalationLevel | null,
): FailedPrecondition | undefined {
  const again = decideAgain(request, facts);
  return 'failed' in again ? again.failed : failedIn(again.decision, request, facts, deciderLevel);
}

/** The level at which an approver has to be able to decide: the request's, or the highest where the gate now answers `escalate`. */
export function levelNeeded(request: HitlRequestEntity, facts: Facts): EscalationLevel {
  return failedPrecondition(request, facts, 0)?.code === ESCALATION_NEEDED ? HIGHEST_LEVEL : request.escalationLevel;
}

/**
 * Asks the gate again: about the stored action, or about an edited input.
 *
 * @param edited instead of the input that is stored
 */
export function decideAgain(
  request: HitlRequestEntity,
  facts: Facts,
  edited?: JsonObject,
): { readonly failed: FailedPrecondition } | { readonly decision: GateDecision } {
  const input = canonicalObject(request.input);
  const context = request.context === null ? undefined : canonicalObject(request.context);
  if (!input || context === null || !hasItsDigest(request, input)) {
    return { failed: { code: 'digest_mismatch', detail: 'What is stored is not what was asked about.' } };
  }
  if (facts.definition?.digest !== request.definition) {
    return { failed: { code: 'definition_changed', detail: 'The definition of the capability has changed since.' } };
  }
  // The approver decides on an action of the service, not on a licence for the agent.
  const hasRuntime = facts.runtime.runtime !== 'receipt' || hasModelCall(request.capability, input);
  if (request.runs === 'service' && !hasRuntime) {
    return { failed: { code: 'runtime_gone', detail: 'The service was to run the action, and has no runtime for it any more.' } };
  }
  if (!facts.agent) return { failed: { code: 'agent_inactive', detail: 'The agent is gone.' } };
  const call = { capability: request.capability, input: edited ?? input, now: facts.now, tokenCapabilities: 'any' as const };
  return { decision: decideByFacts(facts, context ? { ...call, context } : call) };
}

/**
 * Why the gate's present decision does not let the approved action run. An approval satisfies the mode of the request and milder ones,
 * and `escalate` where the approver decides at the highest level. A timeout never satisfies a quorum.
 */
function failedIn(
  decision: GateDecision,
  request: HitlRequestEntity,
  facts: Facts,
  deciderLevel: EscalationLevel | null,
): FailedPrecondition | undefined {
  switch (decision.kind) {
    case 'refuse':
      return { code: decision.code.toLowerCase(), detail: decision.detail };
    case 'invalid':
      return { code: 'invalid_input', detail: 'The input no longer fits the capability.' };
    case 'block':
      return { code: 'blocked', detail: 'The capability is blocked by policy now.' };
    case 'ask':
    case 'run':
      if (decision.kind === 'ask' && decision.mode === 'escalate' && request.hitlMode === 'propose' && deciderLevel !== HIGHEST_LEVEL) {
        return { code: ESCALATION_NEEDED, detail: 'It now needs a decision of an admin.' };
      }
      return deciderLevel === null && stricterQuorum(request.quorum, quorumByFacts(facts)) !== null
        ? { code: QUORUM_NEEDED, detail: 'Several people have to approve now.' }
        : undefined;
  }
}

/** The digest that binds an approval to what is to run. */
export function digestOf({ action, agentId, capability, definition, id, nonce, runs }: HitlRequestEntity, input: JsonObject): string {
  return actionDigest({
    agentId, capability, definition, hitlRequestId: id, input, nonce, runs, ...(action === null ? {} : { action }),
  });
}

function hasItsDigest(request: HitlRequestEntity, input: JsonObject): boolean {
  return sameDigest(digestOf(request, input), request.digest);
}

/** Parses a text that is the canonical form of an object, otherwise null: only then are the bytes that run those that were hashed. */
function canonicalObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && jcs(value) === text ? value : null;
  } catch {
    return null;
  }
}

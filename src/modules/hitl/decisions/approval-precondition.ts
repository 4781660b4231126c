import { jcs } from '../../../domain/audit/entry/jcs.js';
import { decide, type GateDecision } from '../../../domain/gate/decide.js';
import { actionDigest, sameDigest } from '../../../domain/hitl/digest.js';
import { stricterQuorum } from '../../../domain/hitl/quorum.js';
import { HIGHEST_LEVEL, type EscalationLevel } from '../../../domain/hitl/transition.js';
import { type JsonObject, isJsonObject } from '../../../domain/json.js';
import type { Facts } from '../../authority/facts.query.js';
import type { HitlRequestEntity } from '../requests/hitl-request.entity.js';

/** The obstacle that somebody of a higher level can still remove. */
export const ESCALATION_NEEDED = 'escalation_needed';
/** The obstacle to an approval by time alone. */
export const QUORUM_NEEDED = 'quorum_needed';

/** The obstacle that passes by itself: the log is without its anchors. Nothing ends for it. */
export const UNAVAILABLE = 'unavailable';

export interface FailedPrecondition {
  /** A code for the audit entry. */
  code: string;
  detail: string;
}

/**
 * Why an action that was asked about may not run any more, if so. Asked at approval, and again when it begins.
 *
 * @param deciderLevel the highest level at which whoever approves, or approved, decides, of several the lowest of these; null
 * where nobody did, or time
 */
export function failedPrecondition(request: HitlRequestEntity, facts: Facts, deciderLevel: EscalationLevel | null): FailedPrecondition | undefined {
  const asked = askedAnew(request, facts);
  return 'obstacle' in asked ? asked.obstacle : obstacleIn(asked.decision, request, facts, deciderLevel);
}

/** At which level somebody has to be able to decide: the one where it stands, or the highest where the gate now says `escalate`. */
export function levelNeeded(request: HitlRequestEntity, facts: Facts): EscalationLevel {
  return failedPrecondition(request, facts, 0)?.code === ESCALATION_NEEDED ? HIGHEST_LEVEL : request.escalationLevel;
}

/**
 * What the gate says now, of what is stored or of what somebody would have run instead.
 *
 * @param edited instead of the input that is stored
 */
export function askedAnew(
  request: HitlRequestEntity,
  facts: Facts,
  edited?: JsonObject,
): { readonly obstacle: FailedPrecondition } | { readonly decision: GateDecision } {
  const input = canonicalObject(request.input);
  const context = request.context === null ? undefined : canonicalObject(request.context);
  if (!input || context === null || !hasItsDigest(request, input)) {
    return { obstacle: { code: 'digest_mismatch', detail: 'What is stored is not what was asked about.' } };
  }
  if (facts.definition?.digest !== request.definition) {
    return { obstacle: { code: 'definition_changed', detail: 'The definition of the capability has changed since.' } };
  }
  if (!facts.agent) return { obstacle: { code: 'agent_inactive', detail: 'The agent is gone.' } };
  const decision = decide({
    definition: facts.definition,
    agent: facts.agent,
    stops: facts.stops,
    ...(facts.unanchored ? { unanchored: true } : {}),
    ...(facts.usage ? { used: facts.usage.used } : {}),
    call: {
      capability: request.capability,
      input: edited ?? input,
      now: facts.now,
      tokenCapabilities: 'any',
      ...(context ? { context } : {}),
    },
    ...(facts.grant ? { grant: facts.grant } : {}),
  });
  return { decision };
}

/**
 * An approval satisfies the mode that it was asked under and milder ones; and `escalate` too where it is the approval of
 * somebody who decides at the highest level. Time never stands in for several people.
 */
function obstacleIn(
  decision: GateDecision,
  request: HitlRequestEntity,
  { grant }: Facts,
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
      return deciderLevel === null && stricterQuorum(request.quorum, grant?.quorum ?? null) !== null
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

/** What the text says, if it is the canonical text of an object: only then are the bytes that run the bytes that were hashed. */
function canonicalObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && jcs(value) === text ? value : null;
  } catch {
    return null;
  }
}

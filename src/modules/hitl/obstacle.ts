import { jcs } from '../../domain/audit/jcs.js';
import { decide, type GateDecision } from '../../domain/gate/decide.js';
import { actionDigest, sameDigest } from '../../domain/hitl/digest.js';
import { HIGHEST_LEVEL, type EscalationLevel } from '../../domain/hitl/transition.js';
import { type JsonObject, isJsonObject } from '../../domain/json.js';
import type { Facts } from '../authority/facts.query.js';
import type { HitlRequestEntity } from './hitl-request.entity.js';

/** The obstacle that somebody of a higher level can still remove. */
export const ESCALATION_NEEDED = 'escalation_needed';

export interface Obstacle {
  /** A code for the audit entry. */
  code: string;
  detail: string;
}

/**
 * Why an action that was asked about may not run any more, if so. Asked at approval, and again when it begins.
 *
 * @param deciderLevel the highest level at which whoever approves, or approved, decides; null where nobody did, or time
 */
export function obstacleTo(request: HitlRequestEntity, facts: Facts, deciderLevel: EscalationLevel | null): Obstacle | undefined {
  const input = canonicalObject(request.input);
  const context = request.context === null ? undefined : canonicalObject(request.context);
  if (!input || context === null || !hasItsDigest(request, input)) {
    return { code: 'digest_mismatch', detail: 'What is stored is not what was asked about.' };
  }
  if (facts.definition?.digest !== request.definition) {
    return { code: 'definition_changed', detail: 'The definition of the capability has changed since.' };
  }
  if (!facts.agent) return { code: 'agent_inactive', detail: 'The agent is gone.' };
  const decision = decide({
    definition: facts.definition,
    agent: facts.agent,
    stops: facts.stops,
    ...(facts.usage ? { used: facts.usage.used } : {}),
    call: {
      capability: request.capability,
      input,
      now: facts.now,
      tokenCapabilities: 'any',
      ...(context ? { context } : {}),
    },
    ...(facts.grant ? { grant: facts.grant } : {}),
  });
  return obstacleIn(decision, request, deciderLevel);
}

/**
 * An approval satisfies the mode that it was asked under and milder ones; and `escalate` too where it is the approval of
 * somebody who decides at the highest level.
 */
function obstacleIn(decision: GateDecision, request: HitlRequestEntity, deciderLevel: EscalationLevel | null): Obstacle | undefined {
  switch (decision.kind) {
    case 'refuse':
      return { code: decision.code.toLowerCase(), detail: decision.detail };
    case 'invalid':
      return { code: 'invalid_input', detail: 'The input no longer fits the capability.' };
    case 'block':
      return { code: 'blocked', detail: 'The capability is blocked by policy now.' };
    case 'ask':
      return decision.mode === 'escalate' && request.hitlMode === 'propose' && deciderLevel !== HIGHEST_LEVEL
        ? { code: ESCALATION_NEEDED, detail: 'It now needs a decision of an admin.' }
        : undefined;
    case 'run':
      return undefined;
  }
}

function hasItsDigest(request: HitlRequestEntity, input: JsonObject): boolean {
  const { action, agentId, capability, definition, nonce, runs } = request;
  const digest = actionDigest({
    agentId, capability, definition, hitlRequestId: request.id, input, nonce, runs, ...(action === null ? {} : { action }),
  });
  return sameDigest(digest, request.digest);
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

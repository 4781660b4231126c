import type { GateDecision, Reason } from './decide.js';
import type { Use } from './limits.js';
import { HITL_MODES, isHighRisk, type HitlMode, type RiskLevel, strictest } from './vocabulary.js';

/** What the gate would answer to another agent of a task's chain, which delegated the call. */
export interface Delegator {
  readonly agentId: string;
  readonly riskLevel: RiskLevel;
  /** The grant by which it may; where it has none, its decision refuses. */
  readonly grantId?: string;
  readonly decision: GateDecision;
}

/**
 * The decision about a task's call: it can do no more than every agent of its chain may (contract, section 8). Any refusal refuses, the
 * strictest mode holds, and each grant's limits count; a grant that several agents of the chain share counts once.
 *
 * @param own the decision for the agent that acts
 * @param ownGrantId its grant
 * @param delegators the agents before it, the first first
 */
export function decideChain(own: GateDecision, ownGrantId: string | undefined, delegators: readonly Delegator[]): GateDecision {
  if (own.kind === 'refuse' || own.kind === 'invalid') return own;
  const flagged = own.flagged || delegators.some(({ riskLevel }) => isHighRisk(riskLevel));
  for (const { agentId, decision } of delegators) {
    if (decision.kind === 'refuse') {
      const detail = `Agent ${agentId}, which delegated it, may not do it: ${decision.detail}`;
      return { ...decision, recorded: decision.code !== 'UNAVAILABLE', detail, reasons: reasonsOf(agentId, decision), flagged };
    }
    if (decision.kind === 'invalid') return { ...decision, flagged };
  }
  const all = [own, ...delegators.map(({ decision }) => decision)] as readonly Exclude<GateDecision, { kind: 'refuse' | 'invalid' }>[];
  const reasons = [...own.reasons, ...delegators.flatMap(({ agentId, decision }) => reasonsOf(agentId, decision))];
  const block = all.find((one) => one.kind === 'block');
  // The limits that are named to the caller are those of its own grant.
  const byLimits = all.every((one) => one.kind !== 'block' || one.byLimits);
  if (block) return { ...block, byLimits, limits: own.kind === 'block' ? own.limits : [], reasons, flagged };
  const permitted = all as readonly Extract<GateDecision, { kind: 'ask' | 'run' }>[];
  const uses = usesOf(permitted, ownGrantId, delegators);
  const effectiveMode = strictest('auto', ...permitted.map((one) => one.effectiveMode));
  if (asks(effectiveMode)) {
    return { kind: 'ask', effectiveMode, mode: effectiveMode, reasons, uses, limits: own.kind === 'ask' ? own.limits : [], flagged };
  }
  const mode = effectiveMode === 'notify' ? 'notify' : 'auto';
  return { kind: 'run', effectiveMode, mode, notify: mode === 'notify', reasons, uses, flagged };
}

function asks(mode: HitlMode): mode is 'propose' | 'escalate' {
  return HITL_MODES.indexOf(mode) >= HITL_MODES.indexOf('propose');
}

function reasonsOf(agentId: string, { reasons }: GateDecision): Reason[] {
  return reasons.map(({ rule, detail }) => ({ rule, detail: `${agentId}: ${detail}` }));
}

function usesOf(
  [own, ...others]: readonly { readonly uses: readonly Use[] }[], ownGrantId: string | undefined, delegators: readonly Delegator[],
): Use[] {
  const counted = new Set([ownGrantId]);
  const uses = [...own!.uses];
  others.forEach((decision, i) => {
    const { grantId } = delegators[i]!;
    if (grantId === undefined || counted.has(grantId)) return;
    counted.add(grantId);
    uses.push(...decision.uses.map((use) => ({ ...use, grantId })));
  });
  return uses;
}

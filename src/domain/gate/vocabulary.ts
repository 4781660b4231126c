/**
 * The words of the gate. Five modes decide what happens with a call; a grant may also carry one of three shorter
 * words that are turned into a mode at each call (interface, section 1).
 */
export const HITL_MODES = ['auto', 'notify', 'propose', 'escalate', 'block'] as const;
export type HitlMode = (typeof HITL_MODES)[number];

export const GRANT_WORDS = [...HITL_MODES, 'never', 'always', 'on_risk'] as const;
export type GrantWord = (typeof GRANT_WORDS)[number];

/** What the modes and the words mean, for whoever wrote another one. docs/glossary.md explains them at length. */
export const MODES_MEAN = 'auto runs at once, notify runs and people hear of it, propose asks a person, escalate asks an admin, ' +
  'block refuses';
export const WORDS_MEAN = `${MODES_MEAN}; never means never ask, always means always ask, on_risk asks if the risk is high or above`;

export const RISK_LEVELS = ['minimal', 'limited', 'high', 'unacceptable'] as const;
export type RiskLevel = (typeof RISK_LEVELS)[number];

export const TIMEOUT_ACTIONS = ['reject', 'approve', 'escalate', 'notify_only'] as const;
export type TimeoutAction = (typeof TIMEOUT_ACTIONS)[number];

/** The order auto < notify < propose < escalate < block, by index. */
export function strictness(mode: HitlMode): number {
  return HITL_MODES.indexOf(mode);
}

/** The strictest of some modes. Order and repetition do not matter, so conditions have no order either. */
export function strictest(first: HitlMode, ...others: readonly HitlMode[]): HitlMode {
  return others.reduce((strict, mode) => (strictness(mode) > strictness(strict) ? mode : strict), first);
}

/** Risk `high` or above: `on_risk` then asks a human, and everything the agent does is flagged. */
export function isHighRisk(riskLevel: RiskLevel): boolean {
  return riskLevel === 'high' || riskLevel === 'unacceptable';
}

/** The mode that a grant's word means for an agent of this risk level, at this call. */
export function modeOfWord(word: GrantWord, riskLevel: RiskLevel): HitlMode {
  switch (word) {
    case 'never':
      return 'auto';
    case 'always':
      return 'propose';
    case 'on_risk':
      return isHighRisk(riskLevel) ? 'propose' : 'auto';
    default:
      return word;
  }
}

export function isGrantWord(value: unknown): value is GrantWord {
  return (GRANT_WORDS as readonly unknown[]).includes(value);
}

export function isRiskLevel(value: unknown): value is RiskLevel {
  return (RISK_LEVELS as readonly unknown[]).includes(value);
}

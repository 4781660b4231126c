import type { Quorum } from '../hitl/quorum.js';
import type { Reminder } from '../hitl/reminders.js';
import type { JsonObject } from '../json.js';
import { isHardcoded } from './catalogue.js';
import { evaluateCondition, type Condition, type ConditionFacts } from './conditions.js';
import { type Connector, connectorErrors, type InputError } from './connector.js';
import { decidedInput } from './decided-input.js';
import { validateInput } from './input-schema.js';
import { compareLimits, type Limit, type ReachedLimit, type UsedUp, type Use } from './limits.js';
import {
  isHighRisk,
  modeOfWord,
  strictest,
  type GrantWord,
  type HitlMode,
  type RiskLevel,
  type TimeoutAction,
} from './vocabulary.js';

export interface CapabilityFacts {
  readonly name: string;
  readonly hardcoded: boolean;
  readonly inputSchema?: JsonObject;
  readonly connector?: Connector;
  /** What `definitionDigest` says of this definition. */
  readonly digest: string;
}

export interface GrantFacts {
  readonly id: string;
  readonly version: number;
  readonly hitlMode: GrantWord;
  readonly expiresAt?: Date;
  readonly revokedAt?: Date;
  readonly conditions: readonly Condition[];
  readonly limits: readonly Limit[];
  /** The team that holds it, where that is not the agent itself. */
  readonly teamId?: string;
  readonly timeoutSeconds: number;
  readonly timeoutAction: TimeoutAction;
  /** How many people have to approve what it asks about, where that is more than one. */
  readonly quorum?: Quorum;
  readonly reminders: readonly Reminder[];
}

export interface AgentFacts {
  readonly id: string;
  readonly riskLevel: RiskLevel;
  /** Only `active` may act. */
  readonly status: string;
  readonly tags: readonly string[];
}

export interface GateCall {
  readonly capability: string;
  readonly input: JsonObject;
  readonly context?: JsonObject;
  readonly action?: string;
  /** The token's `capabilities`; `any` where no agent token stands behind the call (root, an approval, a retry). */
  readonly tokenCapabilities: readonly string[] | 'any';
  /** The database's clock. */
  readonly now: Date;
  /** For calls inside the process only; it never reaches here from a request and never helps a hardcoded capability. */
  readonly skipHitl?: boolean;
}

/** Everything a decision rests on. `definition` is absent for a name that the catalogue does not have. */
export interface GateQuestion {
  readonly definition?: CapabilityFacts;
  readonly grant?: GrantFacts;
  readonly agent: AgentFacts;
  /** The stops that hold this agent at this moment. */
  readonly stops: readonly { readonly id: string }[];
  /** Whether the log has been without an anchor for longer than the installation allows for what is hardcoded. */
  readonly unanchored?: boolean;
  /** What the grant's limits are compared with, apart from this call; absent where it has none. */
  readonly used?: UsedUp;
  readonly call: GateCall;
}

export type ReasonRule =
  | 'token' | 'stop' | 'agent_status' | 'grant' | 'input_schema' | 'connector_input'
  | 'hardcoded' | 'unanchored' | 'grant_mode' | 'condition' | 'limit' | 'skip_hitl' | 'task';

/** One step that decided. It stands in the audit entry, so it never repeats a value of the input. */
export interface Reason {
  readonly rule: ReasonRule;
  readonly detail: string;
}

export type GateRefusal = 'CAPABILITY_NOT_GRANTED' | 'CAPABILITY_NOT_IN_TOKEN' | 'STOPPED' | 'AGENT_INACTIVE' | 'UNAVAILABLE' | 'FORBIDDEN';

/** `flagged`: the agent's risk is high or above, so the execution and its entries are marked. */
export type GateDecision = { readonly reasons: readonly Reason[]; readonly flagged: boolean } & (
  | {
      readonly kind: 'refuse';
      readonly code: GateRefusal;
      /**
       * False when the token lacks the capability: such an attempt leaves no audit entry (interface, section 6); and while the
       * log is without an anchor, which says nothing of the agent and passes.
       */
      readonly recorded: boolean;
      readonly detail: string;
    }
  | { readonly kind: 'invalid'; readonly code: 'INVALID_INPUT'; readonly errors: readonly InputError[] }
  | {
      readonly kind: 'block';
      readonly effectiveMode: 'block';
      readonly reason: typeof BLOCKED;
      /** Without its limits the grant would not block. */
      readonly byLimits: boolean;
      readonly limits: readonly ReachedLimit[];
    }
  | {
      readonly kind: 'ask';
      readonly effectiveMode: HitlMode;
      readonly mode: 'propose' | 'escalate';
      readonly uses: readonly Use[];
      /** Limits of the grant that the call goes past. */
      readonly limits: readonly ReachedLimit[];
    }
  | {
      readonly kind: 'run';
      readonly effectiveMode: HitlMode;
      readonly mode: 'auto' | 'notify';
      readonly notify: boolean;
      /** What it adds to what the limits of its grant count; nothing where it has none. */
      readonly uses: readonly Use[];
    }
);

export const BLOCKED = 'capability blocked by policy';

/**
 * The gate's decision over facts that were read, without any effect (interface, section 1, gate rules 1–5 and 7–9).
 * The checks stand in a fixed order: token, stop, agent, grant, anchors, input schema, connector's placeholders, mode.
 */
export function decide(question: GateQuestion): GateDecision {
  const { definition, agent, stops, call } = question;
  const flagged = isHighRisk(agent.riskLevel);
  const refuse = (code: GateRefusal, rule: ReasonRule, detail: string, recorded = true): GateDecision =>
    ({ kind: 'refuse', code, recorded, detail, reasons: [{ rule, detail }], flagged });
  const grant = activeGrant(question.grant, call.now);

  if (call.tokenCapabilities !== 'any' && !call.tokenCapabilities.includes(call.capability)) {
    return definition && grant
      ? refuse('CAPABILITY_NOT_IN_TOKEN', 'token', NOT_IN_TOKEN, false)
      : refuse('CAPABILITY_NOT_GRANTED', 'token', definition ? 'The token does not hold this capability.' : NO_CAPABILITY, false);
  }
  if (stops.length > 0) return refuse('STOPPED', 'stop', `A stop holds this agent: ${stops.map((stop) => stop.id).join(', ')}.`);
  if (agent.status !== 'active') return refuse('AGENT_INACTIVE', 'agent_status', `The agent is ${agent.status}.`);
  if (!definition || !grant) return refuse('CAPABILITY_NOT_GRANTED', 'grant', whyNoGrant(question));
  if (question.unanchored === true && isProtected(definition)) return refuse('UNAVAILABLE', 'unanchored', UNANCHORED, false);

  const input = decidedInput(call.capability, call.input);
  const invalid = inputProblem(definition, input);
  if (invalid) return { kind: 'invalid', code: 'INVALID_INPUT', ...invalid, flagged };

  const { mode, reasons, uses, limits, byLimits } = effectiveMode(definition, grant, { ...question, call: { ...call, input } });
  if (mode === 'block') return { kind: 'block', effectiveMode: mode, reason: BLOCKED, byLimits, reasons, limits, flagged };
  if (mode === 'auto' || mode === 'notify') {
    return { kind: 'run', effectiveMode: mode, mode, notify: mode === 'notify', reasons, uses, flagged };
  }
  if (call.skipHitl === true && !isProtected(definition)) {
    const skipped: Reason = { rule: 'skip_hitl', detail: 'An internal call of the system goes without a human.' };
    return { kind: 'run', effectiveMode: mode, mode: 'auto', notify: false, reasons: [...reasons, skipped], uses, flagged };
  }
  return { kind: 'ask', effectiveMode: mode, mode, reasons, uses, limits, flagged };
}

/** The mode a grant has for this agent before any call is known: what presenters show as `effectiveMode`. */
export function grantEffectiveMode(
  grant: Pick<GrantFacts, 'hitlMode'>,
  definition: Pick<CapabilityFacts, 'name' | 'hardcoded'>,
  agent: Pick<AgentFacts, 'riskLevel'>,
): HitlMode {
  return isProtected(definition) ? 'escalate' : modeOfWord(grant.hitlMode, agent.riskLevel);
}

const NO_CAPABILITY = 'There is no such capability.';

const NOT_IN_TOKEN =
  'The agent holds this capability, but its token was issued before. Refresh it by POST /api/v1/agents/:id/token/refresh, and acknowledge '
  + 'the changed capabilities in its body; an agent key needs no refreshing.';

const UNANCHORED =
  'The audit log has not reached its anchors for too long, and this capability does not go on without them. Nothing was done.';

// The name counts too: a row that lost its mark must not open a protected capability.
function isProtected(definition: Pick<CapabilityFacts, 'name' | 'hardcoded'>): boolean {
  return definition.hardcoded || isHardcoded(definition.name);
}

/** A revoked grant is no grant, and so is one from the instant of its `expiresAt` on. */
function activeGrant(grant: GrantFacts | undefined, now: Date): GrantFacts | undefined {
  if (!grant || grant.revokedAt) return undefined;
  return grant.expiresAt && grant.expiresAt.getTime() <= now.getTime() ? undefined : grant;
}

function whyNoGrant({ definition, grant }: GateQuestion): string {
  if (!definition) return NO_CAPABILITY;
  if (!grant) return 'The agent has no grant for this capability.';
  return grant.revokedAt ? 'The grant has been revoked.' : 'The grant has expired.';
}

function inputProblem(
  definition: CapabilityFacts,
  input: JsonObject,
): { errors: readonly InputError[]; reasons: readonly Reason[] } | undefined {
  if (definition.inputSchema) {
    const errors = validateInput(definition.inputSchema, input);
    const detail = 'The input does not fit the schema.';
    if (errors.length > 0) return { errors, reasons: [{ rule: 'input_schema', detail }] };
  }
  if (definition.connector) {
    // Before a human is asked: nobody should approve a call that cannot be made.
    const errors = connectorErrors(definition.connector, input);
    const detail = 'The connector cannot be filled in.';
    if (errors.length > 0) return { errors, reasons: [{ rule: 'connector_input', detail }] };
  }
  return undefined;
}

/**
 * Hardcoded is escalate whatever the grant says, `block` included; conditions and limits only tighten, so a hardcoded
 * capability can be blocked by one of these and by nothing else. A condition that cannot be evaluated holds.
 */
function effectiveMode(definition: CapabilityFacts, grant: GrantFacts, { agent, call, used = [] }: GateQuestion) {
  const reasons: Reason[] = [];
  const base = grantEffectiveMode(grant, definition, agent);
  if (isProtected(definition)) {
    reasons.push({ rule: 'hardcoded', detail: 'This capability always escalates.' });
  } else {
    const word = grant.hitlMode === base ? base : `${grant.hitlMode}, which is ${base} at risk ${agent.riskLevel}`;
    reasons.push({ rule: 'grant_mode', detail: `The grant says ${word}.` });
  }
  const modes: HitlMode[] = [];
  const facts: ConditionFacts = { input: call.input, context: call.context, agent, capability: call.capability, now: call.now };
  grant.conditions.forEach((condition, index) => {
    const result = evaluateCondition(condition.when, facts);
    if (result === 'does_not_hold') return;
    modes.push(condition.hitlMode);
    const how = result === 'holds' ? 'holds' : `cannot be evaluated (${result.cannot}), so it holds,`;
    const why = condition.reason === undefined ? '' : `: ${condition.reason}`;
    reasons.push({ rule: 'condition', detail: `Condition ${index + 1} ${how} and asks for ${condition.hitlMode}${why}` });
  });
  const byLimits = strictest(base, ...modes) !== 'block';
  const { reached, uses } = compareLimits(grant.limits, used, facts);
  for (const { mode, detail } of reached) {
    modes.push(mode);
    reasons.push({ rule: 'limit', detail });
  }
  const limits = reached.flatMap(({ limit }) => (limit ? [limit] : []));
  return { mode: strictest(base, ...modes), reasons, uses, limits, byLimits };
}

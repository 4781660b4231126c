import type { Condition } from '../../gate/conditions.js';
import { decide, type GateDecision, type GateQuestion } from '../../gate/decide.js';
import { HITL_MODES, type HitlMode, strictest } from '../../gate/vocabulary.js';
import type { JsonObject } from '../../json.js';
import type { Blanks } from '../entry/open-entry.js';
import { notReplayable, type ReplayResult, RIGHT, UNKNOWN, type Unknown, wrong } from './replay-result.js';
import { type AgentState, mayHaveCredential } from './state/agent-state.js';
import type { DefinitionState } from './state/definition-state.js';
import type { FactsAt } from './state/facts-at.js';
import { ANY_GRANT, type GrantState } from './state/grant-state.js';

/** A call as its entry and those before it in its chain tell it. */
export interface RecordedCall {
  readonly agentId: string;
  readonly capability: string;
  readonly input: JsonObject;
  readonly context: JsonObject | undefined;
  /** What of input and context is erased. */
  readonly erased: { readonly input: Blanks | undefined; readonly context: Blanks | undefined };
  readonly agent: AgentState;
  /** The agent's own grant that is not revoked. */
  readonly own: GrantState | undefined | Unknown;
  /** Grants that were revoked in the part of the chain that is left. */
  readonly revoked: ReadonlySet<string>;
  /** A stop of the agent's own is in force. */
  readonly isStopped: boolean | Unknown;
  /** A token or key of the agent stood behind the call. */
  readonly byAgent: boolean;
}

/** What the entry says was decided. */
export interface RecordedDecision {
  readonly fits: (decision: GateDecision, grant: GrantState | undefined) => boolean;
  readonly isFlagged: boolean;
  readonly grantId?: string | undefined;
  readonly grantVersion?: number | undefined;
  readonly definition?: string | undefined;
  /** Why it was refused or blocked. */
  readonly reason?: string | undefined;
  /** When the window of what it asks ends. */
  readonly expiresAt?: number | undefined;
}

/** Asks the gate once more, with the facts of the decision's basis. */
export function replayDecision(call: RecordedCall, recorded: RecordedDecision, facts: FactsAt): ReplayResult {
  const { agent, capability } = call;
  if (call.byAgent && !mayHaveCredential(agent, capability, facts.at)) return wrong('no token or key of the agent held the capability');
  const definition = facts.definition(capability);
  if (recorded.definition !== undefined && !definition?.isUnknown && definition?.facts.digest !== recorded.definition) {
    return wrong('the capability was not defined as it says');
  }
  const grant = grantInForce(call, recorded, facts);
  const problem = whyNotUnder(grant, recorded, facts.at);
  if (problem !== undefined) return wrong(problem);

  const terms = termsOf(call, grant);
  const ask = (conditions: readonly Condition[]) => decide(questionOf(call, recorded, facts, { definition, grant, conditions }));
  const first = ask(terms.known);
  // Conditions and limits only tighten, so no other answer could have come of those that nobody can tell any more.
  const decisions = [first, ...terms.open.map((mode) =>
    ('effectiveMode' in first ? ask([{ when: 'true', hitlMode: strictest(first.effectiveMode, mode) }]) : first))];
  const fitting = decisions.filter((decision) => recorded.fits(decision, grant));
  if (fitting.length === 0) return wrong(whatItSays(first));
  if (!agent.isKnown) return notReplayable('swept');
  if (fitting.length < decisions.length) return notReplayable(terms.because);
  return isUnchecked(call, definition) ? notReplayable('erased') : RIGHT;
}

/**
 * As the gate chooses: what has not run out before what has, the agent's own before its team's. Where one of them may have been swept, it
 * is taken for the one that the entry names.
 */
export function grantInForce(call: RecordedCall, recorded: RecordedDecision, facts: FactsAt): GrantState | undefined {
  const { own, agent, capability, revoked } = call;
  const team = facts.teamGrant(agent.teamId, capability);
  const candidates = [own, team].flatMap((grant) => (typeof grant === 'object' ? [grant] : []));
  const chosen = candidates.find((grant) => isAlive(grant, facts.at)) ?? candidates[0];
  const isCertain = (own !== UNKNOWN && team !== UNKNOWN) || (chosen === own && isAlive(chosen, facts.at));
  if (isCertain || (chosen && chosen.facts.id === recorded.grantId)) return chosen;
  const isGone = recorded.reason === 'CAPABILITY_NOT_GRANTED' || revoked.has(recorded.grantId ?? '');
  return isGone ? undefined : ANY_GRANT;
}

function isAlive(grant: GrantState | undefined, now: number): boolean {
  return grant !== undefined && (!grant.facts.expiresAt || grant.facts.expiresAt.getTime() > now);
}

/** Why the call cannot have gone under the grant, by what its entry says. */
function whyNotUnder(
  grant: GrantState | undefined, { grantId, grantVersion, expiresAt }: RecordedDecision, at: number,
): string | undefined {
  if (grant?.isUnknown) return undefined;
  if (grantId !== undefined && grant?.facts.id !== grantId) return `grant ${grantId} was not the one that held`;
  if (grantVersion !== undefined && grant?.facts.version !== grantVersion) {
    return `the grant stood at version ${grant?.facts.version ?? 'none'}, not at ${grantVersion}`;
  }
  const isWindow = !grant || expiresAt === undefined || expiresAt === at + grant.facts.timeoutSeconds * 1_000;
  return isWindow ? undefined : `its window is not the ${grant.facts.timeoutSeconds} s that its grant gives`;
}

interface Terms {
  /** Conditions of which everything that they may read is there. */
  readonly known: readonly Condition[];
  /** What the rest of its terms may ask for. */
  readonly open: readonly HitlMode[];
  readonly because: 'erased' | 'limits';
}

/** Conditions are asked where nothing of the call is erased, or not at all; of what limits count the log keeps nothing. */
function termsOf({ erased: { input, context }, agent: { tags, isKnown } }: RecordedCall, grant: GrantState | undefined): Terms {
  const { conditions = [], limits = [] } = grant?.facts ?? {};
  const isWhole = input === undefined && context === undefined && tags !== undefined && isKnown;
  const unasked = isWhole ? [] : conditions;
  const open: readonly HitlMode[] = grant?.isErased
    ? HITL_MODES
    : [...unasked.map(({ hitlMode }) => hitlMode), ...limits.map(({ then }) => then)];
  const isErased = unasked.length > 0 || grant?.isErased === true;
  return { known: isWhole ? conditions : [], open: [...new Set(open)], because: isErased ? 'erased' : 'limits' };
}

interface Found {
  readonly definition: DefinitionState | undefined;
  readonly grant: GrantState | undefined;
  readonly conditions: readonly Condition[];
}

/** What was swept is as the entry has it. */
function questionOf(call: RecordedCall, recorded: RecordedDecision, facts: FactsAt, found: Found): GateQuestion {
  const { agentId, capability, input, context, agent: { riskLevel, status, tags = [] } } = call;
  const { definition, grant, conditions } = found;
  const stops = [call.isStopped, facts.isStopped];
  const isStopped = stops.includes(true) || (stops.includes(UNKNOWN) && recorded.reason === 'STOPPED');
  return {
    agent: {
      id: agentId, tags,
      riskLevel: riskLevel === UNKNOWN ? (recorded.isFlagged ? 'high' : 'limited') : riskLevel,
      status: status === UNKNOWN ? (recorded.reason === 'AGENT_INACTIVE' ? 'deactivated' : 'active') : status,
    },
    call: { capability, input, now: new Date(facts.at), tokenCapabilities: 'any', ...(context ? { context } : {}) },
    stops: isStopped ? [{ id: 'in force' }] : [],
    ...(definition ? { definition: isUnchecked(call, definition) ? bare(definition) : definition.facts } : {}),
    ...(grant ? { grant: { ...grant.facts, limits: [], conditions } } : {}),
  };
}

/** Nobody can tell any more whether the input fits. */
function isUnchecked({ erased }: RecordedCall, definition: DefinitionState | undefined): boolean {
  if (!definition || definition.isErased) return definition !== undefined;
  const { inputSchema, connector } = definition.facts;
  return erased.input !== undefined && (inputSchema !== undefined || connector !== undefined);
}

function bare({ facts: { name, hardcoded, digest } }: DefinitionState): DefinitionState['facts'] {
  return { name, hardcoded, digest };
}

function whatItSays(decision: GateDecision): string {
  switch (decision.kind) {
    case 'refuse':
      return `the gate refuses it: ${decision.detail}`;
    case 'invalid':
      return 'the gate refuses it: the input does not fit the capability';
    case 'block':
      return 'the gate blocks it';
    case 'ask':
      return `the gate asks a person first (${decision.mode})`;
    case 'run':
      return `the gate lets it run (${decision.mode})`;
  }
}

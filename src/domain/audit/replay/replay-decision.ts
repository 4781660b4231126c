import type { Condition } from '../../gate/conditions.js';
import { decide, type GateDecision, type GateQuestion } from '../../gate/decide.js';
import { HITL_MODES, type HitlMode, strictest } from '../../gate/vocabulary.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { number, type OpenEntry, text, timeIn } from '../entry/open-entry.js';
import { notReplayable, type ReplayResult, RIGHT, UNKNOWN, wrong } from './replay-result.js';
import type { AgentChain } from './state/agent-chain.js';
import { mayHaveCredential } from './state/agent-state.js';
import type { DefinitionState } from './state/definition-state.js';
import type { FactsAt } from './state/facts-at.js';
import { ANY_GRANT, type GrantState } from './state/grant-state.js';

/** A decision of the gate about a call. */
export interface RecordedDecision {
  /** The entry with input and context of the call. */
  readonly call: OpenEntry;
  /** The agent's chain up to the decision. */
  readonly own: AgentChain;
  readonly terms: RecordedTerms;
  /** Whether the gate's answer is the one that was recorded. */
  readonly fits: (decision: GateDecision, grant: GrantState | undefined) => boolean;
  /** A token or key of the agent was checked for the call. */
  readonly byAgent?: boolean;
}

/** The members by which an entry names the facts of its decision. */
export interface RecordedTerms {
  readonly isFlagged: boolean;
  readonly grantId: string | undefined;
  readonly grantVersion: number | undefined;
  readonly definition: string | undefined;
  /** Why the call was refused or blocked. */
  readonly reason: string | undefined;
  /** The end of the window of a new request. */
  readonly expiresAt: number | undefined;
  /** Other agents of a task's chain were asked too, and may have made the answer stricter. */
  readonly isDelegated: boolean;
}

export function termsIn(metadata: JsonObject): RecordedTerms {
  return {
    isFlagged: metadata['flagged'] === true, reason: text(metadata, 'reason'), grantId: text(metadata, 'grantId'),
    grantVersion: number(metadata, 'grantVersion'), definition: text(metadata, 'definition'), expiresAt: timeIn(metadata['expiresAt']),
    isDelegated: Array.isArray(metadata['delegators']) && metadata['delegators'].length > 0,
  };
}

/** Asks the gate once more, with the facts of the decision's basis. */
export function replayDecision(recorded: RecordedDecision, facts: FactsAt): ReplayResult {
  const { call, own: { agent }, own, terms, fits } = recorded;
  const capability = call.stored.capability ?? '';
  if (recorded.byAgent && !mayHaveCredential(agent, capability, facts.at)) {
    return wrong('no token or key of the agent held the capability');
  }
  const definition = facts.definition(capability);
  if (terms.definition !== undefined && !definition?.isUnknown && definition?.facts.digest !== terms.definition) {
    return wrong('the capability was not defined as it says');
  }
  const grant = grantInForce(own, capability, terms, facts);
  const problem = whyNotUnder(grant, terms, facts.at);
  if (problem !== undefined) return wrong(problem);

  const { known, open, because } = conditionsOf(recorded, grant);
  const ask = (conditions: readonly Condition[]) => decide(questionOf(recorded, facts, { definition, grant, conditions }));
  const first = ask(known);
  // Conditions and limits only tighten the mode, so those that cannot be evaluated any more lead to no other answers than these.
  const decisions = [first, ...open.map((mode) =>
    ('effectiveMode' in first ? ask([{ when: 'true', hitlMode: strictest(first.effectiveMode, mode) }]) : first))];
  const fitting = decisions.filter((decision) => fits(decision, grant));
  if (fitting.length === 0) return wrong(whatItSays(first));
  if (!agent.isKnown) return notReplayable('swept');
  if (fitting.length < decisions.length) return notReplayable(because);
  // What is said of this agent fits; the chains of the others are not at hand.
  if (terms.isDelegated) return notReplayable('chain');
  return isUnchecked(call, definition) ? notReplayable('erased') : RIGHT;
}

/** As the gate chooses: one that is alive first, then the agent's own. Where one may be swept, it is the one that the entry names. */
export function grantInForce(
  own: AgentChain, capability: string, { grantId, reason }: RecordedTerms, facts: FactsAt,
): GrantState | undefined {
  const [mine, team] = [own.grant(capability), facts.teamGrant(own.agent.teamId, capability)];
  const candidates = [mine, team].flatMap((grant) => (typeof grant === 'object' ? [grant] : []));
  const chosen = candidates.find((grant) => isAlive(grant, facts.at)) ?? candidates[0];
  const isCertain = (mine !== UNKNOWN && team !== UNKNOWN) || (chosen === mine && isAlive(chosen, facts.at));
  if (isCertain || (chosen && chosen.facts.id === grantId)) return chosen;
  return reason === 'CAPABILITY_NOT_GRANTED' || own.revoked.has(grantId ?? '') ? undefined : ANY_GRANT;
}

function isAlive(grant: GrantState | undefined, now: number): boolean {
  return grant !== undefined && (!grant.facts.expiresAt || grant.facts.expiresAt.getTime() > now);
}

/** Why the call cannot have gone under the grant, by what its entry says. */
function whyNotUnder(grant: GrantState | undefined, { grantId, grantVersion, expiresAt }: RecordedTerms, at: number): string | undefined {
  if (grant?.isUnknown) return undefined;
  if (grantId !== undefined && grant?.facts.id !== grantId) return `grant ${grantId} was not the one that held`;
  if (grantVersion !== undefined && grant?.facts.version !== grantVersion) {
    return `the grant stood at version ${grant?.facts.version ?? 'none'}, not at ${grantVersion}`;
  }
  const isWindow = !grant || expiresAt === undefined || expiresAt === at + grant.facts.timeoutSeconds * 1_000;
  return isWindow ? undefined : `its window is not the ${grant.facts.timeoutSeconds} s that its grant gives`;
}

/**
 * Conditions are evaluated where nothing of the call is erased; limits never, since the log has no counts. `open`: other possible modes.
 */
function conditionsOf({ call: { erased }, own: { agent } }: RecordedDecision, grant: GrantState | undefined) {
  const { conditions = [], limits = [] } = grant?.facts ?? {};
  const isWhole = !erased.has('input') && !erased.has('context') && agent.tags !== undefined && agent.isKnown;
  const unasked = isWhole ? [] : conditions;
  const open: readonly HitlMode[] = grant?.isErased
    ? HITL_MODES
    : [...unasked.map(({ hitlMode }) => hitlMode), ...limits.map(({ then }) => then)];
  const isErased = unasked.length > 0 || grant?.isErased === true;
  return { known: isWhole ? conditions : [], open: [...new Set(open)], because: isErased ? 'erased' : 'limits' } as const;
}

interface Found {
  readonly definition: DefinitionState | undefined;
  readonly grant: GrantState | undefined;
  readonly conditions: readonly Condition[];
}

/** Facts that were swept are as the entry has them. */
function questionOf({ call, own, terms: { reason, isFlagged } }: RecordedDecision, facts: FactsAt, found: Found): GateQuestion {
  const { stored: { chain, capability }, metadata: { input, context } } = call;
  const { definition, grant, conditions } = found;
  const { agent: { riskLevel, status, tags = [] } } = own;
  const stops = [own.isStopped, facts.isStopped];
  const isStopped = stops.includes(true) || (stops.includes(UNKNOWN) && reason === 'STOPPED');
  return {
    agent: {
      id: chain, tags,
      riskLevel: riskLevel === UNKNOWN ? (isFlagged ? 'high' : 'limited') : riskLevel,
      status: status === UNKNOWN ? (reason === 'AGENT_INACTIVE' ? 'deactivated' : 'active') : status,
    },
    call: {
      capability: capability ?? '', input: isJsonObject(input) ? input : {}, now: new Date(facts.at), tokenCapabilities: 'any',
      ...(isJsonObject(context) ? { context } : {}),
    },
    stops: isStopped ? [{ id: 'in force' }] : [],
    ...(definition ? { definition: isUnchecked(call, definition) ? bare(definition) : definition.facts } : {}),
    ...(grant ? { grant: { ...grant.facts, limits: [], conditions } } : {}),
  };
}

/** Whether the input can no longer be compared with its schema. */
function isUnchecked({ erased }: OpenEntry, definition: DefinitionState | undefined): boolean {
  if (!definition || definition.isErased) return definition !== undefined;
  const { inputSchema, connector } = definition.facts;
  return erased.has('input') && (inputSchema !== undefined || connector !== undefined);
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

import type { Condition } from '../../gate/conditions.js';
import { type AgentFacts, decide, type GateDecision, type GateQuestion, type GrantFacts } from '../../gate/decide.js';
import { decideChain, type Delegator } from '../../gate/decide-chain.js';
import { HITL_MODES, type HitlMode, strictest } from '../../gate/vocabulary.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import type { DelegatorRecord } from '../catalogue/basis.js';
import { number, type OpenEntry, text, timeIn } from '../entry/open-entry.js';
import { notReplayable, type ReplayResult, RIGHT, UNKNOWN, wrong } from './replay-result.js';
import type { AgentAt } from './state/agent-chain.js';
import { mayHaveCredential } from './state/agent-state.js';
import type { DefinitionState } from './state/definition-state.js';
import type { FactsAt } from './state/facts-at.js';
import { ANY_GRANT, ENDED_GRANT, type GrantState } from './state/grant-state.js';

/** Another agent of a task's chain, by whose rights the acting agent's call was decided, too. */
export interface Link extends Pick<DelegatorRecord, 'agentId' | 'grantId' | 'grantVersion'> {
  readonly at: AgentAt;
}

export interface RecordedDecision {
  /** The entry with input and context of the call. */
  readonly call: OpenEntry;
  /** The acting agent just before the decision. */
  readonly own: AgentAt;
  readonly others: readonly Link[];
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
}

export function termsIn(metadata: JsonObject): RecordedTerms {
  return {
    isFlagged: metadata['flagged'] === true, reason: text(metadata, 'reason'), grantId: text(metadata, 'grantId'),
    grantVersion: number(metadata, 'grantVersion'), definition: text(metadata, 'definition'), expiresAt: timeIn(metadata['expiresAt']),
  };
}

/** Asks the gate once more, with the facts of the decision's basis: about the agent and, of a task, about every agent of its chain. */
export function replayDecision(recorded: RecordedDecision, facts: FactsAt): ReplayResult {
  const { call, own, others, terms, fits } = recorded;
  const capability = call.stored.capability ?? '';
  if (recorded.byAgent && !mayHaveCredential(own.agent, capability, facts.at)) {
    return wrong('no token or key of the agent held the capability');
  }
  const definition = facts.definition(capability);
  if (terms.definition !== undefined && !definition?.isUnknown && definition?.facts.digest !== terms.definition) {
    return wrong('the capability was not defined as it says');
  }
  const mine = askedOf({ agentId: call.stored.chain, at: own, ...terms }, recorded, facts);
  const theirs = others.map((link) => askedOf({ ...terms, expiresAt: undefined, ...NO_GRANT, ...link }, recorded, facts));
  const asked = [mine, ...theirs];
  const problem = asked.flatMap((one) => one.problem ?? []).at(0);
  if (problem !== undefined) return wrong(problem);

  const delegators = theirs.map(({ agent, grant, decide: ask, known }): Delegator =>
    ({ agentId: agent.id, riskLevel: agent.riskLevel, ...(grant ? { grantId: grant.facts.id } : {}), decision: ask(known) }));
  const join = (one: GateDecision) => (delegators.length === 0 ? one : decideChain(one, mine.grant?.facts.id, delegators));
  const first = mine.decide(mine.known);
  // Conditions and limits only tighten the mode, so those that cannot be evaluated any more lead to no other answers than these.
  const tightened = (mode: HitlMode) =>
    ('effectiveMode' in first ? mine.decide([{ when: 'true', hitlMode: strictest(first.effectiveMode, mode) }]) : first);
  const open = asked.flatMap((one) => one.open);
  const decisions = [join(first), ...[...new Set(open)].map((mode) => join(tightened(mode)))];
  const fitting = decisions.filter((decision) => fits(decision, mine.grant));
  if (fitting.length === 0) return wrong(whatItSays(decisions[0]!));
  if ([own, ...others.map(({ at }) => at)].some(({ agent }) => !agent.isKnown)) return notReplayable('swept');
  if (fitting.length < decisions.length) return notReplayable(asked.some((one) => one.because === 'erased') ? 'erased' : 'limits');
  return isUnchecked(call, definition) ? notReplayable('erased') : RIGHT;
}

const NO_GRANT = { grantId: undefined, grantVersion: undefined };

/** What the gate has to be asked about one agent of the chain. */
function askedOf(link: Link & RecordedTerms, recorded: RecordedDecision, facts: FactsAt) {
  const capability = recorded.call.stored.capability ?? '';
  const grant = grantInForce(link.at, capability, link, facts);
  const { known, open, because } = conditionsOf(recorded.call, link.at, grant);
  const agent = agentFactsOf(link);
  const ask = (conditions: readonly Condition[]) =>
    decide(questionOf(recorded, facts, agent, grant && { ...grant.facts, limits: [], conditions }));
  return { agent, grant, known, open, because, problem: whyNotUnder(grant, link, facts.at), decide: ask };
}

/** As the gate chooses: one that is alive first, then the agent's own. Where one may be swept, it is the one that the entry names. */
export function grantInForce(
  own: AgentAt, capability: string, { grantId, reason }: Partial<Pick<RecordedTerms, 'grantId' | 'reason'>>, facts: FactsAt,
): GrantState | undefined {
  const [mine, team] = [own.grant(capability), facts.teamGrant(own.agent.teamId, capability)];
  const candidates = [mine, team].flatMap((grant) => (typeof grant === 'object' ? [grant] : []));
  const chosen = candidates.find((grant) => isAlive(grant, facts.at)) ?? candidates[0];
  const isCertain = (mine !== UNKNOWN && team !== UNKNOWN) || (chosen === mine && isAlive(chosen, facts.at));
  if (isCertain || (chosen && chosen.facts.id === grantId)) return chosen;
  if (own.hasRevoked(grantId ?? '')) return undefined;
  if (reason !== 'CAPABILITY_NOT_GRANTED') return ANY_GRANT;
  // Whichever agent of the chain the reason speaks of, the grant that is named may have run out.
  return grantId === undefined ? undefined : ENDED_GRANT;
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
function conditionsOf({ erased }: OpenEntry, { agent }: AgentAt, grant: GrantState | undefined) {
  const { conditions = [], limits = [] } = grant?.facts ?? {};
  const isWhole = !erased.has('input') && !erased.has('context') && agent.tags !== undefined && agent.isKnown;
  const unasked = isWhole ? [] : conditions;
  const open: readonly HitlMode[] = grant?.isErased
    ? HITL_MODES
    : [...unasked.map(({ hitlMode }) => hitlMode), ...limits.map(({ then }) => then)];
  const isErased = unasked.length > 0 || grant?.isErased === true;
  return { known: isWhole ? conditions : [], open: [...new Set(open)], because: isErased ? 'erased' : 'limits' } as const;
}

/** Facts that were swept are as the entry has them. */
function agentFactsOf({ agentId, at: { agent: { riskLevel, status, tags = [] } }, reason, isFlagged }: Link & RecordedTerms): AgentFacts {
  return {
    id: agentId, tags,
    riskLevel: riskLevel === UNKNOWN ? (isFlagged ? 'high' : 'limited') : riskLevel,
    status: status === UNKNOWN ? (reason === 'AGENT_INACTIVE' ? 'deactivated' : 'active') : status,
  };
}

/** A stop of any agent of the chain holds the call. */
function questionOf(
  { call, own, others, terms: { reason } }: RecordedDecision, facts: FactsAt, agent: AgentFacts, grant: GrantFacts | undefined,
): GateQuestion {
  const { stored: { capability }, metadata: { input, context } } = call;
  const definition = facts.definition(capability ?? '');
  const stops = [facts.isStopped, own.isStopped, ...others.map(({ at }) => at.isStopped)];
  const isStopped = stops.includes(true) || (stops.includes(UNKNOWN) && reason === 'STOPPED');
  return {
    agent,
    call: {
      capability: capability ?? '', input: isJsonObject(input) ? input : {}, now: new Date(facts.at), tokenCapabilities: 'any',
      ...(isJsonObject(context) ? { context } : {}),
    },
    stops: isStopped ? [{ id: 'in force' }] : [],
    ...(definition ? { definition: isUnchecked(call, definition) ? bare(definition) : definition.facts } : {}),
    ...(grant ? { grant } : {}),
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

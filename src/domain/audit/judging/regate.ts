import { type Condition, conditionTime } from '../../gate/conditions.js';
import { decide, type GateDecision, type GateQuestion } from '../../gate/decide.js';
import { HITL_MODES, type HitlMode } from '../../gate/vocabulary.js';
import type { JsonObject } from '../../json.js';
import { type AgentView, mayBe, mayHold } from './agent-view.js';
import type { DefinitionView } from './definition-view.js';
import { ANY_GRANT, type GrantView } from './grant-view.js';
import { around, type Moment } from './overlap.js';
import type { SharedView } from './shared-view.js';
import { type ErasedCall, isUnsure } from './unsure-conditions.js';
import { notReplayable, type ReplayVerdict, RIGHT, UNKNOWN, type Unknown, wrong } from './verdict.js';

/** A call as its entry and those before it in its chain tell it. What other chains tell is asked of the shared facts. */
export interface AskedGate {
  readonly organizationId: string;
  readonly agentId: string;
  readonly capability: string;
  /** Stamped, in milliseconds. */
  readonly at: number;
  readonly input: JsonObject;
  readonly context: JsonObject | undefined;
  /** What of input and context is erased. */
  readonly erased: Pick<ErasedCall, 'input' | 'context'>;
  readonly agent: AgentView;
  /** The agent's own grant that is not revoked. */
  readonly own: GrantView | undefined | Unknown;
  /** Grants that were revoked in the part of the chain that is left. */
  readonly revoked: ReadonlySet<string>;
  /** A stop of the agent's own is in force. */
  readonly isStopped: boolean | Unknown;
  /** A token stood behind the call. */
  readonly byToken: boolean;
}

/** What the entry says was decided. */
export interface SaidGate {
  readonly fits: (decision: GateDecision) => boolean;
  readonly grantId?: string | undefined;
  readonly grantVersion?: number | undefined;
  readonly definition?: string | undefined;
  /** When the window of what it asks ends. */
  readonly expiresAt?: number | undefined;
}

interface World {
  readonly agent: ReturnType<typeof mayBe>[number];
  readonly own: GrantView | undefined;
  readonly definition: DefinitionView | undefined;
  readonly team: GrantView | undefined;
  readonly isStopped: boolean;
  readonly now: number;
  /** What a condition asks for that hangs on the very second: whether it held, nobody can tell any more. */
  readonly bySecond: HitlMode | undefined;
}

/**
 * Asks the gate once more, of what the log tells. Right if it was right in some order in which overlapping commits may have come; wrong
 * only if it was so in none. Of an agent whose registration, or what it was before its transfer, was swept nobody can tell more than that
 * it may have been right, whatever the agent was.
 *
 * @param moment between which times it was committed
 */
export function regate(asked: AskedGate, said: SaidGate, shared: SharedView, moment: Moment = around(asked.at)): ReplayVerdict {
  if (asked.byToken && !mayHold(asked.agent, asked.capability, moment.from)) return wrong('no token of the agent held the capability');
  let unsure: ReplayVerdict | undefined;
  let no: ReplayVerdict | undefined;
  for (const world of worldsOf(asked, shared, moment)) {
    const found = inWorld(asked, said, world, moment);
    if (found.kind !== 'wrong' && !asked.agent.isKnown) return notReplayable('swept');
    if (found.kind === 'right') return RIGHT;
    if (found.kind === 'wrong') no ??= found;
    else unsure ??= found;
  }
  return unsure ?? no!;
}

/** The grant under which the call may have gone, first of those that hold: for what else depends on its terms. */
export function grantsAt(asked: AskedGate, shared: SharedView, moment: Moment = around(asked.at)): (GrantView | undefined)[] {
  return [...worldsOf(asked, shared, moment)].map(heldGrant);
}

function* worldsOf(asked: AskedGate, shared: SharedView, moment: Moment): Generator<World> {
  const { organizationId, capability, agent, own, isStopped, at } = asked;
  const stopped = shared.stopped(organizationId, moment);
  const surely = isStopped === true || stopped.surely;
  const stops = surely ? [true] : isStopped === UNKNOWN || stopped.possibly ? [false, true] : [false];
  const definitions = shared.definitions(organizationId, capability, moment);
  const teams = shared.teamGrants(organizationId, agent.teamId, capability, moment);
  const owns = own === UNKNOWN ? [ANY_GRANT, undefined] : [own];
  const conditions = [...owns, ...teams].flatMap((grant) => grant?.facts.conditions ?? []);
  const modes = [undefined, ...conditions.filter(isBySecond).map(({ hitlMode }) => hitlMode)];
  for (const now of instantsOf(at, moment, conditions)) {
    for (const definition of definitions) {
      for (const team of teams) {
        for (const isHeld of stops) {
          for (const one of owns) {
            for (const is of mayBe(agent)) {
              for (const bySecond of modes) yield { agent: is, own: one, definition, team, isStopped: isHeld, now, bySecond };
            }
          }
        }
      }
    }
  }
}

const isBySecond = ({ when }: Condition): boolean => conditionTime(when) === 'finely';

const MINUTE_MS = 60_000;
/** An entry is stamped so long, about, after its decision. */
const STAMPED_AFTER_MS = [1, 10, 100, 1_000];

/** Times at which the gate may have decided, the likeliest first: what conditions say of time is one of what they say at these. */
function* instantsOf(at: number, { from, to }: Moment, conditions: readonly Condition[]): Generator<number> {
  yield at;
  const isOfTime = conditions.some(({ when }) => conditionTime(when) === 'in steps');
  if (isOfTime) for (const before of STAMPED_AFTER_MS) yield at - before;
  yield from;
  yield to;
  if (!isOfTime) return;
  for (let minute = Math.ceil(from / MINUTE_MS) * MINUTE_MS; minute <= to; minute += MINUTE_MS) yield minute;
}

/** As the gate chooses: what has not run out before what has, the agent's own before its team's. */
function heldGrant({ own, team, now }: World): GrantView | undefined {
  const isAlive = ({ facts }: GrantView) => !facts.expiresAt || facts.expiresAt.getTime() > now;
  return [own, team].find((grant) => grant && isAlive(grant)) ?? own ?? team;
}

function inWorld(asked: AskedGate, said: SaidGate, world: World, moment: Moment): ReplayVerdict {
  const { definition } = world;
  const grant = heldGrant(world);
  if (said.definition !== undefined && !definition?.isUnknown && definition?.facts.digest !== said.definition) {
    return wrong('the capability was not defined as it says');
  }
  if (grant?.isUnknown) {
    if (asked.revoked.has(said.grantId ?? '')) return wrong(`grant ${said.grantId} was revoked`);
  } else {
    if (said.grantId !== undefined && grant?.facts.id !== said.grantId) return wrong(`grant ${said.grantId} was not the one that held`);
    if (said.grantVersion !== undefined && grant?.facts.version !== said.grantVersion) {
      return wrong(`the grant stood at version ${grant?.facts.version ?? 'none'}, not at ${said.grantVersion}`);
    }
    if (grant && said.expiresAt !== undefined && !isWindowOf(grant, said.expiresAt, moment)) {
      return wrong(`its window is not the ${grant.facts.timeoutSeconds} s that its grant gives`);
    }
  }
  const needsInput = definition?.facts.inputSchema !== undefined || definition?.facts.connector !== undefined;
  const lacksInput = needsInput && asked.erased.input !== undefined;
  const isUnchecked = definition?.isErased === true || lacksInput;
  const { questions, isBlank } = questionsOf(asked, grant, world, isUnchecked);
  const decisions = questions.map(decide);
  const fitting = decisions.filter(said.fits).length;
  if (fitting === decisions.length) return isUnchecked ? notReplayable('erased') : RIGHT;
  if (fitting > 0) return notReplayable(isBlank ? 'erased' : 'limits');
  return wrong(whatItSays(decisions[0]!));
}

/** Counted from when it was asked. */
function isWindowOf({ facts: { timeoutSeconds } }: GrantView, expiresAt: number, { from, to }: Moment): boolean {
  const askedAt = expiresAt - timeoutSeconds * 1_000;
  return askedAt >= from && askedAt <= to;
}

interface Questions {
  readonly questions: GateQuestion[];
  /** Whether something that was erased could decide. */
  readonly isBlank: boolean;
}

/**
 * The question as it stands where all is known. Else one for each mode that what is not known (a condition over erased values, a limit's
 * count) could have asked for, and one without: they only tighten, so nothing else could have come of it.
 */
function questionsOf(asked: AskedGate, grant: GrantView | undefined, world: World, isUnchecked: boolean): Questions {
  const { definition, isStopped, now, bySecond, agent: { riskLevel, status } } = world;
  const { capability, agentId, input, context } = asked;
  const agent = { id: agentId, riskLevel, status, tags: asked.agent.tags ?? [] };
  const call = { capability, input, now: new Date(now), tokenCapabilities: 'any' as const, ...(context ? { context } : {}) };
  const question: GateQuestion = {
    agent, call, stops: isStopped ? [{ id: 'in force' }] : [],
    ...(definition ? { definition: isUnchecked ? bare(definition) : definition.facts } : {}),
  };
  if (!grant) return { questions: [question], isBlank: false };
  const { facts } = grant;
  const erased = { ...asked.erased, tags: asked.agent.tags === undefined };
  const unsure = facts.conditions.filter(({ when }) => isUnsure(when, { ...call, agent }, erased));
  const known = facts.conditions.filter((condition) => !unsure.includes(condition) && !isBySecond(condition));
  if (bySecond !== undefined) known.push({ when: 'true', hitlMode: bySecond });
  const unknown = new Set<HitlMode>([...facts.limits.map(({ then }) => then), ...unsure.map(({ hitlMode }) => hitlMode)]);
  if (grant.isErased) for (const mode of HITL_MODES) unknown.add(mode);
  const questions = [undefined, ...unknown].map((mode) => ({
    ...question,
    grant: { ...facts, limits: [], conditions: mode === undefined ? known : [...known, { when: 'true', hitlMode: mode }] },
  }));
  return { questions, isBlank: unsure.length > 0 || grant.isErased };
}

function bare({ facts: { name, hardcoded, digest } }: DefinitionView): GateQuestion['definition'] {
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

import { renderConnector } from '../../gate/connector.js';
import { type CapabilityFacts, decide, type GateDecision, type GateQuestion } from '../../gate/decide.js';
import { validateInput } from '../../gate/input-schema.js';
import { HITL_MODES, type HitlMode, strictest } from '../../gate/vocabulary.js';
import type { JsonObject } from '../../json.js';
import { mayBe, mayHaveToken } from './state/agent-state.js';
import { AskedConditions } from './superseded/asked-conditions.js';
import type { DefinitionState } from './state/definition-state.js';
import { Effort } from './superseded/effort.js';
import type { GrantState } from './state/grant-state.js';
import { around, type Moment } from './superseded/overlap.js';
import { type AskedWhen, type Held, isAlive, possibleDefinitions, possiblyHeld, possibleStops } from './superseded/possible-worlds.js';
import type { SharedView } from './superseded/shared-view.js';
import type { ErasedCall } from './superseded/unsure-conditions.js';
import { notReplayable, type ReplayResult, RIGHT, wrong } from './replay-result.js';

/** A call as its entry and those before it in its chain tell it. What other chains tell is asked of the shared facts. */
export interface ReplayedCall extends AskedWhen {
  readonly agentId: string;
  readonly input: JsonObject;
  readonly context: JsonObject | undefined;
  /** What of input and context is erased. */
  readonly erased: Pick<ErasedCall, 'input' | 'context'>;
  /** Grants that were revoked in the part of the chain that is left. */
  readonly revoked: ReadonlySet<string>;
  /** A token stood behind the call. */
  readonly byToken: boolean;
}

/** What the entry says was decided. */
export interface RecordedDecision {
  readonly fits: (decision: GateDecision) => boolean;
  readonly grantId?: string | undefined;
  readonly grantVersion?: number | undefined;
  readonly definition?: string | undefined;
  /** When the window of what it asks ends. */
  readonly expiresAt?: number | undefined;
}

/** What of the gate's facts others' chains tell, but for the grant. */
interface Place {
  readonly definition: DefinitionState | undefined;
  readonly isStopped: boolean;
}

/** What the gate goes by in one order in which commits may have come. */
interface World extends Place {
  readonly agent: PossibleAgent;
  readonly grant: GrantState | undefined;
  readonly now: number;
}

/** Worlds of which what conditions and limits come to decides. */
interface OpenWorlds {
  readonly held: Held;
  readonly agent: PossibleAgent;
  readonly places: readonly Place[];
}

type PossibleAgent = ReturnType<typeof mayBe>[number];

/**
 * Asks the gate once more, of what the log tells. Right if it was right in some order in which overlapping commits may have come; wrong
 * only if it was so in none. Where there are more orders than can be tried, nobody knows. Of an agent whose registration, or what it was
 * before its transfer, was swept nobody can tell more than that it may have been right, whatever the agent was.
 *
 * @param moment between which times it was committed
 */
export function replayDecision(
  asked: ReplayedCall, said: RecordedDecision, shared: SharedView, moment: Moment = around(asked.at), effort = new Effort(),
): ReplayResult {
  if (asked.byToken && !mayHaveToken(asked.agent, asked.capability, moment.from)) return wrong('no token of the agent held the capability');
  let unsure: ReplayResult | undefined;
  let no: ReplayResult | undefined;
  for (const found of new Regate(asked, said, effort).verdicts(shared, moment)) {
    if (found.kind !== 'wrong' && !asked.agent.isKnown) return notReplayable('swept');
    if (found.kind === 'right') return RIGHT;
    if (found.kind === 'wrong') no ??= found;
    else unsure ??= found;
  }
  return unsure ?? no!;
}

/** What a definition, a world, and a grant that is not the one that is meant take to be asked, beside conditions. */
const CHECKING = 100_000;
const DECIDING = 100;
const LOOKING = 10;

/** What the conditions and limits of a grant come to. */
interface Terms {
  /** What may surely have been asked for at least: the strictest of what is known, with one that hangs on the second and without any. */
  readonly least: readonly (HitlMode | undefined)[];
  /** What nobody knows whether it was asked for: a condition over erased values, a limit's count. */
  readonly unknown: readonly HitlMode[];
  /** Whether something that was erased could decide. */
  readonly isBlank: boolean;
}

/** A definition without what was asked of it already. */
interface Checked {
  readonly facts: CapabilityFacts | undefined;
  /** Nobody can tell any more whether the input fits. */
  readonly isUnchecked: boolean;
}

const FITS_NOTHING: JsonObject = { not: {} };

class Regate {
  private readonly conditions: AskedConditions;
  private readonly checked = new Map<DefinitionState | undefined, Checked>();

  constructor(
    private readonly asked: ReplayedCall,
    private readonly said: RecordedDecision,
    private readonly effort: Effort,
  ) {
    const { capability, input, context, agent } = asked;
    const call = { capability, input, ...(context ? { context } : {}) };
    this.conditions = new AskedConditions(call, { ...asked.erased, tags: agent.tags === undefined }, effort);
  }

  /**
   * In each order that makes a difference, the likeliest first. What differs in nothing that decides is asked once. Conditions are asked
   * after all else, and only where what they come to decides.
   */
  *verdicts(shared: SharedView, moment: Moment): Generator<ReplayResult> {
    const { asked } = this;
    const definitions = possibleDefinitions(asked, shared, moment).filter((one) => this.isDefinedAsSaid(one));
    if (definitions.length === 0) {
      yield wrong('the capability was not defined as it says');
      return;
    }
    const stops = possibleStops(asked, shared, moment);
    const places = definitions.flatMap((definition) => stops.map((isStopped): Place => ({ definition, isStopped })));
    const open: OpenWorlds[] = [];
    yield* this.unasked(possiblyHeld(asked, shared, moment), places, moment, open);
    yield* this.evaluated(open);
  }

  /** What is decided whatever conditions and limits come to. @param open gets what is not */
  private *unasked(helds: readonly Held[], places: readonly Place[], moment: Moment, open: OpenWorlds[]): Generator<ReplayResult> {
    const agents = mayBe(this.asked.agent);
    const undecided = new Map<string, readonly Place[]>();
    for (const held of helds) {
      this.effort.add(LOOKING);
      const problem = this.whyNotUnder(held.grant, moment);
      if (problem !== undefined) {
        yield wrong(problem);
        continue;
      }
      const terms = anyTermsOf(held.grant);
      for (const agent of agents) {
        const key = keyOf(held.grant, agent, terms, held.from);
        let left = undecided.get(key);
        if (!left) undecided.set(key, (left = yield* this.openAmong(places, { agent, grant: held.grant, now: held.from }, terms)));
        if (left.length > 0) open.push({ held, agent, places: left });
      }
    }
  }

  /** Where there is no effort left to ask, all of them stay open. */
  private *openAmong(
    places: readonly Place[], rest: Omit<World, keyof Place>, terms: Terms,
  ): Generator<ReplayResult, readonly Place[]> {
    const open: Place[] = [];
    for (const place of places) {
      if (this.effort.isSpent) return places;
      for (const verdict of this.inWorld({ ...rest, ...place }, terms)) {
        if (verdict.kind === 'not_replayable') open.push(place);
        else yield verdict;
      }
    }
    return open;
  }

  /** The first is asked to its end, whatever it takes. */
  private *evaluated(open: readonly OpenWorlds[]): Generator<ReplayResult> {
    const seen = new Set<string>();
    for (const { held, agent, places } of open) {
      for (const now of this.instantsOf(held)) {
        if (this.effort.isSpent && seen.size > 0) {
          yield notReplayable('orders');
          return;
        }
        this.effort.add(DECIDING);
        const terms = this.termsOf(held.grant, agent, now);
        const known = keyOf(held.grant, agent, terms, now);
        if (seen.has(known)) continue;
        seen.add(known);
        for (const [i, place] of places.entries()) {
          if (this.effort.isSpent && i > 0) {
            yield notReplayable('orders');
            return;
          }
          yield* this.inWorld({ ...place, agent, grant: held.grant, now }, terms);
        }
      }
    }
  }

  /**
   * Of each stretch of time through which no condition of the grant changes one time, the likeliest first: a full minute begins one, and so
   * does each time at which a comparison turns.
   */
  private *instantsOf({ grant, from, to }: Held): Generator<number> {
    const { at } = this.asked;
    const likeliest = from <= at && at < to ? at : from;
    yield likeliest;
    const stepwise = (grant?.facts.conditions ?? []).filter((condition) => this.conditions.time(condition) === 'in steps');
    if (stepwise.length === 0) return;
    const turns = stepwise.flatMap((condition) => this.conditions.turns(condition, from, to - 1));
    // Else there may be turns that are not known.
    const isAll = !this.effort.isSpent;
    const begins = [...new Set([from, ...fullMinutes(from, to - 1), ...turns])].sort((one, other) => one - other);
    for (const [i, begin] of begins.entries()) {
      const isTold = isAll && begin <= likeliest && likeliest < (begins[i + 1] ?? to);
      if (!isTold) yield begin;
    }
  }

  private isDefinedAsSaid(definition: DefinitionState | undefined): boolean {
    const said = this.said.definition;
    return said === undefined || definition?.isUnknown === true || definition?.facts.digest === said;
  }

  /** Why the call cannot have gone under the grant, by what its entry says. */
  private whyNotUnder(grant: GrantState | undefined, moment: Moment): string | undefined {
    const { grantId, grantVersion, expiresAt } = this.said;
    if (grant?.isUnknown) return this.asked.revoked.has(grantId ?? '') ? `grant ${grantId} was revoked` : undefined;
    if (grantId !== undefined && grant?.facts.id !== grantId) return `grant ${grantId} was not the one that held`;
    if (grantVersion !== undefined && grant?.facts.version !== grantVersion) {
      return `the grant stood at version ${grant?.facts.version ?? 'none'}, not at ${grantVersion}`;
    }
    const isWindow = !grant || expiresAt === undefined || isWindowOf(grant, expiresAt, moment);
    return isWindow ? undefined : `its window is not the ${grant.facts.timeoutSeconds} s that its grant gives`;
  }

  private termsOf(grant: GrantState | undefined, agent: PossibleAgent, now: number): Terms {
    if (!grant) return NO_TERMS;
    const { facts: { conditions, limits }, isErased } = grant;
    const { agentId, agent: { tags = [] } } = this.asked;
    const facts = { id: agentId, riskLevel: agent.riskLevel, tags };
    const unknown = new Set<HitlMode>(limits.map(({ then }) => then));
    const bySecond = new Set<HitlMode>();
    let [least, isBlank]: [HitlMode | undefined, boolean] = [undefined, isErased];
    for (const condition of conditions) {
      if (this.conditions.time(condition) === 'finely') {
        bySecond.add(condition.hitlMode);
        continue;
      }
      const outcome = this.conditions.outcome(condition, facts, now);
      if (outcome === 'holds') least = stricter(least, condition.hitlMode);
      if (outcome === 'unsure') {
        unknown.add(condition.hitlMode);
        isBlank = true;
      }
    }
    if (isErased) for (const mode of HITL_MODES) unknown.add(mode);
    const others = [...bySecond].map((mode) => stricter(least, mode));
    return { least: [...new Set([least, ...others])], unknown: [...unknown], isBlank };
  }

  /**
   * What comes of it where all is known. Else of each that may have been asked for: conditions and limits only tighten, so nothing else
   * could have come of it.
   */
  private *inWorld(world: World, { least, unknown, isBlank }: Terms): Generator<ReplayResult> {
    const { facts, isUnchecked } = this.check(world.definition);
    for (const mode of least) {
      const modes = unknown.length === 0 ? [mode] : [...new Set([mode, ...unknown.map((one) => stricter(mode, one))])];
      const decisions = modes.map((one) => decide(this.question(world, facts, one)));
      this.effort.add(DECIDING * decisions.length);
      const fitting = decisions.filter(this.said.fits).length;
      if (fitting === decisions.length) yield isUnchecked ? notReplayable('erased') : RIGHT;
      else yield fitting > 0 ? notReplayable(isBlank ? 'erased' : 'limits') : wrong(whatItSays(decisions[0]!));
    }
  }

  /** @param mode what its conditions and limits ask for */
  private question({ agent, grant, isStopped, now }: World, definition: CapabilityFacts | undefined, mode?: HitlMode): GateQuestion {
    const { capability, agentId, input, context, agent: { tags = [] } } = this.asked;
    const conditions = mode === undefined ? [] : [{ when: 'true', hitlMode: mode }];
    return {
      agent: { id: agentId, riskLevel: agent.riskLevel, status: agent.status, tags },
      call: { capability, input, now: new Date(now), tokenCapabilities: 'any', ...(context ? { context } : {}) },
      stops: isStopped ? [{ id: 'in force' }] : [],
      ...(definition ? { definition } : {}),
      ...(grant ? { grant: { ...grant.facts, limits: [], conditions } } : {}),
    };
  }

  /** Whether the input fits is the same in every world. */
  private check(definition: DefinitionState | undefined): Checked {
    let checked = this.checked.get(definition);
    if (!checked) this.checked.set(definition, (checked = this.checkedNow(definition)));
    return checked;
  }

  private checkedNow(definition: DefinitionState | undefined): Checked {
    if (!definition) return { facts: undefined, isUnchecked: false };
    const { facts: { name, hardcoded, digest, inputSchema, connector }, isErased } = definition;
    const bare = { name, hardcoded, digest };
    const asksInput = inputSchema !== undefined || connector !== undefined;
    if (isErased || (asksInput && this.asked.erased.input !== undefined)) return { facts: bare, isUnchecked: true };
    if (!asksInput) return { facts: bare, isUnchecked: false };
    this.effort.add(CHECKING);
    const { input } = this.asked;
    const fitsSchema = !inputSchema || validateInput(inputSchema, input).length === 0;
    const fits = fitsSchema && (!connector || renderConnector(connector, input).ok);
    return { facts: fits ? bare : { ...bare, inputSchema: FITS_NOTHING }, isUnchecked: false };
  }
}

const NO_TERMS: Terms = { least: [undefined], unknown: [], isBlank: false };

/** Anything that its conditions and limits may come to. */
function anyTermsOf(grant: GrantState | undefined): Terms {
  if (!grant) return NO_TERMS;
  const { facts: { conditions, limits }, isErased } = grant;
  const modes = isErased ? HITL_MODES : new Set([...conditions.map(({ hitlMode }) => hitlMode), ...limits.map(({ then }) => then)]);
  return { least: [undefined], unknown: [...modes].sort(), isBlank: isErased };
}

const MINUTE_MS = 60_000;

function fullMinutes(from: number, to: number): number[] {
  const first = Math.ceil(from / MINUTE_MS);
  return Array.from({ length: Math.max(0, Math.floor(to / MINUTE_MS) - first + 1) }, (_, i) => (first + i) * MINUTE_MS);
}

const stricter = (one: HitlMode | undefined, other: HitlMode): HitlMode => (one === undefined ? other : strictest(one, other));

/** All of a grant, an agent and a time that decides. */
function keyOf(grant: GrantState | undefined, { riskLevel, status }: PossibleAgent, terms: Terms, now: number): string {
  const { least, unknown, isBlank } = terms;
  const held = grant ? `${grant.facts.hitlMode} ${isAlive(grant, now)} ${isBlank}` : 'none';
  return `${held} ${riskLevel} ${status} ${least.join()} ${unknown.join()}`;
}

/** Counted from when it was asked. */
function isWindowOf({ facts: { timeoutSeconds } }: GrantState, expiresAt: number, { from, to }: Moment): boolean {
  const askedAt = expiresAt - timeoutSeconds * 1_000;
  return askedAt >= from && askedAt <= to;
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

import { renderConnector } from '../../gate/connector.js';
import { type CapabilityFacts, decide, type GateDecision, type GateQuestion } from '../../gate/decide.js';
import { validateInput } from '../../gate/input-schema.js';
import { HITL_MODES, type HitlMode, strictest } from '../../gate/vocabulary.js';
import type { JsonObject } from '../../json.js';
import { mayBe, mayHold } from './agent-view.js';
import { AskedConditions, isBySecond, timeTermsOf } from './asked-conditions.js';
import type { DefinitionView } from './definition-view.js';
import { Effort } from './effort.js';
import type { GrantView } from './grant-view.js';
import { around, type Moment } from './overlap.js';
import { type AskedWhen, heldAt, isAlive, possibleDefinitions, possibleGrants, possibleStops } from './possible-worlds.js';
import type { SharedView } from './shared-view.js';
import type { ErasedCall } from './unsure-conditions.js';
import { notReplayable, type ReplayVerdict, RIGHT, wrong } from './verdict.js';

export { grantsAt } from './possible-worlds.js';

/** A call as its entry and those before it in its chain tell it. What other chains tell is asked of the shared facts. */
export interface AskedGate extends AskedWhen {
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
export interface SaidGate {
  readonly fits: (decision: GateDecision) => boolean;
  readonly grantId?: string | undefined;
  readonly grantVersion?: number | undefined;
  readonly definition?: string | undefined;
  /** When the window of what it asks ends. */
  readonly expiresAt?: number | undefined;
}

/** What the gate goes by in one order in which commits may have come. */
interface World {
  readonly agent: PossibleAgent;
  readonly definition: DefinitionView | undefined;
  readonly grant: GrantView | undefined;
  readonly isStopped: boolean;
  readonly now: number;
}

type PossibleAgent = ReturnType<typeof mayBe>[number];

/**
 * Asks the gate once more, of what the log tells. Right if it was right in some order in which overlapping commits may have come; wrong
 * only if it was so in none. Where there are more orders than can be tried, nobody knows. Of an agent whose registration, or what it was
 * before its transfer, was swept nobody can tell more than that it may have been right, whatever the agent was.
 *
 * @param moment between which times it was committed
 */
export function regate(
  asked: AskedGate, said: SaidGate, shared: SharedView, moment: Moment = around(asked.at), effort = new Effort(),
): ReplayVerdict {
  if (asked.byToken && !mayHold(asked.agent, asked.capability, moment.from)) return wrong('no token of the agent held the capability');
  let unsure: ReplayVerdict | undefined;
  let no: ReplayVerdict | undefined;
  for (const found of new Regate(asked, said, effort).verdicts(shared, moment)) {
    if (found.kind !== 'wrong' && !asked.agent.isKnown) return notReplayable('swept');
    if (found.kind === 'right') return RIGHT;
    if (found.kind === 'wrong') no ??= found;
    else unsure ??= found;
  }
  return unsure ?? no!;
}

/** What a definition, and a world, take to be asked, beside conditions. */
const CHECKING = 100_000;
const DECIDING = 100;

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
  private readonly checked = new Map<DefinitionView | undefined, Checked>();

  constructor(
    private readonly asked: AskedGate,
    private readonly said: SaidGate,
    private readonly effort: Effort,
  ) {
    const { capability, input, context, agent } = asked;
    const call = { capability, input, ...(context ? { context } : {}) };
    this.conditions = new AskedConditions(call, { ...asked.erased, tags: agent.tags === undefined }, effort);
  }

  /** In each order that makes a difference, the likeliest first. What differs in nothing that decides is asked once. */
  *verdicts(shared: SharedView, moment: Moment): Generator<ReplayVerdict> {
    const { asked, effort } = this;
    const definitions = possibleDefinitions(asked, shared, moment).filter((one) => this.isDefinedAsSaid(one));
    if (definitions.length === 0) {
      yield wrong('the capability was not defined as it says');
      return;
    }
    const stops = possibleStops(asked, shared, moment);
    const grants = possibleGrants(asked, shared, moment);
    const agents = mayBe(asked.agent);
    const seen = new Set<string>();
    for (const now of grants.instants) {
      for (const grant of heldAt(now, grants)) {
        if (effort.isSpent) {
          yield notReplayable('orders');
          return;
        }
        effort.add(DECIDING);
        const problem = this.whyNotUnder(grant, moment);
        if (problem !== undefined) {
          yield wrong(problem);
          continue;
        }
        for (const agent of agents) {
          const terms = this.termsOf(grant, agent, now);
          const known = keyOf(grant, agent, terms, now);
          if (seen.has(known)) continue;
          seen.add(known);
          for (const definition of definitions) {
            for (const isStopped of stops) {
              if (effort.isSpent) {
                yield notReplayable('orders');
                return;
              }
              yield* this.inWorld({ agent, definition, grant, isStopped, now }, terms);
            }
          }
        }
      }
    }
  }

  private isDefinedAsSaid(definition: DefinitionView | undefined): boolean {
    const said = this.said.definition;
    return said === undefined || definition?.isUnknown === true || definition?.facts.digest === said;
  }

  /** Why the call cannot have gone under the grant, by what its entry says. */
  private whyNotUnder(grant: GrantView | undefined, moment: Moment): string | undefined {
    const { grantId, grantVersion, expiresAt } = this.said;
    if (grant?.isUnknown) return this.asked.revoked.has(grantId ?? '') ? `grant ${grantId} was revoked` : undefined;
    if (grantId !== undefined && grant?.facts.id !== grantId) return `grant ${grantId} was not the one that held`;
    if (grantVersion !== undefined && grant?.facts.version !== grantVersion) {
      return `the grant stood at version ${grant?.facts.version ?? 'none'}, not at ${grantVersion}`;
    }
    const isWindow = !grant || expiresAt === undefined || isWindowOf(grant, expiresAt, moment);
    return isWindow ? undefined : `its window is not the ${grant.facts.timeoutSeconds} s that its grant gives`;
  }

  private termsOf(grant: GrantView | undefined, agent: PossibleAgent, now: number): Terms {
    if (!grant) return NO_TERMS;
    const { facts: { conditions, limits }, isErased } = grant;
    const { agentId, agent: { tags = [] } } = this.asked;
    const facts = { id: agentId, riskLevel: agent.riskLevel, tags };
    const unknown = new Set<HitlMode>(limits.map(({ then }) => then));
    let [least, isBlank]: [HitlMode | undefined, boolean] = [undefined, isErased];
    for (const condition of conditions) {
      if (isBySecond(condition)) continue;
      const outcome = this.conditions.outcome(condition, facts, now);
      if (outcome === 'holds') least = stricter(least, condition.hitlMode);
      if (outcome === 'unsure') {
        unknown.add(condition.hitlMode);
        isBlank = true;
      }
    }
    if (isErased) for (const mode of HITL_MODES) unknown.add(mode);
    const bySecond = timeTermsOf(grant).bySecond.map((mode) => stricter(least, mode));
    return { least: bySecond.length === 0 ? [least] : [...new Set([least, ...bySecond])], unknown: [...unknown], isBlank };
  }

  /**
   * What comes of it where all is known. Else of each that may have been asked for: conditions and limits only tighten, so nothing else
   * could have come of it.
   */
  private *inWorld(world: World, { least, unknown, isBlank }: Terms): Generator<ReplayVerdict> {
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
  private check(definition: DefinitionView | undefined): Checked {
    let checked = this.checked.get(definition);
    if (!checked) this.checked.set(definition, (checked = this.checkedNow(definition)));
    return checked;
  }

  private checkedNow(definition: DefinitionView | undefined): Checked {
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

const stricter = (one: HitlMode | undefined, other: HitlMode): HitlMode => (one === undefined ? other : strictest(one, other));

/** All of a grant, an agent and a time that decides. */
function keyOf(grant: GrantView | undefined, { riskLevel, status }: PossibleAgent, terms: Terms, now: number): string {
  const { least, unknown, isBlank } = terms;
  const held = grant ? `${grant.facts.hitlMode} ${isAlive(grant, now)} ${isBlank}` : 'none';
  return `${held} ${riskLevel} ${status} ${least.join()} ${unknown.join()}`;
}

/** Counted from when it was asked. */
function isWindowOf({ facts: { timeoutSeconds } }: GrantView, expiresAt: number, { from, to }: Moment): boolean {
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

import type { AgentView } from './agent-view.js';
import { timeTermsOf } from './asked-conditions.js';
import type { DefinitionView } from './definition-view.js';
import { ANY_GRANT, type GrantView } from './grant-view.js';
import { around, type Moment } from './overlap.js';
import type { SharedView } from './shared-view.js';
import { UNKNOWN, type Unknown } from './verdict.js';

/** Who asked what, when, and what stood around it. */
export interface AskedWhen {
  readonly organizationId: string;
  readonly capability: string;
  /** Stamped, in milliseconds. */
  readonly at: number;
  readonly agent: AgentView;
  /** The agent's own grant that is not revoked. */
  readonly own: GrantView | undefined | Unknown;
  /** A stop of the agent's own is in force. */
  readonly isStopped: boolean | Unknown;
}

type Grant = GrantView | undefined;

/** Grants that may have held at a moment, and the times at which it makes a difference when in it that was. */
export interface PossibleGrants {
  readonly owns: readonly Grant[];
  readonly teams: readonly Grant[];
  readonly instants: Iterable<number>;
}

/** What the capability may have been, each once: what decides is the same where the digest is. */
export function possibleDefinitions(
  { organizationId, capability }: AskedWhen, shared: SharedView, moment: Moment,
): (DefinitionView | undefined)[] {
  const all = shared.definitions(organizationId, capability, moment);
  if (all.length === 1) return all;
  const distinct = new Map<string, DefinitionView | undefined>();
  for (const one of all) distinct.set(one ? `${one.facts.digest} ${one.isErased} ${one.isUnknown}` : '', one);
  return [...distinct.values()];
}

/** Whether a stop may have held. */
export function possibleStops({ organizationId, isStopped }: AskedWhen, shared: SharedView, moment: Moment): boolean[] {
  if (isStopped === true) return [true];
  const { surely, possibly } = shared.stopped(organizationId, moment);
  if (surely) return [true];
  return isStopped === UNKNOWN || possibly ? [false, true] : [false];
}

export function possibleGrants(asked: AskedWhen, shared: SharedView, moment: Moment): PossibleGrants {
  const { organizationId, agent, capability, own, at } = asked;
  const owns = own === UNKNOWN ? [ANY_GRANT, undefined] : [own];
  const [first, last] = [Math.min(moment.from, at), Math.max(moment.to, at)];
  const isAll = owns.every((one) => one && isAlive(one, last));
  const teams = isAll ? [undefined] : shared.teamGrants(organizationId, agent.teamId, capability, moment);
  const grants = isAll ? owns : [...owns, ...teams];
  const ends = grants.flatMap((grant) => grant?.facts.expiresAt?.getTime() ?? []).filter((end) => end > first && end <= last);
  return { owns, teams, instants: instantsOf(at, moment, grants.some((grant) => timeTermsOf(grant).isOfTime), new Set(ends)) };
}

/** As the gate chooses: what has not run out before what has, the agent's own before its team's. Each once, the likeliest first. */
export function heldAt(now: number, { owns, teams }: PossibleGrants): Set<Grant> {
  if (owns.every((own) => own && isAlive(own, now))) return new Set(owns);
  const held = new Set<Grant>();
  for (const team of teams) {
    for (const own of owns) held.add([own, team].find((grant) => grant && isAlive(grant, now)) ?? own ?? team);
  }
  return held;
}

/** Grants under which the call may have gone, the likeliest first: for what else depends on their terms. */
export function grantsAt(asked: AskedWhen, shared: SharedView, moment: Moment = around(asked.at)): Grant[] {
  const possible = possibleGrants(asked, shared, moment);
  const all = new Set<Grant>();
  for (const now of possible.instants) for (const grant of heldAt(now, possible)) all.add(grant);
  return [...all];
}

export function isAlive({ facts }: GrantView, now: number): boolean {
  return !facts.expiresAt || facts.expiresAt.getTime() > now;
}

const MINUTE_MS = 60_000;
/** An entry is stamped so long, about, after its decision. */
const STAMPED_AFTER_MS = [1, 10, 100, 1_000];

/**
 * Times at which the gate may have decided, the likeliest first: what conditions say of time is one of what they say at these, and each
 * grant that may have held held at one of them.
 *
 * @param ends when grants run out within the moment
 */
function* instantsOf(at: number, { from, to }: Moment, isOfTime: boolean, ends: ReadonlySet<number>): Generator<number> {
  yield at;
  if (!isOfTime && ends.size === 0) return;
  if (isOfTime) for (const before of STAMPED_AFTER_MS) yield at - before;
  yield from;
  yield to;
  yield* ends;
  if (!isOfTime) return;
  for (let minute = Math.ceil(from / MINUTE_MS) * MINUTE_MS; minute <= to; minute += MINUTE_MS) yield minute;
}

import type { AgentState } from '../state/agent-state.js';
import type { DefinitionState } from '../state/definition-state.js';
import { ANY_GRANT, type GrantState } from '../state/grant-state.js';
import { around, type Moment } from './overlap.js';
import type { SharedView } from './shared-view.js';
import { UNKNOWN, type Unknown } from '../replay-result.js';

/** Who asked what, when, and what stood around it. */
export interface AskedWhen {
  readonly organizationId: string;
  readonly capability: string;
  /** Stamped, in milliseconds. */
  readonly at: number;
  readonly agent: AgentState;
  /** The agent's own grant that is not revoked. */
  readonly own: GrantState | undefined | Unknown;
  /** A stop of the agent's own is in force. */
  readonly isStopped: boolean | Unknown;
}

type Grant = GrantState | undefined;

/** A grant that may have been the one that held, or none: from when on, and until before when. It is alive all through that, or never. */
export interface Held {
  readonly grant: Grant;
  readonly from: number;
  readonly to: number;
}

/** What the capability may have been, each once: what decides is the same where the digest is. */
export function possibleDefinitions(
  { organizationId, capability }: AskedWhen, shared: SharedView, moment: Moment,
): (DefinitionState | undefined)[] {
  const all = shared.definitions(organizationId, capability, moment);
  if (all.length === 1) return all;
  const distinct = new Map<string, DefinitionState | undefined>();
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

/**
 * Grants that may have held within the moment, the likeliest first. As the gate chooses: what has not run out before what has, the agent's
 * own before its team's.
 */
export function possiblyHeld(asked: AskedWhen, shared: SharedView, moment: Moment): Held[] {
  const { organizationId, agent, capability, own, at } = asked;
  const owns = own === UNKNOWN ? [ANY_GRANT, undefined] : [own];
  const [first, last] = [Math.min(moment.from, at), Math.max(moment.to, at)];
  const isAll = owns.every((one) => one && isAlive(one, last));
  const teams = isAll ? [] : shared.teamGrants(organizationId, agent.teamId, capability, moment);
  const spans = owns.flatMap((one) => (one ? spansOfOwn(one, teams) : teams.flatMap(spansAlone)));
  const besides = owns.flatMap((one) => (one ? teams.map((team) => ({ grant: team, from: endOf(one), to: endOf(team) })) : []));
  const held = [...spans, ...besides]
    .map(({ grant, from, to }) => ({ grant, from: Math.max(from, first), to: Math.min(to, last + 1) }))
    .filter(({ from, to }) => from < to);
  const isLikely = ({ from, to }: Held) => from <= at && at < to;
  return [...held.filter(isLikely), ...held.filter((one) => !isLikely(one))];
}

/** Grants under which the call may have gone, the likeliest first: for what else depends on their terms. */
export function grantsAt(asked: AskedWhen, shared: SharedView, moment: Moment = around(asked.at)): Grant[] {
  return [...new Set(possiblyHeld(asked, shared, moment).map(({ grant }) => grant))];
}

/** One that has run out holds where none of its team's does. */
function spansOfOwn(own: GrantState, teams: readonly Grant[]): Held[] {
  const over = teams.reduce((soonest, team) => Math.min(soonest, endOf(team)), Infinity);
  return [{ grant: own, from: -Infinity, to: endOf(own) }, { grant: own, from: Math.max(endOf(own), over), to: Infinity }];
}

function spansAlone(grant: Grant): Held[] {
  return [{ grant, from: -Infinity, to: endOf(grant) }, { grant, from: endOf(grant), to: Infinity }];
}

function endOf(grant: Grant): number {
  return grant ? (grant.facts.expiresAt?.getTime() ?? Infinity) : -Infinity;
}

export function isAlive({ facts }: GrantState, now: number): boolean {
  return !facts.expiresAt || facts.expiresAt.getTime() > now;
}

import type { RiskLevel } from '../gate/vocabulary.js';

/** What a task asks of the agent that is to do it. */
export interface Wanted {
  /** At least one; an eligible agent holds each of them. */
  readonly capabilities: readonly string[];
  /** An eligible agent has at least one of them; more of them score higher. */
  readonly tags: readonly string[];
  readonly teamId?: string;
  /** Agents that are not to be found. */
  readonly exclude: readonly string[];
  /** Agents along a delegation, which goes round in no circle. */
  readonly chain: readonly string[];
  /** Whether some of it runs on the agent's own node. */
  readonly needsNode: boolean;
}

/** An agent as it is now. */
export interface Candidate {
  readonly id: string;
  readonly status: string;
  readonly riskLevel: RiskLevel;
  readonly tags: readonly string[];
  readonly teamId?: string;
  readonly isStopped: boolean;
  /** Of the wanted capabilities: those that it holds, and of these those that are blocked. */
  readonly holds: readonly string[];
  readonly blocked: readonly string[];
  /** Milliseconds since its node was last seen; absent where it never was. */
  readonly nodeAgeMs?: number;
  /** Open tasks and requests. */
  readonly load: number;
  /** Of its last executions that ended: how many, and how many of these were executed. */
  readonly ended: number;
  readonly executed: number;
}

export type Rejection =
  | 'out_of_service' | 'stopped' | 'not_granted' | 'blocked' | 'other_team' | 'no_tag' | 'excluded' | 'in_chain' | 'no_fresh_node';

/** Each from 0 to 1, and better the higher. */
export interface Factors {
  readonly freshness: number;
  readonly load: number;
  readonly success: number;
  readonly tags: number;
  readonly risk: number;
}

export interface Scored {
  readonly agentId: string;
  readonly score: number;
  readonly factors: Factors;
}

export interface Rejected {
  readonly agentId: string;
  readonly rejectedBecause: Rejection;
}

/** The eligible, best first; the rejected by id. */
export interface Ranking {
  readonly eligible: readonly Scored[];
  readonly rejected: readonly Rejected[];
}

/** How much each factor counts. They add up to 1, and so does the highest score. */
export const WEIGHTS: Factors = { freshness: 0.3, load: 0.25, success: 0.25, tags: 0.1, risk: 0.1 };

/** A node that was seen within this time is fresh (contract: heartbeat or lease poll). */
export const FRESH_NODE_MS = 60_000;

/** Past this age a node counts as never seen: differences of older ones would be lost in the sum. */
const FORGOTTEN_NODE_MS = 30 * 86_400_000;

const RISK_FACTOR: Readonly<Record<RiskLevel, number>> = { minimal: 1, limited: 0.7, high: 0.3, unacceptable: 0 };

/**
 * Ranks agents for a task (interface, sections 4 and 8). Who is not eligible is rejected with the first reason that holds; each of the
 * others is scored by itself, so that nobody's score depends on who else is there. Equal scores: the fresher node first, then by id.
 *
 * @param most so many of the best, and of the rejected, are returned; default: all
 */
export function rank(candidates: readonly Candidate[], wanted: Wanted, most = Infinity): Ranking {
  const tags = [...new Set(wanted.tags)];
  const best = new Foremost<Placed>(most, byScore);
  const rejected = new Foremost<Rejected>(most, byId);
  for (const agent of candidates) {
    const rejectedBecause = whyRejected(agent, wanted);
    if (rejectedBecause !== undefined) rejected.add({ agentId: agent.id, rejectedBecause });
    else best.add({ agentId: agent.id, agent, score: scoreOf(factorsOf(agent, tags)), ageMs: agent.nodeAgeMs ?? Infinity });
  }
  return {
    eligible: best.sorted().map(({ agentId, score, agent }) => ({ agentId, score, factors: factorsOf(agent, tags) })),
    rejected: rejected.sorted(),
  };
}

/** An eligible agent with all that its place hangs on. */
interface Placed {
  readonly agentId: string;
  readonly agent: Candidate;
  readonly score: number;
  readonly ageMs: number;
}

/** The first of many by an order, without sorting the others. */
class Foremost<Item> {
  private items: Item[] = [];
  /** The last of the first, once there are as many as are wanted. */
  private last: Item | undefined;

  constructor(private readonly most: number, private readonly order: (a: Item, b: Item) => number) {}

  add(item: Item): void {
    if (this.last !== undefined && this.order(item, this.last) >= 0) return;
    this.items.push(item);
    if (this.items.length < 2 * this.most) return;
    this.items = this.sorted();
    this.last = this.items.at(-1);
  }

  sorted(): Item[] {
    return this.items.sort(this.order).slice(0, this.most);
  }
}

/** The first reason why an agent is not eligible; undefined where it is. */
export function whyRejected(agent: Candidate, wanted: Wanted): Rejection | undefined {
  if (agent.status !== 'active') return 'out_of_service';
  if (agent.isStopped) return 'stopped';
  if (wanted.capabilities.some((capability) => !agent.holds.includes(capability))) return 'not_granted';
  if (wanted.capabilities.some((capability) => agent.blocked.includes(capability))) return 'blocked';
  if (wanted.teamId !== undefined && agent.teamId !== wanted.teamId) return 'other_team';
  if (wanted.tags.length > 0 && !wanted.tags.some((tag) => agent.tags.includes(tag))) return 'no_tag';
  if (wanted.exclude.includes(agent.id)) return 'excluded';
  if (wanted.chain.includes(agent.id)) return 'in_chain';
  return wanted.needsNode && (agent.nodeAgeMs === undefined || agent.nodeAgeMs > FRESH_NODE_MS) ? 'no_fresh_node' : undefined;
}

/** @param tags that are wanted, each once */
function factorsOf(agent: Candidate, tags: readonly string[]): Factors {
  return {
    freshness: freshnessOf(agent.nodeAgeMs),
    load: 1 / (1 + Math.max(0, agent.load)),
    // Half for who has done nothing yet, and no certainty from a few calls (Laplace's rule of succession).
    success: (agent.executed + 1) / (agent.ended + 2),
    tags: tags.length === 0 ? 1 : tags.filter((tag) => agent.tags.includes(tag)).length / tags.length,
    risk: RISK_FACTOR[agent.riskLevel],
  };
}

function scoreOf({ freshness, load, success, tags, risk }: Factors): number {
  return WEIGHTS.freshness * freshness + WEIGHTS.load * load + WEIGHTS.success * success + WEIGHTS.tags * tags + WEIGHTS.risk * risk;
}

/** 1 for a node that is seen now, half after a minute. */
function freshnessOf(ageMs: number | undefined): number {
  if (ageMs === undefined || ageMs >= FORGOTTEN_NODE_MS) return 0;
  return FRESH_NODE_MS / (FRESH_NODE_MS + Math.max(0, ageMs));
}

function byScore(a: Placed, b: Placed): number {
  return b.score - a.score || byAge(a.ageMs, b.ageMs) || byId(a, b);
}

function byAge(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function byId(a: { readonly agentId: string }, b: { readonly agentId: string }): number {
  return a.agentId < b.agentId ? -1 : a.agentId > b.agentId ? 1 : 0;
}

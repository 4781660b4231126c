import type { DueRequest, RecentFailures } from './due-requests.query.js';

/** Requests that one unit of work ends, while calls of their agents wait. */
const SET_WEIGHT = 50;
/** An approval by time asks the gate again and starts the action, so it weighs more. */
const APPROVAL_WEIGHT = 4;

/** Divides requests into sets of one unit of work each, by agent where they fit, in the order of each agent's first request. */
export function batchesOf(due: readonly DueRequest[]): DueRequest[][] {
  const sets: DueRequest[][] = [];
  let weight = SET_WEIGHT;
  for (const request of [...byAgent(due)].flat()) {
    const more = request.timeoutAction === 'approve' ? APPROVAL_WEIGHT : 1;
    if (weight + more > SET_WEIGHT) {
      sets.push([]);
      weight = 0;
    }
    sets.at(-1)!.push(request);
    weight += more;
  }
  return sets;
}

/** Divides requests into at most so many partitions of about the same size, each agent's requests in one of them. */
export function partitionsOf(due: readonly DueRequest[], most: number): DueRequest[][] {
  const partitions: DueRequest[][] = Array.from({ length: most }, () => []);
  for (const requests of byAgent(due)) {
    const shortest = partitions.reduce((one, other) => (other.length < one.length ? other : one));
    for (const request of requests) shortest.push(request);
  }
  return partitions.filter(({ length }) => length > 0);
}

export function byAgent(due: readonly DueRequest[]): DueRequest[][] {
  const agents = new Map<string, DueRequest[]>();
  for (const request of due) {
    const key = `${request.organizationId} ${request.agentId}`;
    const others = agents.get(key);
    if (others) others.push(request);
    else agents.set(key, [request]);
  }
  return [...agents.values()];
}

export function halves<Item>(items: readonly Item[]): Item[][] {
  const middle = items.length >> 1;
  return [items.slice(0, middle), items.slice(middle)];
}

/** How many ids are kept; beyond that, the oldest is tried again early. */
const CAPACITY = 1_000;

/** Agents and requests that were tried in vain and are left out for a while, so that they do not keep others waiting. */
export class BackoffList {
  private readonly agents = new Map<string, number>();
  private readonly requests = new Map<string, number>();

  agent(id: string, forMs: number): void {
    remember(this.agents, id, forMs);
  }

  request(id: string, forMs: number): void {
    remember(this.requests, id, forMs);
  }

  current(): RecentFailures {
    return { agents: stillIn(this.agents), requests: stillIn(this.requests) };
  }
}

function remember(times: Map<string, number>, id: string, forMs: number): void {
  times.delete(id);
  times.set(id, performance.now() + forMs);
  if (times.size > CAPACITY) times.delete(times.keys().next().value!);
}

function stillIn(times: Map<string, number>): string[] {
  const now = performance.now();
  for (const [id, until] of times) if (until <= now) times.delete(id);
  return [...times.keys()];
}

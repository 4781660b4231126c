import type { Client } from '../http/actors.js';
import { pause } from '../proofs/races.js';
import { type LeasedWork, NODE } from './work.js';

/** Where a node can die. */
export const MOMENTS = ['with a lease', 'before it acts', 'after it acted', 'with its result sent'] as const;
/** How likely a node is frozen while it acts, and for how long: past the deadline of the proof's work. */
const FROZEN = 0.02;
const FROZEN_MS = 3_500;

export type Moment = (typeof MOMENTS)[number];

/** What nodes did, and what they were told, over all of their lives. */
export interface NodeMemory {
  /** How often each work was done. */
  readonly acted: Map<string, number>;
  /** Work whose result was answered with 200, and whether it was late. */
  readonly taken: Map<string, boolean>;
  readonly died: Record<Moment, number>;
}

export interface NodeLife {
  /** The agent, at whichever server answers. */
  readonly clients: readonly Client[];
  readonly memory: NodeMemory;
  readonly random: () => number;
  /** How likely it dies at each of the moments. */
  readonly mortality: number;
  readonly end: AbortSignal;
}

/** A node that polls, starts, acts and answers; when it dies it forgets everything, and another comes up in its place. */
export async function nodeLoop(life: NodeLife): Promise<void> {
  while (!life.end.aborted) {
    try {
      await oneLife(life);
    } catch {
      // A server that is away: a node tries the next one.
      await pause(50);
    }
  }
}

async function oneLife({ clients, memory, random, mortality, end }: NodeLife): Promise<void> {
  const anyone = () => clients[Math.floor(random() * clients.length)]!;
  const dies = (moment: Moment): boolean => {
    if (random() >= mortality) return false;
    memory.died[moment] += 1;
    return true;
  };
  const polled = await anyone().post(`${NODE}/tasks/lease`, undefined, {
    query: { wait: 2 }, signal: AbortSignal.any([end, AbortSignal.timeout(8_000)]),
  });
  if (polled.status !== 200) return;
  const { id, fence } = polled.at('task') as LeasedWork;
  if (dies('with a lease')) return;
  const started = await anyone().post(`${NODE}/tasks/${id}/start`, { fence });
  if (started.status !== 200 || dies('before it acts')) return;
  memory.acted.set(id, (memory.acted.get(id) ?? 0) + 1);
  // Now and then one is frozen past the deadline, and comes back with its result.
  await pause(random() < FROZEN ? FROZEN_MS : random() * 100);
  if (dies('after it acted')) return;
  const body = { fence, status: 'executed', output: { by: fence } };
  const isLastWord = dies('with its result sent');
  for (let tries = 0; tries < (isLastWord ? 1 : 40); tries++) {
    const reply = await anyone().post(`${NODE}/tasks/${id}/result`, body).catch(() => undefined);
    if (reply?.status === 200) memory.taken.set(id, reply.at('late') === true);
    // Until somebody has taken it, or says for good that nobody does.
    if (reply !== undefined && reply.status < 500) return;
    await pause(200);
  }
}

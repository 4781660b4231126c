import { setImmediate as breathe } from 'node:timers/promises';
import { getOrInsert } from '../../../domain/collections.js';
import { TILE_WIDTH } from '../../../domain/audit/tree/hash-reader.js';
import type { GrowingTree } from '../../../domain/audit/tree/growing-tree.js';
import { entryLeaf } from '../../../domain/audit/tree/tree-leaf.js';
import { hashText, leafHash } from '../../../domain/audit/tree/rfc6962.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import type { Leadership } from '../../../platform/database/leadership/leadership.js';
import type { SignedState } from './signed-state.js';
import {
  growTrees, isQueueEmpty, leaveQueue, lookUpByKeys, takeQueued, type Growth, type LeafRows, type QueuedLeaves,
} from './tree.store.js';

/** Works on the connection that leads. */
export type Leads = Pick<Leadership, 'run' | 'transact'>;

/** What one round took. */
export interface Integrated {
  readonly leaves: number;
  /** Organizations that grew. */
  readonly organizations: readonly string[];
  /** Whether there may be more in the queue. */
  readonly more: boolean;
}

/** A round is short, so that its transaction is, however much waits. */
const ROUND = { rows: 1_000, leaves: 8_192 };
/** Some three milliseconds of hashing, before calls get their turn. */
const LEAVES_BEFORE_BREATH = 1_024;

const NOTHING: Integrated = { leaves: 0, organizations: [], more: false };

/** Moves leaves from the queue into their organizations' trees, in rounds of one transaction each. */
export class LeafIntegrator {
  /** Organizations take turns: where the last round had no room for more, the next one goes on behind it. */
  private after = '';

  constructor(private readonly leadership: Leads, private readonly trees: SignedState) {}

  /**
   * @throws TreeMoved where another leader has grown a tree; nothing was changed then
   * @throws LogRewritten where a tree does not continue what was signed of it
   */
  async round(): Promise<Integrated> {
    if (await this.leadership.run(isQueueEmpty)) return NOTHING;
    const grown = new Map<string, GrowingTree>();
    try {
      const integrated = await this.leadership.transact((run) => this.integrate(run, grown));
      for (const [organizationId, tree] of grown) this.trees.keep(organizationId, tree);
      return integrated;
    } catch (error) {
      // Whether it was committed is not known, nor who leads now.
      this.trees.forget();
      this.after = '';
      throw error;
    }
  }

  /** Takes everything that is in the queue. */
  async drain(): Promise<void> {
    while ((await this.round()).more);
  }

  private async integrate(run: RunStatement, grown: Map<string, GrowingTree>): Promise<Integrated> {
    await lookUpByKeys(run);
    const taken = await this.take(run);
    if (taken.length === 0) return NOTHING;
    const growths: Growth[] = [];
    const taking = new Map<string, QueuedLeaves[]>();
    for (const row of taken) getOrInsert(taking, row.organizationId, () => []).push(row);
    for (const [organizationId, rows] of taking) {
      const tree = (await this.trees.of(run, organizationId)).copy();
      growths.push(await grow(organizationId, tree, rows));
      grown.set(organizationId, tree);
    }
    await growTrees(run, growths);
    await leaveQueue(run, taken);
    const leaves = growths.reduce((sum, { from, size }) => sum + size - from, 0);
    const isFull = leaves >= ROUND.leaves || taken.length === ROUND.rows;
    const more = isFull || this.after !== '';
    this.after = isFull ? taken.at(-1)!.organizationId : '';
    return { leaves, organizations: [...grown.keys()], more };
  }

  private async take(run: RunStatement): Promise<QueuedLeaves[]> {
    const taken = await takeQueued(run, this.after, ROUND);
    if (taken.length > 0 || this.after === '') return taken;
    this.after = '';
    return takeQueued(run, this.after, ROUND);
  }
}

async function grow(organizationId: string, tree: GrowingTree, rows: readonly QueuedLeaves[]): Promise<Growth> {
  const from = tree.size;
  const tiles: (LeafRows & { tile: number; root: string })[] = [];
  let tail: LeafRows = { chains: [], seqs: [], hashes: [] };
  for (const { chains, seqs, hashes } of rows) {
    for (const [n, chain] of chains.entries()) {
      const [seq, hash] = [seqs[n]!, hashes[n]!];
      tail.chains.push(chain);
      tail.seqs.push(seq);
      tail.hashes.push(hash);
      const full = tree.append(leafHash(entryLeaf({ chain, seq, hash })));
      if (full) {
        tiles.push({ ...tail, tile: tree.size / TILE_WIDTH - 1, root: Buffer.from(full).toString('hex') });
        tail = { chains: [], seqs: [], hashes: [] };
      }
      if (tree.size % LEAVES_BEFORE_BREATH === 0) await breathe();
    }
  }
  return { organizationId, from, size: tree.size, root: hashText(tree.root), tiles, tail };
}

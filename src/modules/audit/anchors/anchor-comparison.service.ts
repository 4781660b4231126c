import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { originOf, PLATFORM_TREE } from '../../../domain/audit/notes/checkpoint.js';
import { isRecovered } from '../../../domain/audit/notes/waived-checkpoint.js';
import { publicHalf, signingKey, verifierKey } from '../../../domain/audit/notes/note.js';
import type { Anchor } from '../../../platform/audit/anchor.js';
import { MaintenanceMode } from '../../../platform/audit/maintenance-mode.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { ReservedPool } from '../../../platform/database/reserved-pool.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { instanceName } from '../checkpoints/checkpoint.query.js';
import { rewrittenText, rewrittenTrees } from '../checkpoints/rewritten-trees.js';
import type { AnchorState } from './anchor-state.query.js';
import { askAnchors, type AskedAnchors } from './ask-anchors.js';
import { anchoredSize } from './anchors.store.js';
import { compare, contradictionText } from './compare-anchor.js';
import { ourTree } from '../proofs/proof.query.js';

/** Injection token of the configured anchors. */
export const ANCHORS = Symbol('ANCHORS');

/**
 * Compares the anchors with the database, and sets maintenance mode while one of them shows that the database was put back or replaced. An
 * anchor that does not answer changes nothing: it is asked again until it has answered.
 */
@Injectable()
export class AnchorComparison {
  /** Anchors that have not answered since they were last to be asked. */
  private readonly unasked = new Set<Anchor>();
  private readonly contradictions = new Map<Anchor, string>();
  /** The sizes that anchors have reported to this server when it published to them, by the anchor's name. */
  private readonly reported = new Map<string, number>();
  /** Anchors of which it was said that they do not answer. */
  private readonly silent = new Set<Anchor>();

  constructor(
    @Inject(ANCHORS) private readonly anchors: readonly Anchor[],
    private readonly reserve: ReservedPool,
    private readonly maintenance: MaintenanceMode,
    @Inject(CONFIG) private readonly config: CompleteConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.askAnew();
  }

  /** Whether an anchor still has to be asked, or has to be asked again since it contradicts. */
  get isDue(): boolean {
    return this.unasked.size > 0 || this.contradictions.size > 0;
  }

  /** Why this database must not be served, by what the anchors have answered. */
  get contradiction(): string | undefined {
    return [...this.contradictions.values()][0];
  }

  /**
   * Whether this installation was recovered since a time: by the word of the signing key alone, since anybody who owns the database could
   * say so, or say again what was said once.
   */
  isRecovered({ recoveredAt: at, recoveredNote: note }: AnchorState, instance: string, since: number): boolean {
    if (at === null || note === null || at.getTime() <= since) return false;
    return isRecovered(note, instance, at, publicHalf(signingKey(instance, this.config.auditSigningKey)));
  }

  /**
   * Why maintenance mode must go on although the database no longer asks for it, which its owner can write: the log does not continue what
   * this server's key has signed. Undefined where all of it does, or another key signs.
   */
  async rewritten(): Promise<string | undefined> {
    const [found] = await rewrittenTrees(this.reserve.run, this.config.auditSigningKey);
    return found && rewrittenText(found.message);
  }

  /** Everything that was known of the anchors no longer counts: this is another connection, or a database that was recovered. */
  askAnew(): void {
    for (const anchor of this.anchors) this.unasked.add(anchor);
  }

  /**
   * Compares every anchor with this database, before this server signs for the first time as the leader.
   *
   * @throws Problem UNAVAILABLE in maintenance mode, which an anchor that contradicts sets
   */
  async agree(): Promise<void> {
    this.askAnew();
    await this.askDue();
    const because = this.maintenance.because ?? this.contradiction;
    if (because !== undefined) throw new Problem('UNAVAILABLE', because);
  }

  /** Asks those that have to be asked, at once. */
  async askDue(): Promise<void> {
    const instance = await instanceName(this.reserve.run);
    const due = new Set([...this.unasked, ...this.contradictions.keys()]);
    await Promise.all([...due].map((anchor) => this.ask(instance, anchor)));
    const because = this.contradiction;
    // Maintenance mode that was set for another reason ends elsewhere.
    if (because !== undefined) this.maintenance.set(because);
  }

  /** An anchor has reported the size that it has: the database's own record counts only up to that size. */
  kept(name: string, size: number): void {
    this.reported.set(name, size);
  }

  /** Another server publishes. */
  forgetKept(): void {
    this.reported.clear();
  }

  /** The size of the platform's tree that every configured anchor is known to have. */
  anchoredSize(run: ReadStatement): Promise<number> {
    return anchoredSize(run, this.anchors.map(({ name }) => name), this.reported);
  }

  /** The newest checkpoint of each anchor that can show one, and which could not. */
  async newest(): Promise<AskedAnchors> {
    const instance = await instanceName(this.reserve.run);
    return askAnchors(this.anchors, originOf(instance, PLATFORM_TREE), await ourTree(this.reserve.run), (anchor, error) =>
      this.logger.warn({ err: error, anchor: anchor.name }, 'an anchor cannot be asked'));
  }

  private async ask(instance: string, anchor: Anchor): Promise<void> {
    const found = await compare(this.reserve.run, instance, anchor, verifierKey(instance, this.config.auditSigningKey));
    if (found.kind === 'silent') {
      const what = { err: found.error, anchor: anchor.name };
      if (!this.silent.has(anchor)) this.logger.warn(what, 'an anchor does not answer; it is asked again');
      this.silent.add(anchor);
      return;
    }
    this.silent.delete(anchor);
    this.unasked.delete(anchor);
    if (found.kind === 'contradicts') {
      const text = contradictionText(found);
      if (this.contradictions.get(anchor) !== text) this.logger.error({ anchor: anchor.name }, text);
      this.contradictions.set(anchor, text);
    } else this.contradictions.delete(anchor);
  }
}

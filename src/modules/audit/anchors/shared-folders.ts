import { Inject, Injectable } from '@nestjs/common';
import { originOf, PLATFORM_TREE } from '../../../domain/audit/notes/checkpoint.js';
import type { Anchor } from '../../../platform/audit/anchor.js';
import { ReservedPool } from '../../../platform/database/reserved-pool.js';
import { instanceName } from '../checkpoints/checkpoint.query.js';
import { ANCHORS } from './anchor-comparison.service.js';
import { watermarks } from './anchors.store.js';

const LOOK_EVERY_MS = 5_000;

/** Whether several servers see the same files: what the leader has put into a folder by its own word is in this server's. */
@Injectable()
export class SharedFolders {
  private readonly folders: readonly Anchor[];
  private known: { readonly areShared: boolean; readonly at: number } | undefined;

  constructor(@Inject(ANCHORS) anchors: readonly Anchor[], private readonly reserve: ReservedPool) {
    this.folders = anchors.filter(({ name }) => name.startsWith('file:'));
  }

  /** As of at most five seconds ago. */
  async areShared(): Promise<boolean> {
    if (this.folders.length === 0) return true;
    if (this.known === undefined || performance.now() - this.known.at > LOOK_EVERY_MS) {
      this.known = { areShared: await this.look(), at: performance.now() };
    }
    return this.known.areShared;
  }

  private async look(): Promise<boolean> {
    // In this order: a file is written before the database is told of it.
    const told = await watermarks(this.reserve.run);
    if (told.size === 0) return true;
    const origin = originOf(await instanceName(this.reserve.run), PLATFORM_TREE);
    const shared = await Promise.all(this.folders.map(async (folder) => {
      const newest = await folder.newest(origin).catch(() => undefined);
      return newest !== undefined && newest.size >= (told.get(folder.name) ?? Infinity);
    }));
    return !shared.includes(false);
  }
}

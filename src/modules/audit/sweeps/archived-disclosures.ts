import { Injectable } from '@nestjs/common';
import { line, lineText, readLine } from '../../../domain/audit/export-lines.js';
import { ArchiveStore } from '../../../platform/audit/archive-store.js';
import { disclosuresName } from './archive-names.js';

export interface RewrittenArchives {
  /** Objects that were replaced. */
  readonly objects: number;
  /** Entries whose values changed. */
  readonly entries: number;
}

/** The values of archived entries. Skeletons, whose digests sweeps have recorded, are never touched. */
@Injectable()
export class ArchivedDisclosures {
  constructor(private readonly archive: ArchiveStore) {}

  /** Disclosures as they are stored, of every archived entry of an organization, archive by archive. */
  async *of(organizationId: string): AsyncGenerator<{ readonly id: string; readonly hash: string; readonly text: string }> {
    for await (const name of this.objectsOf(organizationId)) yield* this.linesOf(name);
  }

  /**
   * Gives archived entries other disclosures: `change` gets an entry's hash and its disclosures, and answers the new ones, or the same.
   * An object in which nothing changes is left alone, so that doing it again is cheap, and harmless after a crash half-way.
   *
   * @param change is asked twice about an entry of an object that is replaced, and must then answer the same
   */
  async rewrite(organizationId: string, change: (entryHash: string, text: string) => string): Promise<RewrittenArchives> {
    let [objects, entries] = [0, 0];
    for await (const name of this.objectsOf(organizationId)) {
      let changed = 0;
      for await (const { hash, text } of this.linesOf(name)) if (change(hash, text) !== text) changed++;
      if (changed === 0) continue;
      await this.archive.replace(name, this.changedLines(name, change));
      objects++;
      entries += changed;
    }
    return { objects, entries };
  }

  private async *objectsOf(organizationId: string): AsyncGenerator<string> {
    for await (const name of this.archive.list(`${organizationId}/`)) if (disclosuresName.isOf(name)) yield name;
  }

  private async *linesOf(name: string): AsyncGenerator<{ id: string; hash: string; text: string }> {
    for await (const stored of this.archive.read(name)) {
      const read = readLine(stored);
      if (typeof read === 'string') throw new Error(`${name}: ${read}`);
      if (read.kind !== 'disclosures') throw new Error(`${name} has a line of kind ${read.kind}`);
      yield read;
    }
  }

  private async *changedLines(name: string, change: (entryHash: string, text: string) => string): AsyncGenerator<string> {
    for await (const { id, hash, text } of this.linesOf(name)) {
      yield lineText(line('disclosures', { id, hash, text: change(hash, text) })).slice(0, -1);
    }
  }
}

import { Injectable } from '@nestjs/common';
import { line, lineText, readLine, type LineKind, type LineOf } from '../../../../domain/audit/export/export-lines.js';
import { ArchiveStore } from '../../../../platform/audit/archive-store.js';
import { disclosuresName, skeletonName } from './archive-names.js';

/** An entry as an archive holds it: what it says from the skeleton, its values from beside it. */
export interface ArchivedEntry {
  readonly id: string;
  readonly hash: string;
  readonly event: string;
  readonly payload: string;
  /** Its disclosures, as the log stores them. */
  readonly text: string;
}

export interface RewrittenArchives {
  /** Objects that were replaced. */
  readonly objects: number;
  /** Entries whose values changed. */
  readonly entries: number;
}

/** The values of archived entries. Skeletons, whose digests retention runs have recorded, are never touched. */
@Injectable()
export class ArchivedDisclosures {
  constructor(private readonly archive: ArchiveStore) {}

  /** Of these retention runs, those whose values are there. Whoever has thrown an archive away has erased all that it held. */
  async there(organizationId: string, runs: readonly string[]): Promise<string[]> {
    const found: string[] = [];
    for (const id of runs) if (await this.archive.exists(disclosuresName.of(organizationId, id))) found.push(id);
    return found;
  }

  /** Every entry of these retention runs of an organization, archive by archive. */
  async *of(organizationId: string, runs: readonly string[]): AsyncGenerator<ArchivedEntry> {
    for (const id of runs) yield* this.entriesOf(organizationId, id);
  }

  /**
   * Gives archived entries other disclosures. An object in which nothing changes is left alone, so that a repetition is cheap, and harmless
   * after a crash half-way. One process at a time: two would undo each other.
   *
   * @param change answers an entry's new disclosures, or the same; of an object that is replaced it is asked twice
   * @param before runs before an object is replaced
   */
  async rewrite(
    organizationId: string, runs: readonly string[], change: (entry: ArchivedEntry) => string, before: () => Promise<void>,
  ): Promise<RewrittenArchives> {
    let [objects, entries] = [0, 0];
    for (const id of runs) {
      let changed = 0;
      for await (const entry of this.entriesOf(organizationId, id)) if (change(entry) !== entry.text) changed++;
      if (changed === 0) continue;
      await this.archive.replace(disclosuresName.of(organizationId, id), this.changedLines(organizationId, id, change, before));
      objects++;
      entries += changed;
    }
    return { objects, entries };
  }

  private async *entriesOf(organizationId: string, sweepId: string): AsyncGenerator<ArchivedEntry> {
    const values = this.linesOf('disclosures', disclosuresName.of(organizationId, sweepId));
    try {
      for await (const { id, hash, event, payload } of this.linesOf('entry', skeletonName.of(organizationId, sweepId))) {
        const { done, value } = await values.next();
        if (done || value.id !== id || value.hash !== hash) throw new Error(`the archive of sweep ${sweepId} lacks the values of ${id}`);
        yield { id, hash, event, payload, text: value.text };
      }
    } finally {
      await values.return(undefined);
    }
  }

  private async *linesOf<K extends LineKind>(kind: K, name: string): AsyncGenerator<LineOf<K>, undefined> {
    for await (const stored of this.archive.read(name)) {
      const read = readLine(stored);
      if (!read) throw new Error(`${name} has a line that cannot be read`);
      if (read.kind === kind) yield read as unknown as LineOf<K>;
      else if (kind === 'disclosures') throw new Error(`${name} has a line of kind ${read.kind}`);
    }
    return undefined;
  }

  private async *changedLines(
    organizationId: string, sweepId: string, change: (entry: ArchivedEntry) => string, before: () => Promise<void>,
  ): AsyncGenerator<string> {
    for await (const entry of this.entriesOf(organizationId, sweepId)) {
      const { id, hash } = entry;
      yield lineText(line('disclosures', { id, hash, text: change(entry) })).slice(0, -1);
    }
    await before();
  }
}

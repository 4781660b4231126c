import { Inject, Injectable } from '@nestjs/common';
import type { Blanking } from '../../domain/audit/search-entry.js';
import { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ARCHIVED_LOG, type ArchivedLog } from './archived-log.js';
import { addRows, type ErasureKey, type ErasurePlace, type Stepped } from './erasure.js';
import { ALONE, ErasureLedger, under } from './erasure-ledger.service.js';
import { atPhase, blanked, LookFor, VALUES_AT_ONCE } from './look-for.service.js';

/**
 * Values of entries that were swept. Listed first and blanked then: what is listed twice, or too early, does no harm; a blank that
 * nothing lists is tampering. Doing it again finds what a crash has left.
 */
@Injectable()
export class EraseArchive {
  constructor(
    private readonly work: UnitOfWork,
    private readonly ledger: ErasureLedger,
    private readonly looking: LookFor,
    @Inject(ARCHIVED_LOG) private readonly archived: ArchivedLog,
  ) {}

  async step(key: ErasureKey, from: ErasurePlace): Promise<Stepped> {
    const erasure = await this.work.run(ALONE, (tx) => this.ledger.running(tx, key, from));
    const entries = await this.erase(key, from, this.looking.finder(erasure));
    if (entries === 'waits') return 'end';
    return this.work.run(under(key), async (tx) => {
      const now = await this.ledger.running(tx, key, from);
      const counts = addRows(now.counts, { archived: entries });
      if (now.place.last) return this.ledger.end(tx, { ...now, counts });
      await this.ledger.move(tx, now, atPhase(now.place, 'check'), counts);
      return 'more';
    });
  }

  private async erase(key: ErasureKey, from: ErasurePlace, holds: (text: string) => boolean): Promise<number | 'waits'> {
    let page: Blanking[] = [];
    let values = 0;
    for await (const { id, hash, text } of this.archived.of(key.organizationId)) {
      const found = blankingIn(hash, text, holds, id);
      if (!found) continue;
      if (values + found.pairs.length > VALUES_AT_ONCE) {
        if (!(await this.list(key, from, page))) return 'waits';
        [page, values] = [[], 0];
      }
      page.push(found);
      values += found.pairs.length;
    }
    if (!(await this.list(key, from, page))) return 'waits';
    return (await this.archived.rewrite(key.organizationId, (hash, text) => blankingIn(hash, text, holds)?.after ?? text)).entries;
  }

  /** @returns false where a second person is needed first */
  private async list(key: ErasureKey, from: ErasurePlace, page: readonly Blanking[]): Promise<boolean> {
    if (page.length === 0) return true;
    return this.work.run(under(key), async (tx) => {
      const erasure = await this.ledger.running(tx, key, from);
      if (await this.ledger.waits(tx, erasure, page)) return false;
      this.ledger.list(tx, erasure, page);
      return true;
    });
  }
}

function blankingIn(hash: string, text: string, holds: (text: string) => boolean, id = ''): Blanking | undefined {
  return blanked([{ id, event: '', hash, disclosures: text, pointers: [] }], holds).blankings[0];
}

import { Injectable } from '@nestjs/common';
import { textMatcher } from '../../../domain/audit/erasure/text-matcher.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { VALUES_WITHOUT_CONFIRMATION } from '../execution/erasure.js';
import { RANGES_AT_ONCE } from '../execution/erasure.store.js';
import { blanked } from './erasure-search.service.js';
import { LogSearchQuery } from './log-search.query.js';

/** A call waits no longer for the search. */
const BUDGET_MS = 2_000;

/** What an erasure would blank in the log. */
export interface ErasurePreview {
  readonly values: number;
  readonly entries: number;
  /** Entries of decisions among them. */
  readonly decisions: number;
  /** Whether the whole log was searched. */
  readonly complete: boolean;
}

/** Whether a second person confirms: for many values, for values of decisions, and where the number of values is not known yet. */
export function needsConfirmation({ values, decisions, complete }: ErasurePreview): boolean {
  return !complete || values > VALUES_WITHOUT_CONFIRMATION || decisions > 0;
}

/** Searches the log for texts before anything is erased. */
@Injectable()
export class PreviewErasure {
  constructor(private readonly log: LogSearchQuery) {}

  /** @param whole whether to count on where a second person is needed in any case */
  async preview(tx: Tx, organizationId: string, texts: readonly string[], whole: boolean): Promise<ErasurePreview> {
    const until = performance.now() + BUDGET_MS;
    const matches = textMatcher(texts);
    let found: ErasurePreview = { values: 0, entries: 0, decisions: 0, complete: true };
    for (let from = ''; ; ) {
      const heads = await this.log.heads(tx, organizationId, from, RANGES_AT_ONCE);
      for await (const entries of this.log.pages(tx, organizationId, null, heads)) {
        if (performance.now() > until || (!whole && needsConfirmation(found))) return { ...found, complete: false };
        const { blankings } = await blanked(entries, matches, Infinity);
        found = {
          values: found.values + blankings.reduce((sum, { listed }) => sum + listed.length, 0),
          entries: found.entries + blankings.length,
          decisions: found.decisions + blankings.filter(({ isDecision }) => isDecision).length,
          complete: true,
        };
      }
      if (heads.length < RANGES_AT_ONCE) return found;
      from = heads.at(-1)!.chain;
    }
  }
}

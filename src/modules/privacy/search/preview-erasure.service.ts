import { Injectable } from '@nestjs/common';
import { type TextMatcher, textMatcher } from '../../../domain/audit/erasure/text-matcher.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { type ChainRange, VALUES_WITHOUT_CONFIRMATION } from '../execution/erasure.js';
import { RANGES_AT_ONCE } from '../execution/erasure.store.js';
import { blanked } from './erasure-search.service.js';
import { LogSearchQuery } from './log-search.query.js';

const ENTRIES_AT_ONCE = 100;
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
      for (let rest = heads; rest.length > 0; ) {
        if (performance.now() > until || (!whole && needsConfirmation(found))) return { ...found, complete: false };
        const page = await this.page(tx, organizationId, rest, matches);
        found = {
          values: found.values + page.values,
          entries: found.entries + page.entries,
          decisions: found.decisions + page.decisions,
          complete: true,
        };
        rest = page.rest;
      }
      if (heads.length < RANGES_AT_ONCE) return found;
      from = heads.at(-1)!.chain;
    }
  }

  private async page(tx: Tx, organizationId: string, ranges: ChainRange[], matches: TextMatcher) {
    const entries = await this.log.entries(tx, organizationId, null, ranges, ENTRIES_AT_ONCE);
    const blankings = (await blanked(entries, matches, Infinity)).blankings;
    const last = entries.at(-1);
    const rest = entries.length < ENTRIES_AT_ONCE || !last ? []
      : ranges.slice(ranges.findIndex(({ chain }) => chain === last.chain))
        .flatMap((range) => (range.chain !== last.chain ? [range] : range.high > last.seq ? [{ ...range, low: last.seq }] : []));
    return {
      rest,
      values: blankings.reduce((sum, { listed }) => sum + listed.length, 0),
      entries: blankings.length,
      decisions: blankings.filter(({ isDecision }) => isDecision).length,
    };
  }
}

import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type Blanking, blankingOf, type SearchedEntry, searchedTexts, textsAt } from '../../../domain/audit/erasure/search-entry.js';
import { type TextMatcher, textMatcher } from '../../../domain/audit/erasure/text-matcher.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { type ChainRange, type Erasure, type ErasureCursor, VALUES_WITHOUT_CONFIRMATION } from '../execution/erasure.js';
import { ErasureStore, RANGES_AT_ONCE } from '../execution/erasure.store.js';
import { SealedSearchTexts } from '../requests/sealed-search-texts.js';
import { ENTRIES_AT_ONCE, LogSearchQuery, restOf } from './log-search.query.js';

/** Committed values that one transaction blanks, and one entry lists. */
export const VALUES_AT_ONCE = 1_000;

/** Values that a search has found, and the cursor once these are blank. */
export interface ErasureSearchResult {
  /** The cursor before the search. */
  readonly from: ErasureCursor;
  readonly cursor: ErasureCursor;
  readonly blankings: readonly Blanking[];
  readonly unreadable: number;
  /** All texts to search for, sealed, where the search has learned of further ones. */
  readonly texts?: Buffer;
}

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

/** Searches the log for values to blank: of a user first the entries that name the user, then those that hold the user's texts. */
@Injectable()
export class ErasureSearch {
  constructor(
    private readonly store: ErasureStore,
    private readonly log: LogSearchQuery,
    private readonly texts: SealedSearchTexts,
  ) {}

  /** Entries that name the user. Addresses and former names in them are searched for as well. */
  async subjects(tx: Tx, erasure: Erasure): Promise<ErasureSearchResult> {
    const { organizationId, cursor } = erasure;
    const [userId, after] = [erasure.userId!, cursor.entry ?? ''];
    const { entries, end } = await this.log.ofUser(tx, organizationId, userId, after);
    if (end === undefined) return nothing(cursor, 'log');
    const known = this.texts.open(erasure.id, erasure.texts);
    const found = entries.flatMap(({ disclosures, pointers }) => legible(() => textsAt(disclosures, pointers)) ?? []);
    const texts = searchedTexts([...known, ...found]);
    const { blankings, unreadable, last } = await blanked(entries, cursor.ownOnly ? () => false : textMatcher(texts));
    const entry = last === entries.length - 1 || entries.length === 0 ? end : entries[last]!.id;
    const learned = texts.length > known.length ? { texts: this.texts.seal(erasure.id, texts) } : {};
    return { from: cursor, cursor: { ...cursor, entry }, blankings, unreadable, ...learned };
  }

  /** Entries in the scope of the round that hold one of the texts. */
  async inLog(tx: Tx, erasure: Erasure): Promise<ErasureSearchResult> {
    const { cursor } = erasure;
    const ranges = (await this.store.unsearched(tx, erasure, cursor.chain)).flatMap((range) => restOf(range, cursor));
    if (ranges.length === 0) return nothing(cursor, 'rows');
    const entries = await this.log.entries(tx, erasure.organizationId, erasure.userId, ranges, ENTRIES_AT_ONCE);
    const { blankings, unreadable, last } = await blanked(entries, this.matcherOf(erasure));
    const isWhole = last === entries.length - 1 && entries.length < ENTRIES_AT_ONCE;
    const { chain, seq } = isWhole ? endOf(ranges) : entries[last]!;
    return { from: cursor, cursor: { ...cursor, chain, seq }, blankings, unreadable };
  }

  /** Whether entries since the last round hold values to blank. */
  async isInNewEntries(tx: Tx, erasure: Erasure): Promise<boolean> {
    const matches = this.matcherOf(erasure);
    for (let from = ''; ; ) {
      const news = await this.store.newEntries(tx, erasure, from);
      if (await this.isIn(tx, erasure, news, matches)) return true;
      if (news.length < RANGES_AT_ONCE) return false;
      from = news.at(-1)!.chain;
    }
  }

  /**
   * What an erasure of these texts would blank.
   *
   * @param whole whether to count on where a second person is needed in any case
   */
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

  /** Matches the texts; nothing where a confirmation is awaited. */
  matcherOf(erasure: Erasure): TextMatcher {
    if (erasure.cursor.ownOnly) return () => false;
    return textMatcher(this.texts.open(erasure.id, erasure.texts));
  }

  private async isIn(tx: Tx, { organizationId, userId }: Erasure, news: readonly ChainRange[], matches: TextMatcher) {
    for await (const entries of this.log.pages(tx, organizationId, userId, news)) {
      if ((await blanked(entries, matches)).blankings.length > 0) return true;
    }
    return false;
  }
}

/** The cursor at the beginning of another phase. */
export function atPhase({ round, last, archives, ownOnly }: ErasureCursor, phase: ErasureCursor['phase']): ErasureCursor {
  return {
    phase, round, ...(archives === undefined ? {} : { archives }), ...(ownOnly ? { ownOnly } : {}), ...(last ? { last } : {}),
  };
}

/** How long other calls wait while entries are searched, each of which may take tens of milliseconds. */
const UNSHARED_MS = 20;

/** The values that each entry loses, of as many entries as one transaction takes. Other calls come in between. */
export async function blanked(entries: readonly SearchedEntry[], matches: TextMatcher, most = VALUES_AT_ONCE) {
  const blankings: Blanking[] = [];
  let [values, unreadable, last] = [0, 0, -1];
  let since = performance.now();
  for (const entry of entries) {
    if (performance.now() - since > UNSHARED_MS) {
      await setImmediate();
      since = performance.now();
    }
    const one = legible(() => blankingOf(entry, matches));
    if (one === null) unreadable++;
    if (one && values > 0 && values + one.listed.length > most) break;
    if (one) blankings.push(one);
    values += one?.listed.length ?? 0;
    last++;
  }
  return { blankings, unreadable, last };
}

/** The values that one entry loses, if any. */
export function blankedOne(entry: SearchedEntry, matches: TextMatcher): Blanking | undefined {
  return legible(() => blankingOf(entry, matches)) ?? undefined;
}

/** Disclosures that cannot be read, or are too deep, were tampered with: verification names them, and nothing in them can be blanked. */
export function legible<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError) return null;
    throw error;
  }
}

function nothing(from: ErasureCursor, phase: ErasureCursor['phase']): ErasureSearchResult {
  return { from, cursor: atPhase(from, phase), blankings: [], unreadable: 0 };
}

function endOf(ranges: readonly ChainRange[]): { chain: string; seq: number } {
  const { chain, high } = ranges.at(-1)!;
  return { chain, seq: high };
}

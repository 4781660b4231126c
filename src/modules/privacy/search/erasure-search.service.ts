import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type Blanking, blankingOf, type SearchedEntry, searchedTexts, textsAt } from '../../../domain/audit/erasure/search-entry.js';
import { type TextMatcher, textMatcher } from '../../../domain/audit/erasure/text-matcher.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { ChainRange, Erasure, ErasureCursor } from '../execution/erasure.js';
import { ErasureStore, RANGES_AT_ONCE } from '../execution/erasure.store.js';
import { SealedSearchTexts } from '../requests/sealed-search-texts.js';
import { LogSearchQuery } from './log-search.query.js';

/** Entries read at once: each may hold a few hundred kilobytes. */
const ENTRIES_AT_ONCE = 100;
/** Committed values that one transaction blanks, and one entry lists. */
export const VALUES_AT_ONCE = 1_000;

/** What a look found, and where the erasure stands once that is blank. */
export interface ErasureSearchResult {
  /** Where the erasure stood when it was looked. */
  readonly from: ErasureCursor;
  readonly place: ErasureCursor;
  readonly blankings: readonly Blanking[];
  readonly unreadable: number;
  /** All that is searched for from here on, sealed, where the look learned of more. */
  readonly texts?: Buffer;
}

/** Looks for what an erasure has to blank: of a user first by what the log knows of them, then by their texts. */
@Injectable()
export class ErasureSearch {
  constructor(
    private readonly store: ErasureStore,
    private readonly log: LogSearchQuery,
    private readonly texts: SealedSearchTexts,
  ) {}

  /** What names the user; and the addresses and former names that it tells are searched for with the rest. */
  async subjects(tx: Tx, erasure: Erasure): Promise<ErasureSearchResult> {
    const { organizationId, place } = erasure;
    const [userId, after] = [erasure.userId!, place.entry ?? ''];
    const end = await this.log.endOfPage(tx, organizationId, userId, after, ENTRIES_AT_ONCE);
    if (end === undefined) return nothing(place, 'log');
    const known = this.texts.open(erasure.id, erasure.texts);
    const entries = await this.log.ofUser(tx, organizationId, userId, after, ENTRIES_AT_ONCE);
    const told = entries.flatMap(({ disclosures, pointers }) => legible(() => textsAt(disclosures, pointers)) ?? []);
    const texts = searchedTexts([...known, ...told]);
    const { blankings, unreadable, last } = await blanked(entries, place.ownOnly ? () => false : textMatcher(texts));
    const entry = last === entries.length - 1 || entries.length === 0 ? end : entries[last]!.id;
    const learned = texts.length > known.length ? { texts: this.texts.seal(erasure.id, texts) } : {};
    return { from: place, place: { ...place, entry }, blankings, unreadable, ...learned };
  }

  /** What holds one of the texts, up to where the present round goes. */
  async inLog(tx: Tx, erasure: Erasure): Promise<ErasureSearchResult> {
    const { place } = erasure;
    const ranges = (await this.store.ranges(tx, erasure, place.chain)).flatMap((range) => restOf(range, place));
    if (ranges.length === 0) return nothing(place, 'rows');
    const entries = await this.log.entries(tx, erasure.organizationId, erasure.userId, ranges, ENTRIES_AT_ONCE);
    const { blankings, unreadable, last } = await blanked(entries, this.finder(erasure));
    const isWhole = last === entries.length - 1 && entries.length < ENTRIES_AT_ONCE;
    const { chain, seq } = isWhole ? endOf(ranges) : entries[last]!;
    return { from: place, place: { ...place, chain, seq }, blankings, unreadable };
  }

  /** Whether something to blank has come since the last round's end. */
  async isInNews(tx: Tx, erasure: Erasure): Promise<boolean> {
    const holds = this.finder(erasure);
    for (let from = ''; ; ) {
      const news = await this.store.news(tx, erasure, from);
      if (await this.isIn(tx, erasure, news, holds)) return true;
      if (news.length < RANGES_AT_ONCE) return false;
      from = news.at(-1)!.chain;
    }
  }

  /** By its texts; none where those wait for somebody to confirm them. */
  finder(erasure: Erasure): TextMatcher {
    if (erasure.place.ownOnly) return () => false;
    return textMatcher(this.texts.open(erasure.id, erasure.texts));
  }

  private async isIn(tx: Tx, { organizationId, userId }: Erasure, news: readonly ChainRange[], holds: TextMatcher) {
    for (let rest = news; rest.length > 0; ) {
      const entries = await this.log.entries(tx, organizationId, userId, rest, ENTRIES_AT_ONCE);
      if ((await blanked(entries, holds)).blankings.length > 0) return true;
      const last = entries.at(-1);
      if (entries.length < ENTRIES_AT_ONCE || !last) return false;
      rest = rest.slice(rest.findIndex(({ chain }) => chain === last.chain)).flatMap((range) => restOf(range, last));
    }
    return false;
  }
}

/** The place at the beginning of another phase. */
export function atPhase({ round, last, archives, ownOnly }: ErasureCursor, phase: ErasureCursor['phase']): ErasureCursor {
  return {
    phase, round, ...(archives === undefined ? {} : { archives }), ...(ownOnly ? { ownOnly } : {}), ...(last ? { last } : {}),
  };
}

/** How long others wait while entries are looked at, each of which may take tens of milliseconds. */
const UNSHARED_MS = 20;

/** What each entry loses, of as many of them as one transaction takes; calls of others come in between. */
export async function blanked(entries: readonly SearchedEntry[], holds: TextMatcher, most = VALUES_AT_ONCE) {
  const blankings: Blanking[] = [];
  let [values, unreadable, last] = [0, 0, -1];
  let since = performance.now();
  for (const entry of entries) {
    if (performance.now() - since > UNSHARED_MS) {
      await setImmediate();
      since = performance.now();
    }
    const one = legible(() => blankingOf(entry, holds));
    if (one === null) unreadable++;
    if (one && values > 0 && values + one.listed.length > most) break;
    if (one) blankings.push(one);
    values += one?.listed.length ?? 0;
    last++;
  }
  return { blankings, unreadable, last };
}

/** What one entry loses, if anything. */
export function blankedOne(entry: SearchedEntry, holds: TextMatcher): Blanking | undefined {
  return legible(() => blankingOf(entry, holds)) ?? undefined;
}

/** Disclosures that are none, or too deep, have been tampered with: verification names them, and nothing can be blanked in them. */
export function legible<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError) return null;
    throw error;
  }
}

function nothing(from: ErasureCursor, phase: ErasureCursor['phase']): ErasureSearchResult {
  return { from, place: atPhase(from, phase), blankings: [], unreadable: 0 };
}

function restOf(range: ChainRange, at: { readonly chain?: string; readonly seq?: number }): ChainRange[] {
  if (range.chain !== at.chain) return [range];
  return range.high > at.seq! ? [{ ...range, low: Math.max(range.low, at.seq!) }] : [];
}

function endOf(ranges: readonly ChainRange[]): { chain: string; seq: number } {
  const { chain, high } = ranges.at(-1)!;
  return { chain, seq: high };
}

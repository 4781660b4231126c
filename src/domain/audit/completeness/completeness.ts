import { firstIdAt, type IdPrefix } from '../../ids.js';
import type { Finding } from '../integrity/findings.js';
import { isAgentChain, organizationChain } from '../entry/chain.js';
import type { RecordKind, RecordRow } from './record-row.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { chainKey, FollowedChains } from '../replay/chain-followers.js';
import { isolateFailure } from '../replay/isolate-failure.js';
import {
  disagreed, disagreement, incompleteFinding, neverRecorded, recordedTwice, uncheckedClaim, uncheckedRow, withoutEntry, withoutRow,
} from './completeness-findings.js';
import { openCheckedEntry } from './metadata-check.js';
import { type OpenEntry, stampOf } from '../entry/open-entry.js';
import {
  briefed, claimsOfRow, keyOfClaim, type RecordedFactListener, otherTexts, type RecordClaim, type RowClaim, textOfClaim, type RecordedFact, type RecordedTexts,
} from './record-claim.js';
import type { RecordGaps } from './superseded/record-gaps.js';
import { bucketOf, RecordHashes } from './record-hashes.js';
import { RECORD_EVENTS, RecordedState, WITH_VALUES } from './recorded-state.js';
import { parted } from './recorded-texts.js';

/** How far a clock may have been wrong. */
export const WRONG_CLOCK_MS = 3_600_000;

/** Groups of things that differ and are named; of each of the rest only that it differs is told. */
const GROUPS_NAMED = 1_000;

/** A vote's name begins with its request's. */
const ID_PREFIXES: Readonly<Record<RecordKind, IdPrefix>> = {
  execution: 'exec', request: 'hitl', vote: 'hitl', grant: 'grt', erasure: 'ers',
};

/** Where rows and entries are read from, of one moment. */
export interface RecordSources {
  rows(): AsyncIterable<{ readonly kind: RecordKind; readonly rows: readonly RecordRow[] }>;
  /** The entries that were judged, once more. Asked only where something differs, to name it. */
  entries(): AsyncIterable<readonly StoredEntry[]>;
}

export interface CompletenessFound {
  /** What entries tell of, and rows show: executions, requests, votes, grants, erasures, reports, settlements. */
  readonly checked: number;
  /** Rows whose entries a sweep has archived. */
  readonly swept: number;
  readonly breaks: readonly Finding[];
  readonly breaksFound: number;
}

/** Texts of one thing that are compared by themselves, and the entry that told them. */
type Apart = Pick<RecordedFact, 'place'> & { readonly texts: RecordedTexts };

/** What sweeps have said of themselves in the log. */
export interface RecordedRetentionRuns {
  /** When the chain was last cut, in milliseconds; undefined where it was not. */
  sweptAt(organizationId: string, chain: string): number | undefined;
  /** Whether any chain of the organization was cut. */
  hasSwept(organizationId: string): boolean;
}

/**
 * Whether rows and entries agree, both ways. Entries are followed chain by chain; what is told of each thing is only summed up, and so
 * are the rows, so that a million executions take no more memory than one. Where the sums differ, both are read once more and those
 * that differ are named.
 */
export class Completeness {
  private readonly sums: RecordHashes;
  private readonly chains = new FollowedChains((chain) => this.begin(chain));
  /** Of each chain that begins after a cut: the time of its first entry. */
  private readonly cuts = new Map<string, number>();
  /** Told in a chain that was cut, so near the cut that only the row itself can be compared; and its grants and erasures. */
  private readonly nearCuts = new Map<string, RecordedFact>();
  /** Texts of which something is erased, here or in the row: compared by themselves. */
  private readonly apart = new Map<string, Apart>();
  private readonly found: Finding[] = [];
  private checked = 0;
  private swept = 0;
  private unnamed = 0;

  /** @param ofOneAgent only one agent's chain is read, so what its organization's chain says of it is not there */
  constructor(
    key: Uint8Array,
    private readonly sweeps: RecordedRetentionRuns,
    private readonly gaps: RecordGaps,
    private readonly ofOneAgent: boolean,
  ) {
    this.sums = new RecordHashes(key);
  }

  /** Things whose texts are kept until their rows come. */
  get kept(): number {
    return this.apart.size + this.nearCuts.size;
  }

  /** @param opened of the events in `RECORD_EVENTS`; of others only their place counts */
  entry(stored: StoredEntry, opened: OpenEntry | undefined): void {
    this.chains.entry(stored, opened);
  }

  async end({ rows, entries }: RecordSources): Promise<CompletenessFound> {
    this.chains.end();
    for await (const { kind, rows: batch } of rows()) {
      for (const row of batch) {
        isolateFailure(() => claimsOfRow(kind, row).forEach((fact) => this.subtract(fact)), (why) => this.found.push(uncheckedRow(kind, row, why)));
      }
    }
    for (const told of this.nearCuts.values()) this.found.push(withoutRow(told));
    const unequal = this.sums.unequal();
    if (unequal.size > 0) await this.name(unequal, { rows, entries });
    return { checked: this.checked, swept: this.swept, breaks: this.found, breaksFound: this.found.length + this.unnamed };
  }

  private begin(first: StoredEntry): RecordedState {
    const isCut = this.isCut(first);
    if (isCut) this.cuts.set(chainKey(first.organizationId, first.chain), stampOf(first));
    const told = (fact: RecordedFact) => void isolateFailure(() => this.add(fact), (why) => this.found.push(uncheckedClaim(fact, why)));
    return this.follow(first, told, (place, detail) => this.found.push(incompleteFinding(place, detail)));
  }

  private follow(first: StoredEntry, told: RecordedFactListener['told'], contradiction: RecordedFactListener['contradiction']): RecordedState {
    const erasedIn = (key: string) => this.gaps.erasedIn(key);
    const agentId = isAgentChain(first.chain) ? first.chain : null;
    return new RecordedState(first.organizationId, agentId, this.isCut(first), { told, erasedIn, contradiction });
  }

  private isCut({ organizationId, chain, seq }: StoredEntry): boolean {
    return seq > 1 && this.sweeps.sweptAt(organizationId, chain) !== undefined;
  }

  private add(told: RecordedFact): void {
    const compared = this.comparedBy(told);
    if (compared === 'nothing') return;
    this.checked++;
    const key = keyOfClaim(told);
    const texts = this.left(key, told.texts);
    if (compared === 'row') return void this.nearCuts.set(key, { ...told, texts });
    const { apart, summed } = parted(texts ?? {});
    if (apart) this.apart.set(key, { place: told.place, texts: apart });
    this.sums.add(key, textOfClaim(told, summed));
  }

  private subtract(fact: RowClaim): void {
    this.found.push(...neverRecorded(fact));
    const compared = this.comparedBy(fact);
    if (compared === 'nothing') return;
    const key = keyOfClaim(fact);
    if (compared === 'row') {
      const told = this.nearCuts.get(key);
      this.nearCuts.delete(key);
      if (!told) this.swept++;
      else this.found.push(...disagreement(fact, told));
      return;
    }
    const apart = this.apart.get(key);
    if (apart) this.found.push(...disagreed(fact, apart, otherTexts(fact, apart.texts)));
    const { kind } = fact;
    this.sums.subtract(key, textOfClaim(fact, briefed({ kind, shown: this.left(key, fact.shown) }, apart?.texts)));
  }

  /** What is compared of a thing's texts: where retention has blanked it, only what that leaves. */
  private left<Text>(key: string, texts: Readonly<Record<string, Text>> | undefined): Readonly<Record<string, Text>> | undefined {
    if (!texts || !this.gaps.isBlank(key)) return texts;
    return Object.fromEntries(Object.entries(texts).filter(([name]) => this.gaps.keeps(key, name)));
  }

  /**
   * How something is compared; rows and entries come to the same answer by what both of them say. A sweep never parts the entries of
   * one execution or request, nor passes an open one, so what ended before the first entry that is left may be archived. What was made
   * after that by its own id, or ended after it by its last entry's, and by more than clocks are wrong, must be told.
   */
  private comparedBy({ kind, organizationId, id, agentId, entryId }: RecordClaim): 'sum' | 'row' | 'nothing' {
    if (kind === 'report' || kind === 'settlement') {
      return this.ofOneAgent || this.sweeps.hasSwept(organizationId) ? 'nothing' : 'sum';
    }
    const chain = agentId ?? organizationChain(organizationId).chain;
    const cut = this.cuts.get(chainKey(organizationId, chain)) ?? this.goneAt(organizationId, chain);
    if (cut === undefined || id >= firstIdAt(ID_PREFIXES[kind], cut + WRONG_CLOCK_MS)) return 'sum';
    if (kind === 'grant' || kind === 'erasure') return 'row';
    return entryId !== null && entryId < firstIdAt('audit', cut + WRONG_CLOCK_MS) ? 'row' : 'sum';
  }

  /** Of a chain of which nothing is left. */
  private goneAt(organizationId: string, chain: string): number | undefined {
    return this.chains.hasSeen(organizationId, chain) ? undefined : this.sweeps.sweptAt(organizationId, chain);
  }

  /** Of rows that can be judged: the others are named already. */
  private *factsIn(kind: RecordKind, rows: readonly RecordRow[]): Generator<RowClaim> {
    for (const row of rows) yield* isolateFailure(() => claimsOfRow(kind, row), () => []);
  }

  /** Reads rows and entries once more, and says of each thing in an uneven group in what the two differ. */
  private async name(unequal: ReadonlySet<number>, sources: RecordSources): Promise<void> {
    const named = new Set([...unequal].slice(0, GROUPS_NAMED));
    this.unnamed = unequal.size - named.size;
    const isAsked = (fact: RecordClaim) => named.has(bucketOf(keyOfClaim(fact))) && this.comparedBy(fact) === 'sum';
    const told = await this.toldOnceMore(sources, isAsked);
    for await (const { kind, rows } of sources.rows()) {
      for (const fact of this.factsIn(kind, rows)) {
        if (!isAsked(fact)) continue;
        this.found.push(...isolateFailure(() => this.differing(fact, told.get(keyOfClaim(fact)) ?? []), (why) => [uncheckedClaim(fact, why)]));
        told.delete(keyOfClaim(fact));
      }
    }
    for (const [fact] of told.values()) this.found.push(withoutRow(fact!));
  }

  /** What entries tell of each thing that is asked for, by its key. */
  private async toldOnceMore({ entries }: RecordSources, isAsked: (fact: RecordClaim) => boolean): Promise<Map<string, RecordedFact[]>> {
    const told = new Map<string, RecordedFact[]>();
    const listen = (fact: RecordedFact) => {
      if (!isolateFailure(() => isAsked(fact), () => false)) return;
      const key = keyOfClaim(fact);
      const facts = told.get(key);
      if (facts) facts.push(fact);
      else told.set(key, [fact]);
    };
    const chains = new FollowedChains((first) => this.follow(first, listen, () => undefined));
    for await (const batch of entries()) for (const one of batch) isolateFailure(() => chains.entry(one, openRecord(one)), () => undefined);
    chains.end();
    return told;
  }

  /** Texts that were compared by themselves are done with. */
  private differing(row: RowClaim, [told, again]: readonly RecordedFact[]): readonly Finding[] {
    if (!told) return [withoutEntry(row)];
    if (again) return [recordedTwice(again)];
    const key = keyOfClaim(row);
    const apart = this.apart.get(key)?.texts ?? {};
    const texts = Object.entries(this.left(key, told.texts) ?? {}).filter(([name]) => !Object.hasOwn(apart, name));
    return disagreement(row, { ...told, texts: Object.fromEntries(texts) });
  }
}

/** Opens an entry if its event counts here. */
export function openRecord(stored: StoredEntry): OpenEntry | undefined {
  return RECORD_EVENTS.has(stored.event) ? openCheckedEntry(stored, WITH_VALUES.has(stored.event)) : undefined;
}

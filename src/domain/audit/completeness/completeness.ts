import { getOrInsert } from '../../collections.js';
import { firstIdAt, type IdPrefix } from '../../ids.js';
import { agentChain, chainKey, type ChainRef, isAgentChain, organizationChain } from '../entry/chain.js';
import { type OpenEntry, stampOf } from '../entry/open-entry.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import type { Finding } from '../integrity/findings.js';
import { isolateFailure } from '../replay/isolate-failure.js';
import { contradiction, disagreement, malformedRow, recordedTwice, unreadable, withoutEntry, withoutRow } from './completeness-findings.js';
import { openCheckedEntry } from './metadata-check.js';
import {
  briefsOf, claimsOfRow, isWhole, keyOfClaim, type RecordClaim, type RecordedFact, type RecordedFactListener, type RowClaim, textOfClaim,
} from './record-claim.js';
import type { RecordGaps } from './record-gaps.js';
import { bucketOf, RecordHashes } from './record-hashes.js';
import type { RecordKind, RecordRow } from './record-row.js';
import { RECORD_EVENTS, RecordedState, WITH_VALUES } from './recorded-state.js';

/** How far a clock may have been wrong. */
export const WRONG_CLOCK_MS = 3_600_000;

/** Buckets with differences whose records are named; the others are only counted. */
const BUCKETS_NAMED = 1_000;

/** The id of a vote begins with that of its request. */
const ID_PREFIXES: Readonly<Record<Exclude<RecordKind, 'secret'>, IdPrefix>> = {
  execution: 'exec', request: 'hitl', vote: 'hitl', grant: 'grt', erasure: 'ers', task: 'task',
};

/** Rows and entries of one moment. */
export interface RecordSources {
  rows(): AsyncIterable<{ readonly kind: RecordKind; readonly rows: readonly RecordRow[] }>;
  /** The entries once more: read only where something differs, to name the records. */
  entries(): AsyncIterable<readonly StoredEntry[]>;
}

export interface CompletenessFound {
  /** Records in entries: executions, requests, votes, grants, tasks, erasures, secrets, reports, settlements. */
  readonly checked: number;
  /** Rows whose entries a retention run has archived. */
  readonly swept: number;
  readonly breaks: readonly Finding[];
  readonly breaksFound: number;
}

/** Retention runs that the log authorizes. */
export interface RecordedRetentionRuns {
  /** When the chain was last cut, in milliseconds; undefined where it was not. */
  sweptAt(organizationId: string, chain: string): number | undefined;
  hasSwept(organizationId: string): boolean;
}

/** Whether a row needs entries: it does, it may have lost them to a retention run, or they are in a chain that is not read. */
type Requirement = 'required' | 'optional' | 'unread';

/**
 * Whether rows and entries agree, both ways. The facts in the entries of each chain are added to sums, and rows are subtracted: a million
 * executions take no more memory than one. Where sums differ, both sides are read once more, to name the records. A record of which
 * something is erased, or whose entries may be archived, is kept and compared by itself.
 */
export class Completeness {
  private readonly sums: RecordHashes;
  private readonly chains = new FollowedChains((first) => {
    if (this.isCut(first)) this.cuts.set(chainKey(first), stampOf(first));
    return this.follow(first, (fact) => void isolateFailure(() => this.add(fact), (why) => this.found.push(unreadable(fact, why))),
      (ref, what) => this.found.push(contradiction(ref, what)));
  });
  /** The time of the first entry of each chain that was cut. */
  private readonly cuts = new Map<string, number>();
  /** Facts that are compared by themselves, and the keys of those whose row has come. */
  private readonly kept = new Map<string, RecordedFact>();
  private readonly matched = new Set<string>();
  private readonly found: Finding[] = [];
  private checked = 0;
  private swept = 0;

  /** @param ofOneAgent only one agent's chain is read, so what the chain of its organization says of the agent is not there */
  constructor(
    key: Uint8Array, private readonly runs: RecordedRetentionRuns, private readonly gaps: RecordGaps, private readonly ofOneAgent: boolean,
  ) {
    this.sums = new RecordHashes(key);
  }

  /** How many facts are kept until their rows come. */
  get keptFacts(): number {
    return this.kept.size;
  }

  /** @param opened of the events in `RECORD_EVENTS`; of others only the position counts */
  entry(stored: StoredEntry, opened: OpenEntry | undefined): void {
    this.chains.entry(stored, opened);
  }

  async end(sources: RecordSources): Promise<CompletenessFound> {
    this.chains.end();
    for await (const { kind, rows } of sources.rows()) {
      for (const row of rows) {
        isolateFailure(() => claimsOfRow(kind, row).forEach((claim) => this.subtract(claim)), (why) =>
          this.found.push(unreadable({ ...row, kind }, why)));
      }
    }
    for (const [key, fact] of this.kept) if (!this.matched.has(key)) this.found.push(withoutRow(fact));
    const unequal = this.sums.unequal();
    if (unequal.size > 0) await this.name(new Set([...unequal].slice(0, BUCKETS_NAMED)), sources);
    const unnamed = Math.max(0, unequal.size - BUCKETS_NAMED);
    return { checked: this.checked, swept: this.swept, breaks: this.found, breaksFound: this.found.length + unnamed };
  }

  private follow(
    first: StoredEntry, fact: RecordedFactListener['fact'], contradicts: RecordedFactListener['contradiction'],
  ): RecordedState {
    const { organizationId, chain } = first;
    const followed = { organizationId, agentId: isAgentChain(chain) ? chain : null, isCut: this.isCut(first) };
    return new RecordedState(followed, { fact, contradiction: contradicts, erasedInRow: (key) => this.gaps.erasedInRow(key) });
  }

  private isCut({ organizationId, chain, seq }: StoredEntry): boolean {
    return seq > 1 && this.runs.sweptAt(organizationId, chain) !== undefined;
  }

  private add(all: RecordedFact): void {
    const requirement = this.requirementOf(all);
    if (requirement === 'unread') return;
    this.checked++;
    const key = keyOfClaim(all);
    const fact = this.comparable(all);
    if (requirement === 'required' && isWhole(fact)) this.sums.add(key, textOfClaim(fact, fact.texts));
    else if (this.kept.has(key)) this.found.push(recordedTwice(fact));
    else this.kept.set(key, fact);
  }

  private subtract(all: RowClaim): void {
    this.found.push(...malformedRow(all));
    const requirement = this.requirementOf(all);
    if (requirement === 'unread') return;
    const key = keyOfClaim(all);
    const [claim, fact] = [this.shown(all), this.kept.get(key)];
    if (fact) {
      this.matched.add(key);
      this.found.push(...disagreement(claim, fact));
    } else if (requirement === 'optional') this.swept++;
    else this.sums.subtract(key, textOfClaim(claim, briefsOf(claim.kind, claim.shown)));
  }

  /** Where retention has blanked the row, only the texts that are left there are compared. */
  private comparable(fact: RecordedFact): RecordedFact {
    return { ...fact, texts: this.gaps.withoutBlank(keyOfClaim(fact), fact.texts) };
  }

  private shown(claim: RowClaim): RowClaim {
    return { ...claim, shown: this.gaps.withoutBlank(keyOfClaim(claim), claim.shown) };
  }

  /**
   * The same for a row and its entries. A retention run takes the entries of an execution or a request together, and of no open one, so a
   * record that ended before the first entry that is left may be archived. One that was made later by its own id, or ended later by its
   * last entry's, beyond errors of clocks, must have entries.
   */
  private requirementOf({ kind, organizationId, id, agentId, entryId }: RecordClaim): Requirement {
    if (kind === 'report' || kind === 'settlement') {
      return this.ofOneAgent || this.runs.hasSwept(organizationId) ? 'unread' : 'required';
    }
    const chain = agentId ? agentChain(organizationId, agentId) : organizationChain(organizationId);
    const cut = this.cuts.get(chainKey(chain)) ??
      (this.chains.hasSeen(chain) ? undefined : this.runs.sweptAt(organizationId, chain.chain));
    if (cut === undefined) return 'required';
    // A secret's id is its name.
    if (kind === 'secret') return 'optional';
    if (id >= firstIdAt(ID_PREFIXES[kind], cut + WRONG_CLOCK_MS)) return 'required';
    if (kind === 'grant' || kind === 'erasure' || kind === 'task') return 'optional';
    return entryId !== null && entryId < firstIdAt('audit', cut + WRONG_CLOCK_MS) ? 'optional' : 'required';
  }

  /** Reads rows and entries once more, and names the differences of each record in these buckets. */
  private async name(buckets: ReadonlySet<number>, { rows, entries }: RecordSources): Promise<void> {
    const isNamed = (claim: RecordClaim) => buckets.has(bucketOf(keyOfClaim(claim))) && this.requirementOf(claim) === 'required';
    const facts = await this.factsAgain(entries(), isNamed);
    for await (const { kind, rows: batch } of rows()) {
      // A row whose claims cannot be read is named already.
      const claims = batch.flatMap((row) => isolateFailure(() => claimsOfRow(kind, row).filter(isNamed), () => []));
      for (const claim of claims) {
        const key = keyOfClaim(claim);
        this.found.push(...isolateFailure(() => this.compare(claim, facts.get(key) ?? []), (why) => [unreadable(claim, why)]));
        facts.delete(key);
      }
    }
    for (const [key, [fact]] of facts) if (!this.kept.has(key)) this.found.push(withoutRow(fact!));
  }

  private async factsAgain(
    entries: AsyncIterable<readonly StoredEntry[]>, isNamed: (fact: RecordedFact) => boolean,
  ): Promise<Map<string, RecordedFact[]>> {
    const facts = new Map<string, RecordedFact[]>();
    const listen = (fact: RecordedFact) => {
      if (!isolateFailure(() => isNamed(fact), () => false)) return;
      getOrInsert(facts, keyOfClaim(fact), () => []).push(fact);
    };
    const chains = new FollowedChains((first) => this.follow(first, listen, () => undefined));
    for await (const batch of entries) for (const one of batch) isolateFailure(() => chains.entry(one, openRecord(one)), () => undefined);
    chains.end();
    return facts;
  }

  private compare(claim: RowClaim, [fact, again]: readonly RecordedFact[]): readonly Finding[] {
    if (!fact) return [withoutEntry(claim)];
    if (again) return [recordedTwice(again)];
    return this.kept.has(keyOfClaim(claim)) ? [] : disagreement(this.shown(claim), this.comparable(fact));
  }
}

/** Feeds each chain's entries, in order, to a new RecordedState. Chains come one after another. */
class FollowedChains {
  private current: { key: string; records: RecordedState } | undefined;
  private readonly seen = new Set<string>();

  /** @param begin makes the recorded state of the chain whose first entry this is */
  constructor(private readonly begin: (first: StoredEntry) => RecordedState) {}

  /** @param opened undefined where the entry is not sound: it counts as seen, and records nothing */
  entry(stored: StoredEntry, opened: OpenEntry | undefined): void {
    const key = chainKey(stored);
    if (this.current?.key !== key) {
      this.end();
      this.seen.add(key);
      this.current = { key, records: this.begin(stored) };
    }
    if (opened) this.current.records.entry(opened);
  }

  end(): void {
    const { current } = this;
    this.current = undefined;
    current?.records.end();
  }

  hasSeen(ref: ChainRef): boolean {
    return this.seen.has(chainKey(ref));
  }
}

/** Opens an entry if completeness needs its event. */
export function openRecord(stored: StoredEntry): OpenEntry | undefined {
  return RECORD_EVENTS.has(stored.event) ? openCheckedEntry(stored, WITH_VALUES.has(stored.event)) : undefined;
}

import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../json.js';
import { checkEntry } from '../entry/check-entry.js';
import { openCheckpoint, originOf, type TreeHead } from '../notes/checkpoint.js';
import { entryOf, readLine, type LineOf } from '../export/export-lines.js';
import type { VerifierKey } from '../notes/note.js';
import { readHash } from '../tree/rfc6962.js';
import { checkConsistency } from '../tree/tree-proofs.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { type Finding, MAX_FINDINGS } from '../integrity/findings.js';
import { blanksListed, UNLISTED_BLANK } from '../integrity/verify-erasures.js';

/** The two objects of an archive, line by line. */
export interface ArchiveObjects {
  readonly skeleton: AsyncIterable<string>;
  readonly disclosures: AsyncIterable<string>;
}

/** Identifies an archive: organization, instance, and the checkpoint below which its retention run cut. */
export interface ArchiveClaim {
  readonly organizationId: string;
  readonly instance: string;
  readonly checkpoint?: TreeHead;
}

export type ArchiveFinding = Finding & { readonly kind: 'archive_altered' | 'unauthorised_erasure' };

/** The entries of one chain in an archive. */
export interface ArchivedStretch {
  readonly first: Pick<StoredEntry, 'seq' | 'prevHash' | 'event'>;
  readonly last: Pick<StoredEntry, 'seq' | 'hash'>;
}

/** The contents of an archive, and what is wrong with its values. */
export interface ArchiveContents {
  readonly findings: readonly ArchiveFinding[];
  readonly entries: number;
  readonly chains: ReadonlyMap<string, ArchivedStretch>;
  /** Erased values, by entry hash and digests of value and pointer: an erasure in an archive or in the log must list each. */
  readonly blanks: ReadonlyMap<string, Pick<StoredEntry, 'chain' | 'seq' | 'id'>>;
  /** Values that erasures in this archive list. */
  readonly erased: ReadonlySet<string>;
  /** The skeleton's digest (hex SHA-256), by id, of each earlier retention run whose entry is in this archive. */
  readonly runs: ReadonlyMap<string, string>;
  /** The latest timestamp of an entry; '' without any. */
  readonly newest: string;
  /** Hex SHA-256 of the two objects as they were read. */
  readonly digests: { readonly skeleton: string; readonly disclosures: string };
}

/**
 * Reads each entry of an archive together with its values, and checks each value against its commitment. The verifier of files checks the
 * skeleton. Memory grows with the number of chains and of erased values.
 */
export async function readArchive(
  { skeleton, disclosures }: ArchiveObjects, claim: ArchiveClaim, keys: readonly VerifierKey[],
): Promise<ArchiveContents> {
  const reader = new ArchiveReader(claim, keys, disclosures[Symbol.asyncIterator]());
  try {
    for await (const text of skeleton) await reader.line(text);
    await reader.end();
  } catch (error) {
    reader.found('archive', null, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  return reader.contents();
}

/** Erased values that no erasure lists: neither one of the archives nor one of the log. */
export function unlistedBlanks(blanks: ArchiveContents['blanks'], isListed: (blank: string) => boolean): ArchiveFinding[] {
  return [...blanks].filter(([blank]) => !isListed(blank)).map(([, { chain, seq, id }]) => ({
    chain, position: seq, entryId: id, kind: 'unauthorised_erasure',
    detail: `archived entry ${seq} of chain ${chain} ${UNLISTED_BLANK}`,
  }));
}

class ArchiveReader {
  private readonly findings: ArchiveFinding[] = [];
  private readonly chains = new Map<string, ArchivedStretch>();
  private readonly blanks = new Map<string, Pick<StoredEntry, 'chain' | 'seq' | 'id'>>();
  private readonly erased = new Set<string>();
  private readonly runs = new Map<string, string>();
  private readonly hashes = { skeleton: createHash('sha256'), disclosures: createHash('sha256') };
  private entries = 0;
  private newest = '';
  private checkpoint: TreeHead | undefined;
  private isConsistent = false;

  constructor(
    private readonly claim: ArchiveClaim, private readonly keys: readonly VerifierKey[], private readonly disclosed: AsyncIterator<string>,
  ) {}

  contents(): ArchiveContents {
    const { findings, entries, chains, blanks, erased, runs, newest, hashes } = this;
    const digests = { skeleton: hashes.skeleton.digest('hex'), disclosures: hashes.disclosures.digest('hex') };
    return { findings, entries, chains, blanks, erased, runs, newest, digests };
  }

  found(chain: string, entry: Pick<StoredEntry, 'seq' | 'id'> | null, what: string): void {
    if (this.findings.length >= MAX_FINDINGS) return;
    const detail = entry ? `archived entry ${entry.seq} of chain ${chain} ${what}` : `the archive ${what}`;
    this.findings.push({ chain, position: entry?.seq ?? 0, entryId: entry?.id ?? null, kind: 'archive_altered', detail });
  }

  async line(text: string): Promise<void> {
    this.hashes.skeleton.update(`${text}\n`);
    const line = readLine(text);
    // The verifier of files reports lines that cannot be read.
    if (!line) return;
    const { organizationId, instance } = this.claim;
    const isOther = line.kind === 'export'
      && (line.what !== 'archive' || line.instance !== instance || line.organizations.join() !== organizationId);
    if (isOther) this.found('archive', null, 'belongs to another organization or instance');
    if (line.kind === 'checkpoint') this.takeCheckpoint(line);
    if (line.kind === 'consistency') this.takeConsistency(line);
    if (line.kind === 'entry') await this.takeEntry(line);
  }

  async end(): Promise<void> {
    if (!(await this.disclosed.next()).done) this.found('archive', null, 'holds values of entries that are not in it');
    const [{ checkpoint: cut }, now] = [this.claim, this.checkpoint];
    const isSame = now?.size === cut?.size && now?.root === cut?.root;
    if (!cut || isSame || this.isConsistent) return;
    this.found('archive', null, "has a tree that does not extend its retention run's checkpoint");
  }

  private takeCheckpoint({ note }: LineOf<'checkpoint'>): void {
    const opened = openCheckpoint(note, this.keys, originOf(this.claim.instance, this.claim.organizationId));
    if ('checkpoint' in opened) this.checkpoint ??= opened.checkpoint;
  }

  private takeConsistency({ organizationId, from, to, hashes }: LineOf<'consistency'>): void {
    const [{ checkpoint: cut }, now] = [this.claim, this.checkpoint];
    if (!cut || !now || organizationId !== this.claim.organizationId || from !== cut.size || to !== now.size) return;
    this.isConsistent = checkConsistency(from, to, readHash(cut.root)!, readHash(now.root)!, hashes.map((one) => readHash(one)!));
  }

  private async takeEntry(line: LineOf<'entry'>): Promise<void> {
    const { chain, seq, id, hash, prevHash, event, timestamp } = line;
    this.entries++;
    const { findings, blanks, payload } = checkEntry(entryOf(line, await this.valuesOf(line)));
    for (const { what } of findings) this.found(chain, line, `was changed after it was written: ${what}`);
    for (const blank of blanks) this.blanks.set(`${hash} ${blank}`, { chain, seq, id });
    this.chains.set(chain, { first: this.chains.get(chain)?.first ?? { seq, prevHash, event }, last: { seq, hash } });
    if (timestamp > this.newest) this.newest = timestamp;
    if (payload) this.takeMetadata(payload.event, payload.metadata);
  }

  private takeMetadata(event: string, metadata: JsonObject): void {
    if (event === 'gdpr.erasure_executed') for (const blank of blanksListed(metadata['erased'])) this.erased.add(blank);
    const { sweepId, archive } = metadata;
    if (event !== 'admin.audit_retention_sweep' || typeof sweepId !== 'string' || !isJsonObject(archive)) return;
    if (typeof archive['skeleton'] === 'string') this.runs.set(sweepId, archive['skeleton']);
  }

  /** Reads the next line of values. Where it is missing or belongs to another entry, a finding about this entry is added. */
  private async valuesOf(entry: LineOf<'entry'>): Promise<string | undefined> {
    const next = await this.disclosed.next();
    if (!next.done) this.hashes.disclosures.update(`${next.value}\n`);
    const line = next.done ? undefined : readLine(next.value);
    if (line?.kind === 'disclosures' && line.id === entry.id && line.hash === entry.hash) return line.text;
    this.found(entry.chain, entry, next.done ? 'has no line of values' : 'has the line of values of another entry');
    return undefined;
  }
}

import { createHash, type Hash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../json.js';
import { checkEntry } from '../entry/check-entry.js';
import { openCheckpoint, originOf, PLATFORM_TREE, type Checkpoint } from '../notes/checkpoint.js';
import { entryOf, manifestText, readLine, type ExportLine, type LineOf } from '../export/export-lines.js';
import { contentDigest } from '../entry/entry-hash.js';
import { openNote, type VerifierKey } from '../notes/note.js';
import { authorizationText, type SignedStatement } from '../notes/authorization-note.js';
import { hashText, leafHash, readHash } from '../tree/rfc6962.js';
import { entryLeaf, platformLeaf } from '../tree/tree-leaf.js';
import { mapRootOver, keyedLeaf } from '../tree/organization-map.js';
import { checkConsistency, checkInclusion } from '../tree/tree-proofs.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { blanksListed, UNLISTED_BLANK, UNSIGNED_ERASURE } from '../integrity/verify-erasures.js';

/** The two objects of an archive, line by line. */
export interface ArchiveObjects {
  readonly skeleton: AsyncIterable<string>;
  readonly disclosures: AsyncIterable<string>;
}

/** What the sweep said of it; where its entry has been swept too, what stands beside the objects. */
export interface ArchiveClaim {
  readonly organizationId: string;
  readonly instance: string;
  /** Hex SHA-256 of the skeleton. */
  readonly skeleton: string;
  /** Of the values as they were when they were archived: they may have been erased since. */
  readonly disclosures?: string;
  readonly chains?: readonly ArchivedChain[];
  /** That seals the skeleton, as it stands beside the objects. */
  readonly note?: string;
  /** The checkpoint below which the sweep cut. */
  readonly checkpoint?: { readonly size: number; readonly root: string };
}

export interface ArchivedChain {
  readonly chain: string;
  readonly seq: number;
  readonly hash: string;
}

/** One place where an archive is not what was swept. `kind` as in a verification of the log. */
export interface ArchiveBreak {
  readonly chain: string;
  readonly position: number;
  readonly entryId: string | null;
  readonly kind: 'archive_altered' | 'unauthorised_erasure';
  readonly detail: string;
}

/** What an archive holds of one chain. */
export interface ArchivedStretch {
  readonly first: Pick<StoredEntry, 'seq' | 'prevHash' | 'event'>;
  readonly last: Pick<StoredEntry, 'seq' | 'hash'>;
  readonly count: number;
}

export interface CheckedArchive {
  readonly breaks: readonly ArchiveBreak[];
  readonly entries: number;
  /** Values that were held against their commitments; those that are gone count, too. */
  readonly valueCount: number;
  readonly chains: ReadonlyMap<string, ArchivedStretch>;
  /** Values that are gone, by entry hash and digests of value and place: an erasure must list each, here or elsewhere in the log. */
  readonly blanks: ReadonlyMap<string, Pick<StoredEntry, 'chain' | 'seq' | 'id'>>;
  /** What erasures in this archive list, all of them signed. */
  readonly erased: ReadonlySet<string>;
  /** Hex SHA-256 of the skeletons of earlier sweeps, by these, whose entries are in this archive. */
  readonly sweeps: ReadonlyMap<string, string>;
  /** The values are, to the byte, what was archived. */
  readonly isUntouched: boolean;
  /** When the newest of its entries was written, as its column says; one that says otherwise than its payload is a break. '' of none. */
  readonly newest: string;
}

const MAX_BREAKS = 1_000;
/** Once in each disclosure, as they are stored: within a value its quotes would be escaped. */
const VALUE = '"d":"';

/**
 * Checks an archive by itself: that the skeleton is what the sweep recorded, line by line sound, each entry whole by its hash,
 * its chain and its place in the organization's tree, under signed checkpoints; and that the values are those that the entries
 * commit to, or blank. Everything else is an alteration. Memory is bounded by chains and by what was erased.
 *
 * @param keys that are trusted; what the archive says of keys is not believed
 */
export async function checkArchive(
  { skeleton, disclosures }: ArchiveObjects, claim: ArchiveClaim, keys: readonly VerifierKey[],
): Promise<CheckedArchive> {
  const check = new ArchiveCheck(claim, keys, disclosures[Symbol.asyncIterator]());
  try {
    for await (const text of skeleton) await check.line(text);
    await check.end();
  } catch (error) {
    check.found('archive', check.lines, null, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  return check;
}

/** Blanks that no erasure lists: neither one of the archives nor one of the log. */
export function unlistedBlanks(blanks: CheckedArchive['blanks'], isListed: (blank: string) => boolean): ArchiveBreak[] {
  return [...blanks].filter(([blank]) => !isListed(blank)).map(([, { chain, seq, id }]) => ({
    chain, position: seq, entryId: id, kind: 'unauthorised_erasure',
    detail: `archived entry ${seq} of chain ${chain} ${UNLISTED_BLANK}`,
  }));
}

interface Waiting {
  readonly line: LineOf<'entry'>;
}

class ArchiveCheck implements CheckedArchive {
  readonly breaks: ArchiveBreak[] = [];
  readonly chains = new Map<string, ArchivedStretch>();
  readonly blanks = new Map<string, Pick<StoredEntry, 'chain' | 'seq' | 'id'>>();
  readonly erased = new Set<string>();
  readonly sweeps = new Map<string, string>();
  entries = 0;
  valueCount = 0;
  lines = 0;
  isUntouched = false;
  newest = '';
  private readonly whole: Hash = createHash('sha256');
  private readonly sealed: Hash = createHash('sha256');
  private readonly values: Hash = createHash('sha256');
  private platform: Checkpoint | undefined;
  private own: Checkpoint | undefined;
  private isPlaced = false;
  private opened: LineOf<'section'> | undefined;
  private waiting: Waiting | undefined;
  /** The note of the line before, over the entry of an erasure that comes next. */
  private note: string | undefined;
  private manifest: LineOf<'manifest'> | undefined;
  private madeAt = '';
  private isConsistent = false;

  constructor(
    private readonly claim: ArchiveClaim,
    private readonly keys: readonly VerifierKey[],
    private readonly disclosed: AsyncIterator<string>,
  ) {}

  found(chain: string, position: number, entryId: string | null, what: string, kind: ArchiveBreak['kind'] = 'archive_altered'): void {
    if (this.breaks.length >= MAX_BREAKS) return;
    const detail = chain === 'archive' ? `line ${position} of the archive ${what}` : `archived entry ${position} of chain ${chain} ${what}`;
    this.breaks.push({ chain, position, entryId, kind, detail });
  }

  async line(text: string): Promise<void> {
    this.lines++;
    this.whole.update(`${text}\n`);
    const read = readLine(text);
    if (typeof read === 'string') return this.here(`cannot be read: ${read}`);
    if (this.manifest) return this.here('follows the manifest');
    if (read.kind === 'manifest') this.manifest = read;
    else this.sealed.update(`${text}\n`);
    if (this.waiting && read.kind !== 'inclusion') this.inEntry(this.waiting.line, 'comes without its proof');
    if (read.kind !== 'inclusion') this.waiting = undefined;
    await this.take(read);
  }

  async end(): Promise<void> {
    if (this.waiting) this.inEntry(this.waiting.line, 'comes without its proof');
    if (!(await this.disclosed.next()).done) this.here('is not alone: there are values of entries that it does not hold');
    const { skeleton, disclosures, chains, checkpoint } = this.claim;
    if (this.whole.digest('hex') !== skeleton) this.here('ends a skeleton that is not the one whose digest was recorded');
    this.isUntouched = this.values.digest('hex') === disclosures;
    const isExplained = this.isUntouched || this.blanks.size > 0 || this.breaks.length > 0;
    if (disclosures !== undefined && !isExplained) this.here('has other values than were archived, and none is erased');
    this.checkManifest();
    for (const { chain, seq, hash } of chains ?? []) {
      const last = this.chains.get(chain)?.last;
      if (last?.seq !== seq || last.hash !== hash) this.found(chain, seq, null, 'is not the last one, though the sweep says so');
    }
    if (chains && chains.length !== this.chains.size) this.here('holds other chains than the sweep says');
    const isUnder = checkpoint === undefined || this.isConsistent ||
      (this.own?.size === checkpoint.size && this.own.root === checkpoint.root);
    if (!isUnder) this.here('is of a tree that does not go on from the checkpoint of the sweep');
  }

  private here(what: string): void {
    this.found('archive', this.lines, null, what);
  }

  private inEntry({ chain, seq, id }: Pick<StoredEntry, 'chain' | 'seq' | 'id'>, what: string): void {
    this.found(chain, seq, id, what);
  }

  private async take(read: ExportLine): Promise<void> {
    const { organizationId, instance } = this.claim;
    const isFirst = this.lines === 1;
    if (isFirst !== (read.kind === 'export')) return this.here(`is of the kind ${read.kind}, which does not belong there`);
    switch (read.kind) {
      case 'export':
        this.madeAt = read.madeAt;
        if (read.what !== 'archive' || read.instance !== instance || read.organizations.join() !== organizationId) {
          this.here('is of another archive');
        }
        return;
      case 'checkpoint':
        return this.checkpoint(read);
      case 'map':
        return this.map(read);
      case 'section':
        this.opened = read;
        if (read.organizationId !== organizationId || read.size !== this.own?.size || !this.isPlaced) {
          this.here('opens an organization without its checkpoint');
        }
        return;
      case 'consistency':
        return this.consistency(read);
      case 'erasure':
        this.note = read.note;
        return;
      case 'entry':
        if (!this.opened) this.here('is an entry of no organization');
        return this.entry(read);
      case 'inclusion':
        return this.inclusion(read);
      case 'manifest':
        return;
      default:
        return this.here(`is of the kind ${read.kind}, which does not belong there`);
    }
  }

  private checkpoint({ note }: LineOf<'checkpoint'>): void {
    const { organizationId, instance } = this.claim;
    const tree = this.platform === undefined ? PLATFORM_TREE : organizationId;
    const opened = openCheckpoint(note, this.keys, originOf(instance, tree));
    if ('wrong' in opened) return this.here(`holds a checkpoint that ${opened.wrong}`);
    if (this.platform === undefined) this.platform = opened.checkpoint;
    else if (this.own === undefined) this.own = opened.checkpoint;
    else this.here('holds a third checkpoint');
  }

  private map({ organizationId, size, root, siblings, timestamp, platform }: LineOf<'map'>): void {
    const { own, platform: above } = this;
    const path = siblings.map(([depth, hash]) => [depth, readHash(hash)!] as const);
    const map = mapRootOver(keyedLeaf({ organization: organizationId, size, root }), path);
    const leaf = map && leafHash(platformLeaf({ map: hashText(map), timestamp }));
    const hashes = platform.hashes.map((one) => readHash(one)!);
    this.isPlaced = own?.size === size && own.root === root && above?.size === platform.size && leaf !== undefined &&
      checkInclusion(leaf, platform.index, platform.size, hashes, readHash(above.root)!);
    if (!this.isPlaced) this.here("shows a place in the map that the platform's checkpoint does not carry");
  }

  private consistency({ organizationId, from, to, hashes }: LineOf<'consistency'>): void {
    const { checkpoint } = this.claim;
    if (organizationId !== this.claim.organizationId || from !== checkpoint?.size || to !== this.own?.size) return;
    this.isConsistent = checkConsistency(
      from, to, readHash(checkpoint.root)!, readHash(this.own.root)!, hashes.map((one) => readHash(one)!),
    );
  }

  private async entry(read: LineOf<'entry'>): Promise<void> {
    const { note } = this;
    this.note = undefined;
    this.entries++;
    this.waiting = { line: read };
    if (read.organizationId !== this.claim.organizationId) this.inEntry(read, 'is of another organization');
    if (read.disclosures !== undefined) this.inEntry(read, 'has its values in the skeleton');
    const before = this.chains.get(read.chain);
    const arrives = read.event === 'agent.transferred' && before !== undefined && read.seq > before.last.seq + 1;
    const checked = checkEntry(entryOf(read, await this.valuesOf(read)), before && !arrives ? before.last.hash : undefined);
    for (const { what } of checked.findings) this.inEntry(read, `was changed after it was written: ${what}`);
    if (before && !arrives && (read.seq !== before.last.seq + 1 || read.prevHash !== before.last.hash)) {
      this.inEntry(read, 'does not continue the entry before it');
    }
    const { chain, seq, id, hash, prevHash, event } = read;
    const first = before?.first ?? { seq, prevHash, event };
    this.chains.set(chain, { first, last: { seq, hash }, count: (before?.count ?? 0) + 1 });
    for (const blank of checked.blanks) this.blanks.set(`${hash} ${blank}`, { chain, seq, id });
    if (read.timestamp > this.newest) this.newest = read.timestamp;
    if (checked.payload) this.heed(read, checked.payload.event, checked.payload.metadata, note);
  }

  /** What the entry says of others. */
  private heed(entry: LineOf<'entry'>, event: string, metadata: JsonObject, note: string | undefined): void {
    const { chain, seq, id } = entry;
    if (event === 'gdpr.erasure_executed') {
      const isSigned = this.isSigned(note, { metadata, content: contentDigest(entry) });
      if (!isSigned) return this.found(chain, seq, id, UNSIGNED_ERASURE, 'unauthorised_erasure');
      for (const blank of blanksListed(metadata['erased'])) this.erased.add(blank);
    }
    const { sweepId, archive } = metadata;
    if (event !== 'admin.audit_retention_sweep' || typeof sweepId !== 'string' || !isJsonObject(archive)) return;
    if (typeof archive['skeleton'] === 'string') this.sweeps.set(sweepId, archive['skeleton']);
  }

  private isSigned(note: string | undefined, told: SignedStatement): boolean {
    if (note === undefined) return false;
    const { instance, organizationId } = this.claim;
    const opened = openNote(note, this.keys);
    return opened.kind === 'open' && opened.text === authorizationText('erasure', instance, organizationId, told);
  }

  /** The line of values that belongs to the entry; whatever is wrong there is wrong of the entry. */
  private async valuesOf(entry: LineOf<'entry'>): Promise<string | undefined> {
    const next = await this.disclosed.next();
    if (next.done) {
      this.inEntry(entry, 'has no line of values');
      return undefined;
    }
    this.values.update(`${next.value}\n`);
    const read = readLine(next.value);
    if (typeof read === 'string' || read.kind !== 'disclosures' || read.id !== entry.id || read.hash !== entry.hash) {
      this.inEntry(entry, 'has a line of values that is not its own');
      return undefined;
    }
    this.valueCount += read.text.split(VALUE).length - 1;
    return read.text;
  }

  private inclusion({ index, size, hashes }: LineOf<'inclusion'>): void {
    const { waiting, own } = this;
    this.waiting = undefined;
    if (!waiting) return this.here('proves no entry');
    const isProven = index === waiting.line.index && size === own?.size &&
      checkInclusion(leafHash(entryLeaf(waiting.line)), index, size, hashes.map((one) => readHash(one)!), readHash(own.root)!);
    if (!isProven) this.inEntry(waiting.line, "is not proven to stand in its organization's tree");
  }

  private checkManifest(): void {
    if (!this.manifest) return this.here('is the last one, and no manifest');
    const { sha256, note, counts } = this.manifest;
    if (this.claim.note !== undefined && this.claim.note !== note) this.here('is not the manifest whose note stands beside it');
    const opened = openNote(note, this.keys);
    const wanted = manifestText({ instance: this.claim.instance, entries: this.entries, sha256, madeAt: this.madeAt });
    if (opened.kind !== 'open' || opened.text !== wanted) this.here('is a manifest that is not signed for this archive');
    if (this.sealed.digest('hex') !== sha256 || counts.entries !== this.entries || counts.lines !== this.lines - 1) {
      this.here('is a manifest of other lines');
    }
  }
}

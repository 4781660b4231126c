import { isJsonObject, type JsonObject } from '../../../json.js';
import { findingInTree, type Finding, type FindingKind } from '../../integrity/findings.js';
import { isAgentChain, organizationChain, platformChain } from '../../entry/chain.js';
import { checkEntry } from '../../entry/check-entry.js';
import { checkpointText, type Checkpoint } from '../../notes/checkpoint.js';
import { entryOf, type LineOf } from '../export-lines.js';
import { contentDigest } from '../../entry/entry-hash.js';
import type { NextKey } from '../../notes/key-succession.js';
import type { StoredEntry } from '../../entry/stored-entry.js';
import { authorizationText, type AuthorizedOperation } from '../../notes/authorization-note.js';
import type { RecalledCheckpoint } from './recalled-checkpoints.js';
import { alignedSubtrees, CompactRange, rootOf } from '../../tree/compact-range.js';
import { entryLeaf } from '../../tree/tree-leaf.js';
import { checkInclusion } from '../../tree/tree-proofs.js';
import { hashText, leafHash, readHash } from '../../tree/rfc6962.js';
import { announcedBy, UNVOUCHED } from '../../notes/verify-key-succession.js';
import { blanksListed, UNLISTED_BLANK, UNSIGNED_ERASURE } from '../../integrity/verify-erasures.js';
import { isTransfer, NO_TRANSFER, REGISTERED_BEFORE } from '../../integrity/verify-chain.js';

/** What a section needs to know of its file. */
export interface SectionFrame {
  readonly what: LineOf<'export'> | undefined;
  readonly isLog: boolean;
  readonly isRange: boolean;
  readonly isWhole: boolean;
  readonly found: number;
  uncovered: number;
  /** Takes the key that an entry announces, which is under a checkpoint or not yet; whether it counts. */
  announce(next: NextKey, isCovered: boolean): boolean;
  readonly transfers: Map<string, { chain: string; seq: number; id: string; direction: string }>;
  readonly cutChains: Set<string>;
  /** Takes it that a chain begins in an organization; whether it begins in no other. */
  begins(chain: string, organizationId: string): boolean;
  add(chain: string, position: number, entryId: string | null, kind: FindingKind, detail: string): void;
  inFile(kind: FindingKind, what: string): void;
  ordered(order: AuthorizedOperation, organizationId: string, note: string): Checkpoint | undefined;
  continues(tree: string, then: { readonly size: number; readonly root: string }): boolean | undefined;
  judgeRecalled(tree: string, recalled: RecalledCheckpoint | undefined, seen: boolean | undefined): void;
}

interface Chain {
  seq: number;
  hash: string | null;
  isNew: boolean;
  hasLeft: boolean;
  isBroken: boolean;
  hasHead: boolean;
  hasJumped: boolean;
  /** How many leaves the file's window had left out when the chain was last met. */
  range: number;
}

type Seam = LineOf<'seam'> & {
  isConfirmed?: boolean;
  /** Where in the tree the last leaf stands that was cut off. */
  index?: number;
};

/** Entries of one organization of an export, in the order of its tree. */
export class SectionCheck {
  readonly id: string;
  private readonly chains = new Map<string, Chain>();
  private readonly seams = new Map<string, Seam>();
  /** Of each seam, by the hash of the last leaf that was cut off. */
  private readonly ends = new Map<string, Seam>();
  private readonly blanks = new Map<string, { chain: string; seq: number; id: string }>();
  private readonly erased = new Set<string>();
  /** Ids of entries of erasures. */
  private readonly told = new Set<string>();
  /** What was signed of sweeps, by their entries' ids. */
  private readonly orders = new Map<string, Checkpoint | undefined>();
  /** What was signed of the erasure whose entry comes next. */
  private nextOrder: { readonly said: Checkpoint | undefined } | undefined;
  private readonly gaps = { swept: 0, range: 0, hidden: 0 };
  private readonly tree = new CompactRange();
  private next = 0;
  private cutTo = 0;
  private heads = 0;
  private isSound = true;
  private goesOn: boolean | undefined;
  private waiting: { entry: StoredEntry; index: number; leaf: Uint8Array } | undefined;
  private readonly agent: string | undefined;

  constructor(
    private readonly frame: SectionFrame,
    private readonly line: LineOf<'section'>,
    private readonly own: Checkpoint | undefined,
    private readonly recalled: RecalledCheckpoint | undefined,
  ) {
    this.id = line.organizationId;
    this.agent = frame.what?.agentId ?? undefined;
  }

  inTree(kind: FindingKind, position: number, what: string): void {
    this.give(findingInTree(this.id, position, kind, what));
  }

  sweep({ entryId, note }: LineOf<'sweep'>): void {
    if (this.orders.has(entryId)) return this.frame.inFile('deleted', 'is a second note over the same sweep');
    this.orders.set(entryId, this.frame.ordered('sweep', this.id, note));
  }

  erasure({ note }: LineOf<'erasure'>): void {
    this.nextOrder = { said: this.frame.ordered('erasure', this.id, note) };
  }

  expectNoErasure(): void {
    if (this.nextOrder) this.frame.inFile('reordered', 'follows the note over an erasure, and is none');
    this.nextOrder = undefined;
  }

  seam(line: LineOf<'seam'>): void {
    if (this.seams.has(line.chain)) return this.frame.inFile('deleted', 'is a second cut of the same chain');
    const seam: Seam = { ...line };
    this.seams.set(line.chain, seam);
    this.ends.set(hashText(leafHash(entryLeaf(line))), seam);
    this.cutTo = Math.max(this.cutTo, line.checkpoint.size);
    this.frame.cutChains.add(line.chain);
    if (this.frame.continues(this.id, line.checkpoint) && line.count <= line.seq) return;
    this.inRun(line.chain, 1, line.seq, 'deleted', 'were cut off at a checkpoint that the tree does not go on from');
  }

  entry(line: LineOf<'entry'>): void {
    const before = this.frame.found;
    const order = this.nextOrder?.said;
    this.nextOrder = undefined;
    const entry = entryOf(line);
    const { index } = line;
    const chain = this.chainOf(entry.chain);
    // In a part, erasures and sweeps from elsewhere in the tree follow at the end, each with its proof.
    const isApart = this.frame.isLog && !this.frame.isWhole && index !== null && index < this.next;
    const checked = checkEntry(entry, !isApart && entry.seq === chain.seq + 1 ? chain.hash : undefined, {
      disclosures: line.disclosures === undefined ? 'elsewhere' : this.frame.what?.what === 'person' ? 'some' : 'all',
    });
    for (const { kind, what } of checked.findings) {
      this.inEntry(entry, kind, kind === 'edited' ? `was changed after it was written: ${what}` : `has a changed column: ${what}`);
    }
    if (line.disclosures === undefined && this.frame.what?.what !== 'archive') {
      this.inEntry(entry, 'edited', 'is shown without its disclosures');
    }
    this.grow(entry, index, isApart);
    const metadata = checked.payload?.event === 'agent.transferred' ? checked.payload.metadata : {};
    if (!isApart) this.follow(entry, metadata, chain, before);
    for (const blank of checked.blanks) {
      const key = `${entry.hash} ${blank}`;
      if (!this.erased.has(key)) this.blanks.set(key, { chain: entry.chain, seq: entry.seq, id: entry.id });
    }
    if (this.frame.found > before || !checked.payload) return;
    const { event, metadata: said } = checked.payload;
    if (event === 'gdpr.erasure_executed') this.heedErasure(entry, said, order);
    else this.heed(entry, index, event, said);
  }

  inclusion({ index, size, hashes }: LineOf<'inclusion'>): void {
    const { waiting, own } = this;
    this.waiting = undefined;
    if (!waiting) return this.frame.inFile('inserted', 'proves no entry');
    const fits = index === waiting.index && own?.size === size &&
      checkInclusion(waiting.leaf, index, size, hashes.map((hash) => readHash(hash)!), readHash(own.root)!);
    if (!fits) this.inEntry(waiting.entry, 'tree_mismatch', 'is not proven to stand in the tree of its organization');
  }

  expectNoProof(): void {
    if (this.waiting) this.inEntry(this.waiting.entry, 'tree_mismatch', 'comes without its proof');
    this.waiting = undefined;
  }

  gap({ from, to, because, nodes }: LineOf<'gap'>): void {
    const { size } = this.line;
    const fits = this.frame.isLog && from === this.next && to > from && to <= size && alignedSubtrees(from, to).length === nodes.length;
    if (!fits) return this.frame.inFile('tree_mismatch', 'is a gap that does not fit its tree');
    const allowed = {
      swept: to <= this.cutTo, hidden: this.agent !== undefined, range: this.frame.isRange && (from === 0 || to === size),
    }[because];
    if (!allowed) this.inTree('deleted', from, `has leaves ${from} to ${to - 1}, hidden for no reason that the file gives`);
    for (const [n, { level }] of alignedSubtrees(from, to).entries()) {
      const seam = this.ends.get(nodes[n]!);
      if (seam) seam.index = this.tree.size;
      this.tree.appendSubtree(level, readHash(nodes[n]!)!);
      this.look();
    }
    this.next = to;
    this.gaps[because] += to - from;
  }

  head({ chain: name, seq, hash, closed }: LineOf<'head'>): void {
    const chain = this.chainOf(name);
    const last = { chain: name, seq: chain.seq, id: null };
    if (chain.hasHead) this.frame.inFile('inserted', `is a second head of chain ${name}`);
    chain.hasHead = true;
    this.heads++;
    if (seq > chain.seq && this.mayJump(name, chain)) return;
    if (seq > chain.seq && chain.seq === 0) this.inRun(name, 1, seq, 'chain_removed', 'are missing: the whole chain is gone');
    else if (seq > chain.seq) this.inRun(name, chain.seq + 1, seq, 'truncated', 'are missing: the end of the chain was cut off');
    else if (seq < chain.seq) this.inEntry(last, 'inserted', `stands beyond the head of the chain, which ends at ${seq}`);
    else if (hash !== chain.hash && !chain.isBroken) this.inEntry(last, 'edited', 'is not the one that the head of the chain names');
    else if (!chain.isNew && closed !== chain.hasLeft) this.inEntry(last, 'edited', 'does not fit its head, which is open or closed');
  }

  close(): void {
    this.expectNoProof();
    const { frame, line: { size, chains: declared }, own } = this;
    const seams = [...this.seams.values()];
    if (frame.isLog) {
      for (const [chain, { hasHead, seq }] of this.chains) {
        if (hasHead || (this.agent ?? chain) !== chain) continue;
        this.inEntry({ chain, seq, id: null }, 'truncated', 'is the last one, but no head says so');
      }
    }
    for (const { chain, seq, isConfirmed } of seams) {
      if (!isConfirmed) this.inRun(chain, 1, seq, 'deleted', 'were cut off, and no entry of a sweep that is signed accounts for it');
    }
    for (const blank of this.blanks.values()) {
      this.inEntry(blank, 'unauthorised_erasure', UNLISTED_BLANK);
    }
    if (this.heads !== declared) this.inTree('chain_removed', size, `should have ${declared} chains; the heads of ${this.heads} are there`);
    const swept = seams.reduce((sum, { count }) => sum + count, 0);
    if (frame.isWhole && this.gaps.swept !== swept) {
      this.inTree('deleted', 0, `lacks ${this.gaps.swept} leaves as swept; sweeps speak of ${swept}`);
    }
    for (const { chain, seq, index, checkpoint } of frame.isLog ? seams : []) {
      // In the window of a part, the last leaf of a cut chain may lie in what the file does not show.
      const isLate = index === undefined ? !frame.isRange : index >= checkpoint.size;
      if (isLate) this.inRun(chain, 1, seq, 'deleted', 'were cut off, and are not shown to lie under its checkpoint');
    }
    if (frame.isLog && this.next < size) this.inTree('truncated', this.next, `has ${size} leaves; the file ends before leaf ${this.next}`);
    const isOther = frame.isLog && this.next === size && this.isSound && own && hashText(rootOf(this.tree)) !== own.root;
    if (isOther) this.inTree('tree_mismatch', size, 'does not come to the root that was signed: what is shown is not what was appended');
    frame.judgeRecalled(this.id, this.recalled, this.goesOn);
  }

  private grow(entry: StoredEntry, index: number | null, isApart: boolean): void {
    if (index === null) return void this.frame.uncovered++;
    const leaf = leafHash(entryLeaf(entry));
    if (!this.frame.isLog || isApart) return void (this.waiting = { entry, index, leaf });
    if (index < this.next || index >= this.line.size) this.inEntry(entry, 'tree_mismatch', `does not stand at place ${index} of its tree`);
    if (index > this.next) this.inTree('tree_mismatch', this.next, `has leaves ${this.next} to ${index - 1}, which the file does not hold`);
    this.isSound &&= index === this.next;
    this.next = Math.max(this.next, index + 1);
    this.tree.append(leaf);
    this.look();
  }

  /** Whether the tree, where it goes by whole, had the root that is remembered. */
  private look(): void {
    if (this.recalled?.size === this.tree.size) this.goesOn = hashText(rootOf(this.tree)) === this.recalled.root;
  }

  private chainOf(name: string): Chain {
    let chain = this.chains.get(name);
    if (!chain) {
      const { seq = 0, hash = null } = this.seams.get(name) ?? {};
      chain = { seq, hash, isNew: true, hasLeft: false, isBroken: false, hasHead: false, hasJumped: false, range: 0 };
      this.chains.set(name, chain);
    }
    return chain;
  }

  /** Whether entries of a chain may lie in what the file, being a part, does not show. */
  private mayJump(name: string, chain: Chain): boolean {
    // Of other chains than the one that is asked for, only what it needs is there.
    const mayHide = this.gaps.range > chain.range || (this.agent !== undefined && name !== this.agent);
    return this.frame.isLog ? mayHide : this.frame.what?.what === 'person' || chain.isNew;
  }

  private follow(entry: StoredEntry, { direction, fromSeq, fromHash }: JsonObject, chain: Chain, before: number): void {
    const { chain: name, seq, prevHash, hash, id } = entry;
    const arrives = direction === 'in' && (chain.isNew || chain.hasLeft);
    const isBroken = () => this.frame.found > before;
    if (!isAgentChain(name) && name !== organizationChain(this.id).chain) {
      this.inEntry(entry, 'inserted', 'stands in a chain that is not of its organization');
    } else if (seq <= chain.seq && chain.hasJumped) this.inEntry(entry, 'reordered', 'does not stand where it was appended');
    else if (seq <= chain.seq) this.inEntry(entry, 'forked', 'stands at a position that is taken');
    else if (arrives) {
      const goesOn = fromSeq === seq - 1 && fromHash === prevHash;
      if (!goesOn) this.inEntry(entry, 'inserted', 'claims a transfer, but does not continue the entry that it names');
    } else if (chain.hasLeft && !this.mayJump(name, chain)) {
      this.inEntry(entry, 'inserted', 'follows the entry with which the agent left this organization');
    } else if (seq === chain.seq + 1 && prevHash !== chain.hash && !chain.isBroken && !isBroken()) {
      this.inEntry(entry, 'forked', 'does not continue the entry before it');
    }
    if (isAgentChain(name) && seq === 1 && !this.frame.begins(name, this.id)) {
      this.inEntry(entry, 'inserted', 'begins a chain that begins in another organization, too');
    }
    if (seq <= chain.seq) return;
    const hasHole = seq > chain.seq + 1 && !arrives && !chain.hasLeft && !this.mayJump(name, chain);
    if (hasHole) this.inRun(name, chain.seq + 1, seq - 1, 'deleted', 'are missing: something was taken out of the chain, or moved');
    chain.hasJumped ||= hasHole;
    const { range } = this.gaps;
    Object.assign(chain, { seq, hash, isNew: false, hasLeft: direction === 'out', isBroken: isBroken(), range });
    if (direction !== 'in' && direction !== 'out') return;
    const key = direction === 'out' ? `${name} ${seq} ${hash}` : `${name} ${seq - 1} ${prevHash}`;
    const other = this.frame.transfers.get(key);
    if (other && other.direction !== direction) this.frame.transfers.delete(key);
    else this.frame.transfers.set(key, { chain: name, seq, id, direction });
  }

  /** Sound entries that say something of others. */
  private heed(entry: StoredEntry, index: number | null, event: string, metadata: JsonObject): void {
    if (event === 'admin.signing_key_rotated' && entry.chain === platformChain().chain) this.heedRotation(entry, index !== null, metadata);
    if (event === 'agent.transferred' && !isTransfer(metadata)) this.inEntry(entry, 'inserted', NO_TRANSFER);
    if (event === 'agent.registered' && entry.seq > 1) this.inEntry(entry, 'inserted', REGISTERED_BEFORE);
    if (event !== 'admin.audit_retention_sweep') return;
    const { checkpoint: said, chains } = metadata;
    const { id } = entry;
    const isOrdered = this.isOf('sweep', entry, metadata, this.orders.get(id));
    for (const cut of Array.isArray(chains) ? chains : []) {
      const seam = isJsonObject(cut) && typeof cut['chain'] === 'string' ? this.seams.get(cut['chain']) : undefined;
      if (!isJsonObject(cut) || seam?.sweepEntryId !== id || seam.sweepIndex !== index) continue;
      const { size, root } = seam.checkpoint;
      const isSame = isOrdered && seam.seq === cut['seq'] && seam.hash === cut['hash'] && seam.count === cut['count'];
      seam.isConfirmed = isSame && isJsonObject(said) && said['size'] === size && said['root'] === root && (index ?? size) >= size;
    }
  }

  private heedRotation(entry: StoredEntry, isCovered: boolean, metadata: JsonObject): void {
    const next = announcedBy(metadata);
    if (!next || !this.frame.announce(next, isCovered)) this.inEntry(entry, 'checkpoint_invalid', UNVOUCHED);
  }

  private heedErasure(entry: StoredEntry, metadata: JsonObject, said: Checkpoint | undefined): void {
    const isAgain = this.told.has(entry.id);
    this.told.add(entry.id);
    if (isAgain || !this.isOf('erasure', entry, metadata, said)) return this.inEntry(entry, 'unauthorised_erasure', UNSIGNED_ERASURE);
    for (const blank of blanksListed(metadata['erased'])) if (!this.blanks.delete(blank)) this.erased.add(blank);
  }

  private isOf(order: AuthorizedOperation, entry: StoredEntry, metadata: JsonObject, said: Checkpoint | undefined): boolean {
    const told = { metadata, content: contentDigest(entry) };
    return said !== undefined && checkpointText(said) === authorizationText(order, this.frame.what!.instance, this.id, told);
  }

  private inEntry(entry: { chain: string; seq: number; id: string | null }, kind: FindingKind, what: string): void {
    this.frame.add(entry.chain, entry.seq, entry.id, kind, `entry ${entry.seq} of chain ${entry.chain} ${what}`);
  }

  private inRun(chain: string, from: number, to: number, kind: FindingKind, what: string): void {
    this.frame.add(chain, from, null, kind, `entries ${from} to ${to} of chain ${chain} ${what}`);
  }

  private give({ chain, position, entryId, kind, detail }: Finding): void {
    this.frame.add(chain, position, entryId, kind, detail);
  }
}

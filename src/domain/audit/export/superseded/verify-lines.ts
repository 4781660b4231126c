import { createHash } from 'node:crypto';
import { type FindingKind, Findings } from '../../integrity/findings.js';
import { openCheckpoint, originOf, PLATFORM_TREE, type Checkpoint } from '../../notes/checkpoint.js';
import { manifestText, readLine, type ExportLine, type LineOf } from '../export-lines.js';
import { coveredBy } from './file-covers.js';
import { Succession, type NextKey } from '../../notes/key-succession.js';
import { openNote, readVerifierKey, type VerifierKey } from '../../notes/note.js';
import { RecalledCheckpoints, type RecalledCheckpoint, type RecalledMember } from './recalled-checkpoints.js';
import { checkConsistency } from '../../tree/tree-proofs.js';
import { readHash } from '../../tree/rfc6962.js';
import type { LogFound } from '../../integrity/verify-log.js';
import { authorizationOrigin, type AuthorizedOperation } from '../../notes/authorization-note.js';
import { againstFileMap, shownMap, type Mapped } from './verify-file-map.js';
import { SectionCheck, type SectionFrame } from './verify-section.js';

export interface LinesOptions {
  /** Notes of checkpoints from earlier verifications, of this and other installations. */
  readonly remembered?: readonly string[];
  /** Only these verifier keys are believed, where any are given; else those that the file names. */
  readonly pinned?: readonly string[];
  readonly agentId?: string;
  readonly onProgress?: (entries: number) => void;
}

/** A checkpoint of the file, its signature found right. */
interface SignedCheckpoint extends Checkpoint {
  readonly note: string;
}

const RANKS: Record<ExportLine['kind'], number> = {
  export: 0, checkpoint: 1, map: 2, section: 3, consistency: 4, sweep: 5, seam: 6, erasure: 7, entry: 7, gap: 7, inclusion: 7, head: 8,
  profile: 9, records: 9, disclosures: 9, manifest: 10,
};
const ENTRIES_PER_REPORT = 5_000;
/** Of the JSON form: what stands before its lines and behind them. */
const FRAMES = ['{"lines":[', ']}'].map((text) => Buffer.from(text));
const COMMA = 0x2c;
/** Bytes that are no UTF-8 are refused, not replaced: else a file could be changed and read the same. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Verifies an export line by line (verifier/README.md has the rules). Memory does not grow with the log. */
export async function verifyLines(lines: AsyncIterable<Uint8Array>, options: LinesOptions = {}): Promise<LogFound> {
  const check = new LinesCheck(options);
  let reported = 0;
  let isJson: boolean | undefined;
  for await (const bytes of lines) {
    const isFrame = FRAMES.some((frame) => frame.equals(bytes));
    isJson ??= isFrame;
    if (!isJson || !isFrame) check.line(isJson && bytes.at(-1) === COMMA ? bytes.subarray(0, -1) : bytes);
    if (check.entries - reported < ENTRIES_PER_REPORT) continue;
    reported = check.entries;
    options.onProgress?.(reported);
  }
  return check.end();
}

function readBytes(bytes: Uint8Array): ExportLine | string {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    return 'it is not UTF-8';
  }
  return readLine(text);
}

class LinesCheck implements SectionFrame {
  entries = 0;
  uncovered = 0;
  readonly transfers = new Map<string, { chain: string; seq: number; id: string; direction: string }>();
  readonly cutChains = new Set<string>();
  private readonly begun = new Map<string, string>();
  /** Notes over sweeps and erasures: the key that was announced last must have signed them, as it must have signed checkpoints. */
  private readonly orders: (Pick<SignedCheckpoint, 'origin' | 'size' | 'note'> & { readonly order: AuthorizedOperation })[] = [];
  private announced: string | undefined;
  private succession: Succession | undefined;
  private readonly breaks = new Findings();
  private lines = 0;
  private chains = 0;
  private rank = -1;
  private sections = 0;
  private ended = false;
  private header: LineOf<'export'> | undefined;
  private section: SectionCheck | undefined;
  private keys: VerifierKey[];
  private readonly digest = createHash('sha256');
  private readonly checkpoints = new Map<string, SignedCheckpoint>();
  private readonly consistencies = new Map<string, LineOf<'consistency'>>();
  private mapped: Mapped | undefined;
  private readonly misled: LineOf<'map'>[] = [];
  private readonly recalled: RecalledCheckpoints;

  /** @throws Error for a key that is none */
  constructor(private readonly options: LinesOptions) {
    this.recalled = new RecalledCheckpoints(options.remembered ?? []);
    this.keys = (options.pinned ?? []).map((text) => {
      const key = readVerifierKey(text);
      if (!key) throw new Error('a verifier key is none: <name>+<8 hex digits>+<base64>');
      return key;
    });
  }

  begins(chain: string, organizationId: string): boolean {
    if (!this.begun.has(chain)) this.begun.set(chain, organizationId);
    return this.begun.get(chain) === organizationId;
  }

  add(chain: string, position: number, entryId: string | null, kind: FindingKind, detail: string): void {
    this.breaks.add([{ chain, position, entryId, kind, detail }]);
  }

  inFile(kind: FindingKind, what: string): void {
    this.add('file', this.lines, null, kind, `line ${this.lines} of the file ${what}`);
  }

  get found(): number {
    return this.breaks.found;
  }

  get what(): LineOf<'export'> | undefined {
    return this.header;
  }

  line(bytes: Uint8Array): void {
    this.lines++;
    const line = readBytes(bytes);
    if (!this.header && (typeof line === 'string' || line.kind !== 'export')) {
      throw new Error(`this is no export of an audit log: ${typeof line === 'string' ? line : 'its first line does not say so'}`);
    }
    if (typeof line === 'string') this.inFile('edited', `cannot be read: ${line}`);
    else if (!this.isDue(line)) this.inFile('reordered', `is of the kind ${line.kind}, which does not belong there`);
    else this.take(line);
    if (typeof line !== 'string') this.rank = RANKS[line.kind];
    if (typeof line === 'string' || line.kind !== 'manifest') this.digest.update(bytes).update('\n');
  }

  /** Organizations follow one another; within each, and around them, the order is fixed. */
  private isDue(line: ExportLine): boolean {
    const rank = RANKS[line.kind];
    if (this.ended || (this.rank < 0) !== (line.kind === 'export') || line.kind === 'disclosures') return false;
    const opens = (line.kind === 'map' || line.kind === 'section') && this.rank >= RANKS.section && this.rank <= RANKS.head;
    const follows = rank > this.rank || (rank === this.rank && line.kind !== 'map') || opens;
    const inside = rank < RANKS.seam || rank > RANKS.head ||
      (this.section !== undefined && (!('organizationId' in line) || line.organizationId === this.section.id));
    return follows && inside;
  }

  private take(line: ExportLine): void {
    if (line.kind !== 'inclusion') this.section?.expectNoProof();
    if (line.kind !== 'entry' || line.event !== 'gdpr.erasure_executed') this.section?.expectNoErasure();
    switch (line.kind) {
      case 'export': return this.open(line);
      case 'checkpoint': return this.checkpoint(line.note);
      case 'map': return this.map(line);
      case 'section': return this.openSection(line);
      case 'consistency': return void this.consistencies.set(`${line.organizationId} ${line.from}`, line);
      case 'sweep': return this.section!.sweep(line);
      case 'erasure': return this.section!.erasure(line);
      case 'seam': return this.section!.seam(line);
      case 'entry':
        this.entries++;
        return this.section!.entry(line);
      case 'inclusion': return this.section!.inclusion(line);
      case 'gap': return this.section!.gap(line);
      case 'head':
        this.chains++;
        return this.section!.head(line);
      case 'manifest': return this.manifest(line);
      default:
    }
  }

  private open(line: LineOf<'export'>): void {
    this.header = line;
    this.succession = new Succession(line.instance);
    this.judgeKeys(line);
    if (this.keys.length === 0) this.keys = line.keys.flatMap((text) => readVerifierKey(text) ?? []);
    if (this.options.agentId !== undefined && line.agentId !== this.options.agentId) {
      throw new Error(`the file is not an export of agent ${this.options.agentId}`);
    }
  }

  private judgeKeys({ instance, keys, keyNotes = [] }: LineOf<'export'>): void {
    const succession = new Succession(instance);
    if (keys.every((key, n) => succession.take({ key, note: keyNotes[n - 1] }))) return;
    this.inFile('checkpoint_invalid', 'names a key for which the one before it has not vouched');
  }

  announce(next: NextKey, isCovered: boolean): boolean {
    const counts = this.succession!.take(next);
    if (counts && isCovered) this.announced = next.key;
    return counts;
  }

  private checkpoint(note: string): void {
    const tree = note.slice(0, note.indexOf('\n')).split('/')[1] ?? '';
    const opened = openCheckpoint(note, this.keys, originOf(this.header!.instance, tree));
    if ('wrong' in opened) this.inFile('checkpoint_invalid', `holds a checkpoint that ${opened.wrong}`);
    else if (this.checkpoints.has(tree)) this.inFile('checkpoint_invalid', 'holds a second checkpoint of one tree');
    else this.checkpoints.set(tree, { ...opened.checkpoint, note });
  }

  private map(line: LineOf<'map'>): void {
    this.closeSection();
    const { organizationId: id, size } = line;
    const shown = shownMap(line, this.checkpoints.get(id), this.checkpoints.get(PLATFORM_TREE));
    if (shown) this.mapped = shown;
    else {
      this.add(id, size, null, 'checkpoint_invalid', `the platform's checkpoint does not carry the tree of ${id} that is shown`);
      this.misled.push(line);
    }
  }

  private openSection(line: LineOf<'section'>): void {
    this.closeSection();
    const { organizationId: id, size } = line;
    const own = this.checkpoints.get(id);
    this.section = new SectionCheck(this, line, own, this.recalled.of(this.header!.instance, id, this.keys));
    if (this.header!.organizations[this.sections++] !== id) this.section.inTree('chain_removed', 0, 'is not the one announced here');
    if (size !== (own?.size ?? 0)) this.section.inTree('checkpoint_invalid', size, 'is shown without a signed checkpoint of its size');
    else if (this.checkpoints.size > 0 && this.mapped?.id !== id) {
      const what = own ? 'is not shown to be under a platform checkpoint' : 'has no checkpoint, and is not shown to have had none';
      this.section.inTree('checkpoint_invalid', size, what);
    }
  }

  /** Whether the tree of this file goes on from an older state of it; undefined where the file does not say. */
  continues(tree: string, { size, root }: { readonly size: number; readonly root: string }): boolean | undefined {
    const now = this.checkpoints.get(tree);
    if (size === 0 || size > (now?.size ?? 0)) return size === 0;
    if (size === now!.size) return root === now!.root;
    const proof = this.consistencies.get(`${tree} ${size}`);
    if (proof?.to !== now!.size) return undefined;
    return checkConsistency(size, now!.size, readHash(root)!, readHash(now!.root)!, proof.hashes.map((hash) => readHash(hash)!));
  }

  /** What a note says of a sweep or an erasure of this organization; undefined where it does not count. */
  ordered(order: AuthorizedOperation, organizationId: string, note: string): Checkpoint | undefined {
    const origin = authorizationOrigin(order, this.header!.instance, organizationId);
    this.orders.push({ origin, size: 0, note, order });
    const opened = openCheckpoint(note, this.keys, origin);
    return 'wrong' in opened ? undefined : opened.checkpoint;
  }

  /** @param seen what the tree itself showed on the way, where it was whole */
  judgeRecalled(tree: string, recalled: RecalledCheckpoint | undefined, seen: boolean | undefined): void {
    if (!recalled) return;
    // An archive is of its sweep's moment, and rightly older than what is remembered.
    const isPast = this.header!.what === 'archive' && recalled.size > (this.checkpoints.get(tree)?.size ?? 0);
    const goesOn = isPast ? undefined : this.continues(tree, recalled) ?? seen;
    this.recalled.judge(this.header!, tree, recalled, goesOn);
    if (goesOn !== false) return;
    const what = tree === PLATFORM_TREE || this.header!.organizations.includes(tree)
      ? 'does not go on from the remembered one: it was rewritten, or the file is older'
      : 'is gone: the checkpoint remembered is of an organization that a file of all of them has to hold';
    this.add(tree, recalled.size, null, 'checkpoint_invalid', `the tree of ${tree} ${what}`);
  }

  private closeSection(): void {
    const { section } = this;
    this.section = undefined;
    section?.close();
  }

  private manifest({ counts, sha256, note }: LineOf<'manifest'>): void {
    this.closeSection();
    this.ended = true;
    const said = this.digest.digest('hex');
    if (said !== sha256) return this.inFile('edited', 'gives another digest than the lines before it have: the file was changed');
    const isCounted = counts.lines === this.lines - 1 && counts.entries === this.entries && counts.chains === this.chains;
    if (!isCounted) this.inFile('edited', 'counts other lines than there are');
    const opened = openNote(note, this.keys);
    const { instance, madeAt } = this.header!;
    if (opened.kind !== 'open') this.inFile('checkpoint_invalid', 'holds a note that is signed by no known key');
    else if (opened.text !== manifestText({ instance, entries: this.entries, sha256, madeAt })) {
      this.inFile('checkpoint_invalid', 'holds a note about another file');
    }
  }

  /** @throws Error for what is no export at all, or for a remembered note that cannot be believed */
  end(): LogFound {
    const { header } = this;
    if (!header) throw new Error('this is no export of an audit log');
    if (!this.ended) this.inFile('truncated', 'is the last one, and no manifest: the end of the file was cut off');
    this.closeSection();
    for (const id of header.organizations.slice(this.sections)) {
      this.add(id, 0, null, 'chain_removed', `${id} is announced, but the file holds nothing of it`);
    }
    const signers = this.lastSigners(header);
    for (const one of signers.length > 0 ? [...this.checkpoints.values(), ...this.orders] : []) {
      const { origin, size, note } = one;
      if (openNote(note, signers).kind === 'open') continue;
      const what = 'is not signed by the key that the log announced last';
      const kind = 'order' in one && one.order === 'erasure' ? 'unauthorised_erasure' : 'checkpoint_invalid';
      this.add(origin, size, null, kind, `the note of ${origin} ${what}`);
    }
    this.matchTransfers(header);
    if (header.all) this.breaks.add([...againstFileMap(this.checkpoints, this.mapped, this.misled)]);
    for (const tree of [PLATFORM_TREE, ...this.missing(header)]) {
      this.judgeRecalled(tree, this.recalled.of(header.instance, tree, this.keys), undefined);
    }
    const recalled: RecalledMember = { remembered: this.recalled.found };
    const newest = this.checkpoints.get(PLATFORM_TREE);
    const madeAt = this.mapped?.timestamp ?? header.madeAt;
    const { chains, entries, breaks: { listed: breaks, found: breaksFound }, uncovered } = this;
    return {
      chains, entries, breaks, breaksFound, uncovered, instance: header.instance,
      members: { ...coveredBy(header, !this.ended), ...recalled },
      notes: [...this.checkpoints].map(([tree, { note }]) => this.recalled.next(tree, note)),
      ...(newest ? { checkpoint: { organizationId: PLATFORM_TREE, ...newest, platformSize: newest.size, madeAt } } : {}),
    };
  }

  /** The key that was announced last, or one behind it: a part may end before that one was announced. None where nothing announces any. */
  private lastSigners({ keys, to }: LineOf<'export'>): VerifierKey[] {
    const { announced } = this;
    if (announced === undefined) return [];
    const isToEnd = this.isLog && (to ?? null) === null;
    const later = isToEnd || !keys.includes(announced) ? [announced] : keys.slice(keys.indexOf(announced));
    return later.flatMap((key) => readVerifierKey(key) ?? []);
  }

  /** Only who sees every organization can ask for both halves of a transfer; a swept half is gone rightly. */
  private matchTransfers({ all }: LineOf<'export'>): void {
    if (!this.isWhole || !all) return;
    for (const { chain, seq, id, direction } of this.transfers.values()) {
      if (this.cutChains.has(chain)) continue;
      const kind = direction === 'out' ? 'truncated' : 'inserted';
      this.add(chain, seq, id, kind, `entry ${seq} of chain ${chain} is one half of a transfer without the other`);
    }
  }

  /** Organizations that somebody remembers, and that a file of all of them does not name. */
  private missing({ all, instance, organizations }: LineOf<'export'>): string[] {
    const known = all ? this.recalled.treesOf(instance) : [];
    return known.filter((tree) => tree !== PLATFORM_TREE && !organizations.includes(tree));
  }

  get isLog(): boolean {
    return this.header?.what === 'log';
  }

  get isRange(): boolean {
    return this.isLog && (this.header?.from ?? this.header?.to ?? null) !== null;
  }

  get isWhole(): boolean {
    return this.isLog && !this.isRange && (this.header?.agentId ?? null) === null;
  }
}

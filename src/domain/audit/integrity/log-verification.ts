import { randomBytes } from 'node:crypto';
import { getOrInsert } from '../../collections.js';
import type { JsonObject } from '../../json.js';
import { findingInTree, Findings } from './findings.js';
import { organizationChain, PLATFORM_ORGANIZATION } from '../entry/chain.js';
import { PLATFORM_TREE } from '../notes/checkpoint.js';
import type { EntryRange, LogHeader, LogSource, ShownAnchor, CutPointRow } from './log-source.js';
import { addMultisets, EMPTY_MULTISET, isSameMultiset, type MultisetDigest } from '../completeness/multiset-hash.js';
import { hashText, EMPTY_ROOT } from '../tree/rfc6962.js';
import { metadataOf } from '../entry/payload.js';
import { joinEntries, toEnd, verifyEntries, type EntriesFound, type OrganizationFound } from './verify-entries.js';
import { announcedIn, againstOwnKey, againstSuccession } from '../notes/verify-key-succession.js';
import { againstErasures } from './verify-erasures.js';
import type { MapFound } from '../tree/verify-map.js';
import { isCutPointIn, unmatched, usedAgain } from './verify-transfers.js';
import {
  againstAnnouncedKey, againstKept, againstMapPath, againstSignature, againstWholeMap, keptByAnchors, keptByCaller,
  signingNow, type KeptCheckpoint,
} from '../tree/verify-platform.js';
import { CheckpointVerifier } from '../notes/verify-checkpoints.js';
import { againstPinned } from '../notes/verify-pinned-keys.js';
import { findUnrecordedCutPoints, type IsAuthorizedCut } from './verify-cut-points.js';
import { inTurn, type Task, type TaskFound, type TaskRunner } from './verification-tasks.js';
import type { OrganizationTreeFound, OrganizationTreeOrder, PlatformFound, TreeOrder } from '../tree/verify-tree.js';

/** Organizations whose trees are given to one thread together: what one message costs is then nothing beside the work. */
const LEAVES_PER_TASK = 50_000;

export interface LogVerificationOptions {
  /** Only this agent's chain, with what it hangs on. */
  readonly agentId?: string | undefined;
  /** Asked before the source was opened: what they have, the database must have had. */
  readonly anchors?: readonly ShownAnchor[];
  readonly remembered?: readonly string[];
  /** The verifier's own key: the key that signs must be this one, or follow from it. */
  readonly ownKey?: string;
  /** Default: where the caller is, one task after another. */
  readonly runner?: TaskRunner;
  readonly onProgress?: (entries: number, total: number) => void;
}

/** Everything that was read once, joined. */
export interface LogReading {
  readonly entries: EntriesFound;
  readonly trees: ReadonlyMap<string, OrganizationTreeFound>;
  readonly queue: ReadonlyMap<string, MultisetDigest>;
  readonly platform: PlatformFound;
  /** Where every organization is shown, and was read. */
  readonly map?: MapFound;
  /** The chains that were read, where not all were. */
  readonly chains?: readonly string[];
}

/** A log that is read once: which tasks it takes, and what their findings come to. */
export class LogVerification {
  private readonly sumKey = randomBytes(32);
  private readonly kept: readonly KeptCheckpoint[];
  private readonly cutPoints = new Map<string, CutPointRow[]>();
  private done = 0;
  private readonly runner: TaskRunner;

  constructor(private readonly source: LogSource, readonly header: LogHeader, private readonly options: LogVerificationOptions) {
    this.runner = options.runner ?? inTurn(source);
    this.kept = [...keptByAnchors(options.anchors ?? []), ...keptByCaller(options.remembered ?? [], header.instance)];
    for (const one of header.cutPoints) getOrInsert(this.cutPoints, one.organizationId, () => []).push(one);
  }

  async readAll(): Promise<LogReading> {
    const { sumKey, header: { ranges }, source } = this;
    const map: Task = { kind: 'map', position: Math.max(0, this.treeOrder(PLATFORM_TREE).shown.size - 1) };
    return this.run([
      ...(source.whole ? [map] : []), ...this.treeTasks(), { kind: 'platform', order: this.platformOrder() }, { kind: 'queue', sumKey },
      ...ranges.map((range) => this.entriesTask(range)),
    ]);
  }

  /** The agent's chain; its organizations' own, too, where a value was erased or the chain cut: these entries must be sound ones. */
  async readAgent(chains: readonly string[]): Promise<LogReading> {
    const { organizations, cutPoints } = this.header;
    const first = await this.run([this.entriesTask({ organizations, chains })]);
    const isCut = (id: string) => cutPoints.some((cutPoint) => cutPoint.organizationId === id && chains.includes(cutPoint.chain));
    const needed = organizations.filter((id) => (first.entries.organizations.get(id)?.blanks.size ?? 0) > 0 || isCut(id));
    const own = needed.map((id) => organizationChain(id).chain);
    const read = [...chains, ...own];
    const second = await this.run([
      ...this.treeTasks(read), { kind: 'platform', order: this.platformOrder() },
      { kind: 'queue', sumKey: this.sumKey, organizations, chains: read },
      ...needed.map((id) => this.entriesTask({ organizations: [id], chains: [organizationChain(id).chain] })),
    ]);
    return { ...second, entries: joinEntries([first.entries, second.entries]), chains: read };
  }

  /** Says what is wrong, and how much no checkpoint covers. */
  async settle(read: LogReading, breaks: Findings): Promise<{ uncovered: number; platform: PlatformFound; notes: string[] }> {
    const { source, header } = this;
    const { trees, queue, platform } = read;
    const entries = await this.againstTrees(read);
    const named = (event: string) => entries.notable.filter((one) => one.event === event);
    const verifier = new CheckpointVerifier(header);
    const { counted: rotations, breaks: unvouched } = announcedIn(named('admin.signing_key_rotated'), header.instance);
    breaks.add(unvouched);
    this.againstKeys(breaks);
    const all = [...trees.values(), platform];
    breaks.add(againstPinned({ header, trees: all, ownTree: trees.get(PLATFORM_ORGANIZATION), rotations }, verifier));
    const keys = signingNow(trees.get(PLATFORM_ORGANIZATION), rotations, verifier);
    for (const id of [...entries.organizations.keys()].sort()) {
      const { findings, blanks } = entries.organizations.get(id)!;
      breaks.addAll(findings);
      const erasures = named('gdpr.erasure_executed').filter(({ organizationId }) => organizationId === id);
      const notes = await source.erasureNotes(id, erasures.map((one) => one.id));
      breaks.add(againstErasures(blanks, erasures, (one) => verifier.isOrdered('erasure', notes.get(one.id) ?? null, one, keys)));
    }
    for (const { findings } of all) breaks.addAll(findings);
    const isOrdered = onceEach(({ note, organizationId }, recorded) =>
      verifier.isOrdered('sweep', note, { organizationId, ...recorded }, keys));
    breaks.add((header.unreadable ?? []).map((id) => findingInTree(id, 0, 'deleted', 'has a sweep of which the row cannot be read')));
    const sweeps = named('admin.audit_retention_sweep');
    for (const id of header.organizations) {
      const cutPoints = this.cutPointsOf(id, read.chains);
      breaks.add(findUnrecordedCutPoints(cutPoints, { tree: trees.get(id), sweeps, platform, isOrdered }));
    }
    const recoveries = await this.recoveries(entries);
    breaks.add(againstSignature(platform));
    for (const tree of all) breaks.add(againstKept(tree, this.kept, verifier, recoveries));
    breaks.add(againstAnnouncedKey(all, trees.get(PLATFORM_ORGANIZATION), rotations, verifier));
    if (read.map) {
      breaks.addAll(read.map.findings);
      breaks.add(againstWholeMap(read.map, platform, trees));
    } else for (const id of header.organizations) breaks.add(await againstMapPath(source, platform, id, trees.get(id)));
    if (source.whole) breaks.add(unmatched(entries.transfers, header.cutPoints));
    breaks.add(usedAgain(header.shared ?? [], entries.transfers, header.cutPoints));
    let uncovered = 0;
    for (const { uncovered: young } of trees.values()) uncovered += young;
    for (const { count } of queue.values()) uncovered += count;
    const notes = all.flatMap(({ newest }) => newest?.note ?? []);
    return { uncovered, platform, notes };
  }

  private againstKeys(breaks: Findings): void {
    const { header: { instance, keys, keptKeys = keys }, options: { ownKey } } = this;
    breaks.add(againstSuccession(keptKeys, instance));
    if (ownKey !== undefined) breaks.add(againstOwnKey(keptKeys, ownKey, instance));
  }

  /** Of a part the installation's own chain is not read; what it says of recoveries is then believed as it stands. */
  private async recoveries({ notable }: EntriesFound): Promise<JsonObject[]> {
    const { source, options: { agentId }, kept } = this;
    if (source.whole && agentId === undefined) {
      const own = notable.filter(({ event, organizationId }) => event === 'admin.recovered' && organizationId === PLATFORM_ORGANIZATION);
      return own.map(({ metadata }) => metadata);
    }
    return kept.length === 0 ? [] : (await source.recoveries()).map(metadataOf);
  }

  /** Reads organizations again, sorted, whose chains and tree differ, and those with entries left below a cut, which no sum holds. */
  private async againstTrees({ entries, trees, queue, chains }: LogReading): Promise<EntriesFound> {
    const { source, sumKey } = this;
    const ids = new Set([...entries.organizations.keys(), ...trees.keys(), ...queue.keys()]);
    const again: EntriesFound[] = [];
    const organizations = new Map<string, OrganizationFound>(entries.organizations);
    for (const id of [...ids].sort()) {
      const { sum: written = EMPTY_MULTISET, leftovers = 0 } = entries.organizations.get(id) ?? {};
      const known = addMultisets(trees.get(id)?.sum ?? EMPTY_MULTISET, queue.get(id) ?? EMPTY_MULTISET);
      const isSame = isSameMultiset(written, known);
      if (isSame && leftovers === 0) continue;
      const range = { organizations: [id], ...(chains ? { chains } : {}) };
      const order = { sumKey, cutPoints: this.cutPointsOf(id, chains) };
      const found = await toEnd(verifyEntries(source.read(range), order, source.sorted(id, chains)));
      again.push(found);
      for (const [organizationId, one] of found.organizations) organizations.set(organizationId, one);
      const one = found.organizations.get(id);
      if (isSame || one?.findings.found !== 0) continue;
      const differs = findingInTree(id, 0, 'tree_mismatch', 'and the chains of its organization do not hold the same entries');
      organizations.set(id, { ...one, findings: { listed: [differs], found: 1 } });
    }
    const isAgain = (id: string) => again.some((found) => found.organizations.has(id));
    return {
      ...entries,
      organizations,
      transfers: [...entries.transfers.filter(({ entry }) => !isAgain(entry.organizationId)), ...again.flatMap((one) => one.transfers)],
      notable: [...entries.notable.filter((one) => !isAgain(one.organizationId)), ...again.flatMap((one) => one.notable)],
    };
  }

  private async run(tasks: readonly Task[]): Promise<LogReading> {
    const onEntries = (entries: number) => {
      this.done += entries;
      this.options.onProgress?.(this.done, this.header.total);
    };
    const found = await this.runner.run(tasks, onEntries);
    const of = <K extends TaskFound['kind']>(kind: K) =>
      found.filter((one): one is Extract<TaskFound, { kind: K }> => one.kind === kind);
    const [map] = of('map');
    return {
      entries: joinEntries(of('entries').map((one) => one.found)),
      trees: new Map(of('trees').flatMap((one) => one.found).map((one) => [one.tree, one])),
      queue: of('queue')[0]?.found ?? new Map<string, MultisetDigest>(),
      platform: of('platform')[0]?.found ?? NO_PLATFORM,
      ...(map ? { map: map.found } : {}),
    };
  }

  private entriesTask(range: EntryRange): Task {
    const cutPoints = this.header.cutPoints.filter((cutPoint) => isCutPointIn(cutPoint, range));
    return { kind: 'entries', range, order: { sumKey: this.sumKey, cutPoints } };
  }

  /** Large trees first and alone, since a tree is read by one thread; small ones many together. */
  private treeTasks(chains?: readonly string[]): Task[] {
    const { sumKey, header: { organizations }, kept, source } = this;
    // A tree that somebody remembers is asked for even where nothing of it is left.
    const remembered = source.whole && !chains ? kept.map(({ tree }) => tree).filter((tree) => tree !== PLATFORM_TREE) : [];
    const orders = [...new Set([...organizations, ...remembered])]
      .map((id): OrganizationTreeOrder =>
        ({ ...this.treeOrder(id), sumKey, cutPoints: this.cutPointsOf(id, chains), ...(chains ? { chains } : {}) }))
      .filter(({ shown, wanted }) => shown.size > 0 || wanted.length > 0)
      .sort((a, b) => b.shown.size - a.shown.size);
    const tasks: OrganizationTreeOrder[][] = [];
    let room = 0;
    for (const order of orders) {
      if (room <= 0) {
        tasks.push([]);
        room = LEAVES_PER_TASK;
      }
      tasks.at(-1)!.push(order);
      // A tree without a leaf takes some statements, too.
      room -= order.shown.size + 100;
    }
    return tasks.map((some) => ({ kind: 'trees', orders: some }));
  }

  private treeOrder(tree: string): TreeOrder {
    const { instance, keys, trees } = this.header;
    const shown = trees.find((one) => one.tree === tree) ?? { tree, size: 0, root: hashText(EMPTY_ROOT) };
    const cutPoints = this.cutPointsOf(tree).map(({ checkpoint }) => checkpoint.size);
    const kept = this.kept.filter((one) => one.tree === tree).map(({ size }) => size);
    return { shown, trust: { instance, keys }, wanted: [...new Set([...cutPoints, ...kept])] };
  }

  private platformOrder(): TreeOrder {
    const order = this.treeOrder(PLATFORM_TREE);
    return { ...order, wanted: [...order.wanted, ...this.header.cutPoints.map(({ checkpoint }) => checkpoint.platformSize)] };
  }

  private cutPointsOf(id: string, chains?: readonly string[]): CutPointRow[] {
    return (this.cutPoints.get(id) ?? []).filter(({ chain }) => !chains || chains.includes(chain));
  }
}

/** One entry of a retention run has up to a thousand cut points, and one note signs all of them. */
function onceEach(isOrdered: IsAuthorizedCut): IsAuthorizedCut {
  const known = new Map<string, boolean>();
  return (cutPoint, recorded) => {
    const key = `${cutPoint.organizationId} ${cutPoint.sweepEntryId} ${cutPoint.note}`;
    const said = known.get(key) ?? isOrdered(cutPoint, recorded);
    known.set(key, said);
    return said;
  };
}

const NO_PLATFORM: PlatformFound = { tree: PLATFORM_TREE, size: 0, roots: new Map(), times: new Map(), findings: new Findings() };

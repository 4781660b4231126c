import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { jcs } from '../../../src/domain/audit/entry/jcs.js';
import type { StoredEntry } from '../../../src/domain/audit/entry/stored-entry.js';
import type { MemoryLog } from '../memory/memory-log.js';
import { consistencyProof, inclusionProof, leafHash, mapOf, merkleRoot, subtreeRoots } from '../memory/naive-trees.js';

// Makes signed exports from a log in memory, straight from the definitions: what the stand-alone verifier is held against.

export type Line = Record<string, unknown> & { kind: string };

export const INSTANCE = 'countersign-0123456789ab';
export const MADE_AT = '2026-11-22T06:00:00.000Z';

export interface Signer {
  readonly vkey: string;
  readonly sign: (text: string) => string;
}

/** A signer by a seed of 32 times the same byte, in the form of a C2SP signed note. */
export function signerOf(byte: number, name = INSTANCE): Signer {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, byte)]);
  const key: KeyObject = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  const typed = Buffer.concat([Buffer.from([1]), spki.subarray(-32)]);
  const id = createHash('sha256').update(`${name}\n`).update(typed).digest().subarray(0, 4);
  return {
    vkey: `${name}+${id.toString('hex')}+${typed.toString('base64')}`,
    sign: (text) => `— ${name} ${Buffer.concat([id, sign(null, Buffer.from(text), key)]).toString('base64')}\n`,
  };
}

export const SIGNER = signerOf(7);

/** What a sweep cut off, by chain. */
export interface ExportCutPoint {
  readonly seq: number;
  readonly hash: string;
  readonly count: number;
  readonly sweepEntryId: string;
  readonly checkpoint: { readonly size: number; readonly root: string };
  /** What is signed of the sweep. */
  readonly text: string;
}

export interface ExportOptions {
  readonly what?: 'log' | 'person';
  readonly signers?: readonly Signer[];
  readonly keys?: readonly string[];
  readonly organizations?: readonly string[];
  /** How many leaves of each organization the checkpoint holds; all of them if not said. */
  readonly anchored?: (organizationId: string, leaves: number) => number;
  /** A window of tree positions, [from, to). */
  readonly range?: readonly [number, number];
  readonly agentId?: string;
  /** Which entries a person's export shows. */
  readonly shows?: (entry: StoredEntry) => boolean;
  readonly cuts?: ReadonlyMap<string, ExportCutPoint>;
  /** Sizes of older checkpoints from which consistency is to be shown. */
  readonly since?: readonly number[];
}

export function leavesOf(log: MemoryLog, organizationId: string): Buffer[] {
  return log.leaves
    .filter((one) => one.organizationId === organizationId)
    .map(({ chain, hash, seq }) => leafHash(jcs({ chain, hash, seq })));
}

export function checkpointOf(log: MemoryLog, organizationId: string, size: number): { size: number; root: string } {
  return { size, root: merkleRoot(leavesOf(log, organizationId).slice(0, size)).toString('base64') };
}

/** A signed note. */
export function noteOf(text: string, signers: readonly Signer[]): string {
  return `${text}\n${signers.map((one) => one.sign(text)).join('')}`;
}

/** By which a key vouches for the next one, before which there were so many. */
export function nextKeyNote(before: number, vkey: string, by: Signer): string {
  return noteOf(`${INSTANCE}/platform/next-key\n${before}\n${createHash('sha256').update(vkey).digest('base64')}\n`, [by]);
}

/** What is signed of an erasure. */
export function erasureText({ organizationId, payload }: StoredEntry): string {
  const { metadata } = JSON.parse(payload) as { metadata: { erased: unknown[] } };
  const root = createHash('sha256').update(`{"payload":${payload}}`).digest('base64');
  return `${INSTANCE}/${organizationId}/erasure\n${metadata.erased.length}\n${root}\n`;
}

/** Every line but the manifest. */
export function linesOf(log: MemoryLog, options: ExportOptions = {}): Line[] {
  const { what = 'log', signers = [SIGNER], range, agentId, since = [], cuts = new Map<string, ExportCutPoint>() } = options;
  const all = options.organizations === undefined && agentId === undefined && what === 'log';
  const organizations = options.organizations ?? [...new Set(log.leaves.map((one) => one.organizationId))];
  const trees = organizations.map((id) => {
    const leaves = leavesOf(log, id);
    const size = options.anchored?.(id, leaves.length) ?? leaves.length;
    return { id, leaves, size, root: merkleRoot(leaves.slice(0, size)) };
  });
  const anchored = trees.filter((tree) => tree.size > 0);
  const map = mapOf(anchored.map(({ id, size, root }) => ({ organization: id, size, root: root.toString('base64') })));
  // Other maps came before this one, which stands last.
  const timestamp = '2026-11-22T05:59:58.000Z';
  const earlier = log.leaves.map((_, n) => leafHash(`map ${n}`));
  const platform = [...earlier, leafHash(jcs({ map: map.root.toString('base64'), timestamp }))];
  const place = { index: earlier.length, size: platform.length };
  const checkpoint = (tree: string, size: number, root: Buffer): Line => ({
    kind: 'checkpoint',
    note: noteOf(`${INSTANCE}/${tree}\n${size}\n${root.toString('base64')}\n`, signers),
  });
  const lines: Line[] = [
    {
      kind: 'export', v: 1, what, instance: INSTANCE, organizations, ...(all ? { all } : {}),
      keys: options.keys ?? signers.map((one) => one.vkey), madeAt: MADE_AT,
      ...(signers.length < 2 ? {} : { keyNotes: signers.slice(1).map(({ vkey }, n) => nextKeyNote(n + 1, vkey, signers[n]!)) }),
      from: range ? '2026-11-01T00:00:00.000Z' : null, to: range ? '2026-11-02T00:00:00.000Z' : null, agentId: agentId ?? null,
    },
  ];
  if (anchored.length > 0) {
    lines.push(checkpoint('platform', platform.length, merkleRoot(platform)));
    for (const { id, size, root } of anchored) lines.push(checkpoint(id, size, root));
  }
  for (const tree of trees) {
    const { id, leaves, size, root } = tree;
    if (anchored.length > 0) {
      lines.push({
        kind: 'map', organizationId: id, size, root: root.toString('base64'), siblings: map.siblings(id), timestamp,
        platform: { ...place, hashes: inclusionProof(platform, place.index).map((one) => one.toString('base64')) },
      });
    }
    const entries = log.leaves
      .filter((leaf) => leaf.organizationId === id)
      .map((leaf) => log.entries.find((one) => one.organizationId === id && one.chain === leaf.chain && one.seq === leaf.seq)!);
    const heads = log.heads.filter((one) => one.organizationId === id && (agentId ?? one.chain) === one.chain);
    lines.push({ kind: 'section', organizationId: id, size, chains: what === 'log' ? heads.length : 0 });
    const own = [...cuts].filter(
      ([chain, cut]) => entries.some((one) => one.id === cut.sweepEntryId) && heads.some((one) => one.chain === chain),
    );
    const pasts = new Set([...since, ...own.map(([, cut]) => cut.checkpoint.size)].filter((past) => past > 0 && past < size));
    for (const from of pasts) {
      const hashes = consistencyProof(leaves.slice(0, size), from).map((one) => one.toString('base64'));
      lines.push({ kind: 'consistency', organizationId: id, from, to: size, hashes });
    }
    for (const [sweepEntryId, text] of new Map(own.map(([, cut]) => [cut.sweepEntryId, cut.text]))) {
      lines.push({ kind: 'sweep', organizationId: id, entryId: sweepEntryId, note: noteOf(text, signers) });
    }
    for (const [chain, { seq, hash, count, sweepEntryId, checkpoint: at }] of own) {
      const place = entries.findIndex((one) => one.id === sweepEntryId);
      const sweepIndex = place < size ? place : null;
      lines.push({ kind: 'seam', organizationId: id, chain, seq, hash, count, sweepEntryId, sweepIndex, checkpoint: at });
    }
    lines.push(...entryLines(entries, leaves, size, { ...options, what, cuts }));
    for (const { chain, seq, hash } of what === 'log' ? heads : []) {
      const last = entries.findLast((one) => one.chain === chain);
      const closed = last?.event === 'agent.transferred' && last.payload.includes('"direction":"out"');
      lines.push({ kind: 'head', organizationId: id, chain, seq, hash, closed });
    }
  }
  if (what === 'person') lines.push({ kind: 'profile', profile: { name: 'Ada' } }, { kind: 'records', records: { requests: 2 } });
  return lines;
}

function entryLines(entries: readonly StoredEntry[], leaves: readonly Buffer[], size: number, options: ExportOptions): Line[] {
  const { range = [0, Infinity], agentId, cuts, shows, what, signers = [SIGNER] } = options;
  const lines: Line[] = [];
  const line = (entry: StoredEntry, index: number | null): Line[] => [
    ...(entry.event !== 'gdpr.erasure_executed' ? [] : [{
      kind: 'erasure', note: noteOf(erasureText(entry), signers),
    }]),
    { kind: 'entry', index, ...entry },
  ];
  const proof = (index: number): Line => ({
    kind: 'inclusion', index, size, hashes: inclusionProof(leaves.slice(0, size), index).map((one) => one.toString('base64')),
  });
  if (what === 'person') {
    for (const [index, entry] of entries.entries()) {
      if (!shows?.(entry)) continue;
      if (index < size) lines.push(...line(entry, index), proof(index));
      else lines.push(...line(entry, null));
    }
    return lines;
  }
  const cutHere = new Map([...(cuts ?? [])].filter(([, cut]) => entries.some((one) => one.id === cut.sweepEntryId)));
  const because = (entry: StoredEntry, index: number) =>
    index < range[0] || index >= range[1] ? 'range'
    : entry.seq <= (cutHere.get(entry.chain)?.seq ?? 0) ? 'swept'
    : agentId !== undefined && entry.chain !== agentId ? 'hidden'
    : undefined;
  for (let index = 0; index < size; ) {
    const reason = because(entries[index]!, index);
    if (reason === undefined) {
      lines.push(...line(entries[index]!, index++));
      continue;
    }
    const from = index;
    // The last one that was cut off a chain is shown by itself.
    const isEnd = (n: number) => reason === 'swept' && cutHere.get(entries[n]!.chain)?.seq === entries[n]!.seq;
    do index++; while (index < size && because(entries[index]!, index) === reason && !isEnd(index - 1) && !isEnd(index));
    const nodes = subtreeRoots(leaves, from, index).map((one) => one.toString('base64'));
    lines.push({ kind: 'gap', from, to: index, because: reason, nodes });
  }
  const isPart = options.range !== undefined || agentId !== undefined;
  for (const [index, entry] of entries.slice(0, size).entries()) {
    const needed = entry.event === 'gdpr.erasure_executed' || entry.event === 'admin.audit_retention_sweep';
    if (isPart && needed && ['range', 'hidden'].includes(because(entry, index) ?? '')) lines.push(...line(entry, index), proof(index));
  }
  for (const entry of entries.slice(size)) {
    if (options.range === undefined && (agentId ?? entry.chain) === entry.chain) lines.push(...line(entry, null));
  }
  return lines;
}

/** The file: canonical lines, and a manifest over them. */
export function seal(lines: readonly Line[], signers: readonly Signer[] = [SIGNER]): string[] {
  const texts = lines.map((one) => jcs(one));
  const digest = createHash('sha256');
  for (const text of texts) digest.update(`${text}\n`);
  const sha256 = digest.digest();
  const of = (kind: string) => lines.filter((one) => one.kind === kind).length;
  const note = noteOf(`${INSTANCE}/export\n${of('entry')}\n${sha256.toString('base64')}\n${MADE_AT}\n`, signers);
  const counts = { lines: lines.length, entries: of('entry'), chains: of('head'), withheld: 0 };
  return [...texts, jcs({ kind: 'manifest', counts, sha256: sha256.toString('hex'), note })];
}

export function exportOf(log: MemoryLog, options: ExportOptions = {}): string[] {
  return seal(linesOf(log, options), options.signers);
}


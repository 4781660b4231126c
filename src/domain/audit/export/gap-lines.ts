import type { IndexedLeaf } from '../entry/stored-entry.js';
import { line, type LineMembers, type LineOf } from './export-lines.js';
import { alignedSubtrees, CompactRange } from '../tree/compact-range.js';
import type { HashReader } from '../tree/hash-reader.js';
import { entryLeaf } from '../tree/tree-leaf.js';
import { subtreeRoots } from '../tree/tree-proofs.js';
import { hashText, leafHash } from '../tree/rfc6962.js';

type Reason = LineMembers<'gap'>['because'];

/** Gathers neighbouring leaves that are left out, in one line with the roots of the largest aligned subtrees over them. */
export class GapBuilder {
  private gap: { readonly reason: Reason; readonly range: CompactRange } | undefined;

  /** Leaves out one more. @returns the gap that ended before it, where the reason is another or there was something between */
  add(leaf: IndexedLeaf, reason: Reason): LineOf<'gap'> | undefined {
    const ended = this.gap?.reason === reason && this.gap.range.size === leaf.index ? undefined : this.end();
    this.gap ??= { reason, range: new CompactRange(leaf.index, [], leaf.index) };
    this.gap.range.append(leafHash(entryLeaf(leaf)));
    return ended;
  }

  /** The gap so far; the next leaf begins another. */
  end(): LineOf<'gap'> | undefined {
    const { gap } = this;
    this.gap = undefined;
    return gap && gapLine(gap.range.begin, gap.range.size, gap.reason, gap.range.nodes);
  }
}

/** A gap over leaves [from, to) that are not read. */
export async function rangeGap(reader: HashReader, from: number, to: number): Promise<LineOf<'gap'>> {
  const roots = await subtreeRoots(reader, alignedSubtrees(from, to));
  return gapLine(from, to, 'range', roots);
}

function gapLine(from: number, to: number, because: Reason, roots: readonly Uint8Array[]): LineOf<'gap'> {
  return line('gap', { from, to, because, nodes: roots.map(hashText) });
}

import type { Finding } from './finding.js';

/** Of findings that overlap the surest, then the longest, together with what the others have besides; sorted by place. */
export function surest(found: readonly Finding[]): Finding[] {
  const sorted = [...found].sort((a, b) => a.start - b.start || b.end - a.end);
  const kept: Finding[] = [];
  for (let from = 0; from < sorted.length;) {
    let end = sorted[from]!.end;
    let to = from + 1;
    for (; to < sorted.length && sorted[to]!.start < end; to++) end = Math.max(end, sorted[to]!.end);
    // Most findings meet no other.
    if (to === from + 1) kept.push(sorted[from]!);
    else for (const finding of ofChain(sorted.slice(from, to))) kept.push(finding);
    from = to;
  }
  return kept;
}

/** Of findings each of which overlaps another. Every unit is given away once, so that a long chain costs no more than its length. */
function ofChain(chain: readonly Finding[]): readonly Finding[] {
  const first = chain[0]!.start;
  const taken = new Uint8Array(chain.reduce((end, finding) => Math.max(end, finding.end), 0) - first);
  const bySureness = [...chain].sort((a, b) => b.score - a.score || b.end - b.start - (a.end - a.start) || a.start - b.start);
  const others: Finding[] = [];
  const kept = bySureness.filter((finding) => {
    const { start, end } = finding;
    if (taken.subarray(start - first, end - first).includes(1)) {
      others.push(finding);
      return false;
    }
    taken.fill(1, start - first, end - first);
    return true;
  }).sort((a, b) => a.start - b.start);
  return others.length === 0 ? kept : widened(kept, others.sort((a, b) => a.start - b.start));
}

/** A part of a value would be left where the surer finding is the shorter one: a password that holds an e-mail address. */
function widened(kept: readonly Finding[], others: readonly Finding[]): readonly Finding[] {
  let from = 0;
  let lastEnd = 0;
  return kept.map((finding, index) => {
    const next = kept[index + 1]?.start ?? Number.POSITIVE_INFINITY;
    let { start, end } = finding;
    for (let i = from; i < others.length && others[i]!.start < end; i++) {
      const other = others[i]!;
      if (other.end <= finding.start) continue;
      start = Math.min(start, Math.max(other.start, lastEnd));
      end = Math.max(end, Math.min(other.end, next));
    }
    while (from < others.length && others[from]!.end <= finding.end) from++;
    lastEnd = end;
    return { ...finding, start, end };
  });
}

import type { Finding } from './finding.js';

/** Of findings that overlap the surest, then the longest; sorted by place. */
export function surest(found: readonly Finding[]): Finding[] {
  const sorted = [...found].sort((a, b) => a.start - b.start || b.end - a.end);
  const chains: (readonly Finding[])[] = [];
  let chain: Finding[] = [];
  let chainEnd = -1;
  for (const finding of sorted) {
    if (finding.start >= chainEnd) {
      chains.push(ofChain(chain));
      chain = [];
    }
    chain.push(finding);
    chainEnd = Math.max(chainEnd, finding.end);
  }
  chains.push(ofChain(chain));
  return chains.flat();
}

/** Of findings each of which overlaps another. Every unit is taken once, so that a long chain costs no more than its length. */
function ofChain(chain: readonly Finding[]): readonly Finding[] {
  if (chain.length < 2) return chain;
  const first = chain[0]!.start;
  const taken = new Uint8Array(chain.reduce((end, finding) => Math.max(end, finding.end), 0) - first);
  const bySureness = [...chain].sort((a, b) => b.score - a.score || b.end - b.start - (a.end - a.start) || a.start - b.start);
  return bySureness.filter(({ start, end }) => {
    if (taken.subarray(start - first, end - first).includes(1)) return false;
    taken.fill(1, start - first, end - first);
    return true;
  }).sort((a, b) => a.start - b.start);
}

import type { Finding, FindingKind } from './findings.js';
import type { EntryRange, SharedChain, CutPointRow } from './log-source.js';
import type { Transfer } from './verify-chain.js';
import { byChain } from './verify-entries.js';

/** Whether a cut point's chain is read with a range. */
export function isCutPointIn({ organizationId, chain }: CutPointRow, { from, to, chains, organizations }: EntryRange): boolean {
  const cutPoint = { organizationId, chain };
  if (from && byChain(cutPoint, from) < 0) return false;
  if (to && byChain(cutPoint, to) >= 0) return false;
  return (!chains || chains.includes(chain)) && (!organizations || organizations.includes(organizationId));
}

/** Both halves of a transfer must be there, unless the chain was cut somewhere: a swept half is gone rightly. */
export function* unmatched(transfers: readonly Transfer[], cutPoints: readonly CutPointRow[]): Generator<Finding> {
  const cut = new Set(cutPoints.map(({ chain }) => chain));
  const open = new Map<string, Transfer>();
  for (const transfer of transfers) {
    const key = `${transfer.entry.chain} ${transfer.seq} ${transfer.hash}`;
    const other = open.get(key);
    if (other && other.direction !== transfer.direction) open.delete(key);
    else open.set(key, transfer);
  }
  for (const { direction, entry: { chain, seq, id } } of open.values()) {
    if (cut.has(chain)) continue;
    const kind: FindingKind = direction === 'out' ? 'truncated' : 'inserted';
    const detail = `entry ${seq} of chain ${chain} is one half of a transfer; the other half is not there`;
    yield { chain, position: seq, entryId: id, kind, detail };
  }
}

/** An agent is registered once: in every other organization in which its chain stands, it must have arrived. */
export function* usedAgain(
  shared: readonly SharedChain[], transfers: readonly Transfer[], cutPoints: readonly CutPointRow[],
): Generator<Finding> {
  const cut = new Set(cutPoints.map(({ chain }) => chain));
  const arrived = new Set(transfers.filter(({ direction }) => direction === 'in')
    .map(({ entry: { chain, organizationId } }) => `${chain} ${organizationId}`));
  for (const { chain, organizations } of shared) {
    const begun = organizations.filter((id) => !arrived.has(`${chain} ${id}`));
    if (begun.length < 2 || cut.has(chain)) continue;
    const detail = `chain ${chain} begins in ${begun.length} organizations, ${begun.join(', ')}: the id of an agent was used again`;
    yield { chain, position: 1, entryId: null, kind: 'inserted', detail };
  }
}

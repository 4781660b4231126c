import { MAX_BREAKS, type Break, type BreakKind } from './breaks.js';
import type { EntryRange, ShownSeam } from './entry-source.js';
import type { Transfer } from './verify-chain.js';
import { byChain, type OrganizationFound } from './verify-entries.js';

/** Whether a seam's chain is read with a range. */
export function isIn({ organizationId, chain }: ShownSeam, { from, to, chains, organizations }: EntryRange): boolean {
  const seam = { organizationId, chain };
  if (from && byChain(seam, from) < 0) return false;
  if (to && byChain(seam, to) >= 0) return false;
  return (!chains || chains.includes(chain)) && (!organizations || organizations.includes(organizationId));
}

/** An organization's breaks. A blank that an erasure of another range lists is none; the other way round nobody minds. */
export function listOf({ breaks, breaksFound, blanks, erased }: OrganizationFound): [Break[], number] {
  const listed = [...breaks];
  let found = breaksFound;
  for (const [key, { chain, seq, id }] of blanks) {
    if (erased.has(key)) continue;
    found++;
    if (listed.length >= MAX_BREAKS) continue;
    const detail = `entry ${seq} of chain ${chain} lost a value that no erasure entry accounts for`;
    listed.push({ chain, position: seq, entryId: id, kind: 'unauthorised_erasure', detail });
  }
  return [listed, found];
}

/** Both halves of a transfer must be there, unless the chain was cut somewhere: a swept half is gone rightly. */
export function* unmatched(transfers: readonly Transfer[], seams: readonly ShownSeam[]): Generator<Break> {
  const cut = new Set(seams.map(({ chain }) => chain));
  const open = new Map<string, Transfer>();
  for (const transfer of transfers) {
    const key = `${transfer.entry.chain} ${transfer.seq} ${transfer.hash}`;
    const other = open.get(key);
    if (other && other.direction !== transfer.direction) open.delete(key);
    else open.set(key, transfer);
  }
  for (const { direction, entry: { chain, seq, id } } of open.values()) {
    if (cut.has(chain)) continue;
    const kind: BreakKind = direction === 'out' ? 'truncated' : 'inserted';
    const detail = `entry ${seq} of chain ${chain} is one half of a transfer; the other half is not there`;
    yield { chain, position: seq, entryId: id, kind, detail };
  }
}

import { newId } from '../../../../src/domain/ids.js';
import type { StoredEntry } from '../../../../src/domain/audit/entry/stored-entry.js';
import { isAgentChain } from '../../../../src/domain/audit/entry/chain.js';
import { forgedFrom, hashed, plausible, renumbered, resealed } from '../altered-entry.js';
import { regrown, withLeaves } from '../forging.js';
import type { Mark, TamperTarget, Tampering } from '../tampering.js';

/** Whole entries: deleted, moved, added; with ever more of what hangs on them made to fit. */

const first = (entries: readonly StoredEntry[]) => ({ seq: entries[0]!.seq, prevHash: entries[0]!.prevHash });
const whereIs = (entries: readonly StoredEntry[], ...more: readonly string[]): Mark =>
  ({ at: [entries[0]!.chain, entries[0]!.organizationId, ...more] });

/** From where to where an entry is taken: the first, one in the middle, the last, or several. */
const RANGES: Readonly<Record<string, (length: number, place: TamperTarget) => [number, number]>> = {
  'the first': () => [0, 1],
  'one in the middle': (length, { random }) => [1 + random.below(length - 2), 0].map((n, i, both) => (i === 0 ? n
    : both[0]! + 1)) as [number, number],
  'the last': (length) => [length - 1, length],
  'the last ones': (length, { random }) => [1 + random.below(length - 1), length],
  'some of them': (length, { random }) => {
    const from = random.below(length - 1);
    return [from, from + 1 + random.below(length - from - 1)];
  },
  'all of a chain': (length) => [0, length],
};

const GONE = ['deleted', 'truncated', 'chain_removed', 'tree_mismatch', 'forked', 'reordered', 'edited'] as const;

function deletion(which: string, how: string, tamper: (place: TamperTarget, chain: readonly StoredEntry[],
  left: StoredEntry[]) => Promise<void>): Tampering {
  return {
    name: `deleted: ${which}, ${how}`, kinds: GONE,
    tamper: async (place) => {
      const chain = place.chain(3);
      if (!chain) return undefined;
      const [from, to] = RANGES[which]!(chain.length, place);
      await tamper(place, chain, chain.filter((_, n) => n < from || n >= to));
      return whereIs(chain);
    },
  };
}

const DELETIONS = Object.keys(RANGES).flatMap((which) => [
  deletion(which, 'rows alone', (place, chain, left) => place.remove(chain.filter((one) => !left.includes(one)))),
  deletion(which, 'the head to fit', (place, chain, left) => place.replaceChain(chain, left)),
  deletion(which, 'the rest renumbered and hashed anew', (place, chain, left) => place.replaceChain(chain, renumbered(left,
    first(chain)))),
  deletion(which, 'the tree to fit', async (place, chain, left) => {
    const rest = renumbered(left, first(chain));
    await place.replaceChain(chain, rest);
    await regrown(place, withLeaves(place, chain, rest));
  }),
]);

function reordering(how: string, tamper: (entries: StoredEntry[]) => StoredEntry[]): Tampering {
  return {
    name: `reordered, ${how}`, kinds: ['reordered', 'forked', 'tree_mismatch', 'edited', 'column_mismatch', 'inserted', 'deleted'],
    tamper: async (place) => {
      const chain = place.chain(3);
      if (!chain) return undefined;
      const [one, other] = place.random.two(chain);
      const moved = chain.map((entry) => (entry === one ? { ...other, seq: one.seq } : entry === other ? { ...one,
        seq: other.seq } : entry));
      await place.replaceChain(chain, tamper(moved));
      return whereIs(chain);
    },
  };
}

/** Somebody who owns the database is not held up by its constraints. */
async function withoutConstraints({ run }: TamperTarget): Promise<void> {
  await run('alter table audit_entries drop constraint audit_entries_pkey');
  await run('drop index audit_entries_no_fork, audit_entries_id');
}

export const CHAINS: readonly Tampering[] = [
  ...DELETIONS,
  reordering('positions alone', (entries) => entries),
  reordering('links to fit', (entries) => entries.map((entry, n) => (n === 0 ? entry : { ...entry, prevHash: entries[n - 1]!.hash }))),
  reordering('all hashed anew', resealed),
  {
    name: 'two entries that changed places in one tree and chain', kinds: ['tree_mismatch'],
    tamper: async (place) => {
      const chain = place.chain(3);
      if (!chain) return undefined;
      const [one, other] = place.random.two(chain);
      const moved = resealed(chain.map((entry) =>
        (entry === one ? { ...other, seq: one.seq } : entry === other ? { ...one, seq: other.seq } : entry)));
      await place.replaceChain(chain, moved);
      await regrown(place, withLeaves(place, chain, moved));
      return whereIs(chain);
    },
  },
  {
    name: 'a row that stands twice', kinds: ['forked', 'inserted', 'tree_mismatch'],
      unseen: 'a file shows what the tree holds, each leaf once',
    tamper: async (place) => {
      const entry = place.entry();
      if (!entry) return undefined;
      await withoutConstraints(place);
      await place.insert([entry]);
      return { at: [entry.chain, entry.organizationId] };
    },
  },
  {
    name: 'an entry repeated behind the last', kinds: ['inserted', 'edited', 'forked', 'column_mismatch'],
    tamper: async (place) => {
      const chain = place.chain(2);
      if (!chain) return undefined;
      const entry = place.random.of(chain);
      const last = chain.at(-1)!;
      await withoutConstraints(place);
      const again = place.random.chance(0.5) ? { ...entry, seq: last.seq + 1 } : hashed({ ...entry, seq: last.seq + 1,
        prevHash: last.hash });
      await place.insert([again]);
      if (place.random.chance(0.5)) await place.setHead(again);
      return whereIs(chain);
    },
  },
  {
    name: 'inserted behind the last, the head moved on', kinds: ['inserted'],
    tamper: async (place) => {
      const chain = place.chain();
      if (!chain) return undefined;
      const last = chain.at(-1)!;
      const forged = forgedFrom(place.random.of(chain), { chain: last.chain, seq: last.seq + 1, prevHash: last.hash });
      await place.insert([{ ...forged, disclosures: forged.disclosures }]);
      if (place.random.chance(0.5)) await place.setHead(forged);
      return whereIs(chain);
    },
  },
  {
    name: 'inserted in the middle, the rest hashed anew', kinds: ['inserted', 'tree_mismatch', 'reordered'],
    tamper: async (place) => {
      const chain = place.chain(2);
      if (!chain) return undefined;
      const at = 1 + place.random.below(chain.length - 1);
      const forged = forgedFrom(place.random.of(chain), { chain: chain[0]!.chain, seq: 0, prevHash: null });
      await place.replaceChain(chain, renumbered([...chain.slice(0, at), forged, ...chain.slice(at)], first(chain)));
      return whereIs(chain);
    },
  },
  {
    name: 'inserted before the first', kinds: ['inserted', 'forked'],
      unseen: 'a file shows what the tree holds and what stands behind the heads',
    tamper: async (place) => {
      const chain = place.chain();
      if (!chain || chain[0]!.seq !== 1) return undefined;
      await place.insert([forgedFrom(chain[0]!, { chain: chain[0]!.chain, seq: -place.random.below(3), prevHash: 'f'.repeat(64) })]);
      return whereIs(chain);
    },
  },
  {
    name: 'a fork: two entries go on from one', kinds: ['inserted', 'forked', 'edited', 'tree_mismatch'],
    tamper: async (place) => {
      const chain = place.chain(3);
      if (!chain) return undefined;
      const at = 1 + place.random.below(chain.length - 1);
      await withoutConstraints(place);
      const forged = forgedFrom(chain[at]!, { chain: chain[0]!.chain, seq: chain.at(-1)!.seq + 1, prevHash: chain[at - 1]!.hash });
      await place.insert([forged]);
      return whereIs(chain);
    },
  },
  {
    name: 'a whole chain inserted', kinds: ['inserted'],
    tamper: async (place) => {
      const chain = place.agentChain();
      if (!chain) return undefined;
      const agent = newId('agt');
      const prevHash = null;
      const forged = resealed(chain.slice(0, 3).map((entry, n) => forgedFrom(entry, { chain: agent, seq: n + 1, prevHash })));
      await place.insert(forged);
      const { seq, hash } = forged.at(-1)!;
      if (place.random.chance(0.7)) {
        await place.run('insert into audit_heads (organization_id, chain, seq, hash) values ($1, $2, $3, $4)',
          [place.organizationId, agent, seq, hash]);
      }
      return { at: [agent] };
    },
  },
  {
    name: 'moved between agents', kinds: [...GONE, 'inserted', 'column_mismatch'],
    tamper: async (place) => {
      const from = place.agentChain(3);
      const to = place.chain(1, (name) => isAgentChain(name) && name !== from?.[0]!.chain);
      if (!from || !to) return undefined;
      const entry = place.random.of(from);
      const last = to.at(-1)!;
      const moved = hashed({ ...entry, chain: last.chain, agentId: last.chain, seq: last.seq + 1, prevHash: last.hash });
      const rest = from.filter((one) => one !== entry);
      await place.replaceChain(from, place.random.chance(0.5) ? renumbered(rest, first(from)) : rest);
      await place.insert([moved]);
      await place.setHead(moved);
      return whereIs(from, last.chain);
    },
  },
  {
    name: 'an entry and all behind it, hashed anew', kinds: ['tree_mismatch'],
    tamper: async (place) => {
      const chain = place.chain(2);
      if (!chain) return undefined;
      const at = place.random.below(chain.length);
      await place.replaceChain(chain, resealed(chain.map((entry, n) => (n === at ? plausible(entry, place.random) : entry))));
      return whereIs(chain);
    },
  },
  {
    name: 'rewritten under an old checkpoint: chain, head and tree', kinds: ['tree_mismatch'],
    tamper: async (place) => {
      const chain = place.chain(2);
      if (!chain) return undefined;
      const at = place.random.below(chain.length);
      const changed = resealed(chain.map((entry, n) => (n === at ? plausible(entry, place.random) : entry)));
      await place.replaceChain(chain, changed);
      await regrown(place, withLeaves(place, chain, changed));
      return whereIs(chain);
    },
  },
];

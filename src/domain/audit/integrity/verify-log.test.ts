import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { append, breaksOf, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import { times } from '../../../../test/support/running/whole-form.js';
import type { FindingKind } from './findings.js';
import { organizationChain } from '../entry/chain.js';
import { entryHash, preimage } from '../entry/entry-hash.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { AGENTS, type Line, logOf, stamp } from '../../../../test/support/memory/lines-of-log.js';

const line: fc.Arbitrary<Line> = fc.record({
  agent: fc.nat({ max: 3 }),
  kind: fc.nat({ max: 3 }),
  text: fc.string({ unit: 'grapheme', maxLength: 12 }),
  amount: fc.integer(),
  address: fc.boolean(),
});

const someLog = (min = 1) => fc.array(line, { minLength: min, maxLength: 14 }).map(logOf);
/** A log and one of its entries, by index. */
const logAndEntry = (min = 1) => fc.tuple(someLog(min), fc.nat()).map(([log, n]) => ({ log, at: n % log.entries.length }));

const kinds = async (log: MemoryLog) => new Set((await breaksOf(log)).map((one) => one.kind));
const rehashed = (entry: StoredEntry): StoredEntry => ({
  ...entry,
  hash: entryHash(
    preimage({
      agentId: entry.agentId ?? undefined,
      capability: entry.capability ?? undefined,
      payload: entry.payload,
      prevHash: entry.prevHash ?? undefined,
    }),
  ),
});
const inChainOf = (log: MemoryLog, entry: StoredEntry) =>
  log.entries.filter((one) => one.chain === entry.chain && one.organizationId === entry.organizationId);

function replace(log: MemoryLog, at: number, changed: Partial<StoredEntry>): MemoryLog {
  return { ...log, entries: log.entries.map((entry, n) => (n === at ? { ...entry, ...changed } : entry)) };
}

function without(log: MemoryLog, gone: readonly StoredEntry[]): MemoryLog {
  return { ...log, entries: log.entries.filter((entry) => !gone.includes(entry)) };
}

async function runs<T>(given: fc.Arbitrary<T>, check: (value: T) => Promise<void>, numRuns = 40): Promise<void> {
  await fc.assert(fc.asyncProperty(given, check), { seed: 20_261_121, numRuns: times(Math.ceil(numRuns / 3), numRuns) });
}

const oneOf = async (log: MemoryLog, ...wanted: FindingKind[]) => {
  const found = await kinds(log);
  expect(wanted.some((kind) => found.has(kind)) ? wanted : [...found]).toEqual(wanted);
};

describe('an untouched log', () => {
  it('never alarms', async () => {
    await runs(someLog(0), async (log) => expect(await breaksOf(log)).toEqual([]), 200);
  });

  it('nor does one agent of it', async () => {
    await runs(someLog(), async (log) => {
      for (const agent of AGENTS) expect(await breaksOf(log, agent)).toEqual([]);
    }, 50);
  });
});

describe('every changed field is found', () => {
  const fields: [keyof StoredEntry, (entry: StoredEntry) => unknown, FindingKind[]][] = [
    ['organizationId', () => 'org_z', ['column_mismatch', 'edited', 'inserted', 'deleted', 'truncated', 'chain_removed']],
    ['chain', () => 'agt_z', ['column_mismatch', 'edited', 'inserted', 'deleted', 'truncated', 'chain_removed']],
    ['seq', (entry) => entry.seq + 100, ['inserted', 'deleted']],
    ['id', () => 'audit_z', ['column_mismatch']],
    ['event', () => 'agent.removed', ['column_mismatch']],
    ['agentId', (entry) => (entry.agentId === null ? 'agt_z' : null), ['column_mismatch']],
    ['actorId', () => 'usr_z', ['column_mismatch']],
    ['capability', () => 'web.post', ['edited']],
    ['outcome', () => 'blocked', ['column_mismatch']],
    ['timestamp', () => '2020-01-01T00:00:00.000Z', ['column_mismatch']],
    ['payload', (entry) => entry.payload.replace('"via":"rest"', '"via":"page"'), ['edited']],
    ['prevHash', (entry) => (entry.prevHash === null ? 'f'.repeat(64) : null), ['column_mismatch']],
    ['hash', () => '0'.repeat(64), ['edited']],
  ];

  it.each(fields)('%s', async (field, change, wanted) => {
    await runs(logAndEntry(), async ({ log, at }) => {
      await oneOf(replace(log, at, { [field]: change(log.entries[at]!) }), ...wanted);
    });
  });

  it.each(fields)('%s, with the hash made to fit', async (field, change) => {
    await runs(logAndEntry(), async ({ log, at }) => {
      const entry = log.entries[at]!;
      const changed = rehashed({ ...entry, [field]: change(entry) });
      if (field === 'hash') return;
      expect((await kinds(replace(log, at, changed))).size).toBeGreaterThan(0);
    });
  });

  it('any single character of a payload', async () => {
    const given = fc.tuple(logAndEntry(), fc.nat(), fc.constantFrom('0', 'a', '"', ' ', '}'));
    await runs(given, async ([{ log, at }, n, character]) => {
      const { payload } = log.entries[at]!;
      const where = n % payload.length;
      const changed = payload.slice(0, where) + character + payload.slice(where + 1);
      if (changed !== payload) await oneOf(replace(log, at, { payload: changed }), 'edited');
    });
  });

  it('any single character of the disclosures', async () => {
    const given = fc.tuple(logAndEntry(), fc.nat(), fc.constantFrom('0', 'a', '"', ' ', '\\'));
    await runs(given, async ([{ log, at }, n, character]) => {
      const { disclosures } = log.entries[at]!;
      const where = n % disclosures.length;
      const changed = disclosures.slice(0, where) + character + disclosures.slice(where + 1);
      if (changed !== disclosures) await oneOf(replace(log, at, { disclosures: changed }), 'edited');
    });
  });
});

describe('every change of the sequence is found', () => {
  it('an entry is deleted', async () => {
    await runs(logAndEntry(), async ({ log, at }) => {
      const entry = log.entries[at]!;
      const chain = inChainOf(log, entry);
      const wanted = chain.length === 1 ? 'chain_removed' : chain.at(-1) === entry ? 'truncated' : 'deleted';
      const breaks = await breaksOf(without(log, [entry]));
      expect(breaks).toEqual([expect.objectContaining({ kind: wanted, chain: entry.chain, position: entry.seq, entryId: null })]);
    });
  });

  it('the end of a chain is cut off, and its head moved back', async () => {
    await runs(logAndEntry(3), async ({ log, at }) => {
      const entry = log.entries[at]!;
      const chain = inChainOf(log, entry);
      const last = chain[chain.indexOf(entry) - 1];
      const cut = without(log, chain.slice(chain.indexOf(entry)));
      cut.heads = cut.heads.map((head) =>
        head.chain === entry.chain && head.organizationId === entry.organizationId
          ? { ...head, seq: last?.seq ?? 0, hash: last?.hash ?? null }
          : head,
      );
      expect(await kinds(cut)).toEqual(new Set([last ? 'truncated' : 'chain_removed']));
    });
  });

  it('a whole chain is removed, head and all', async () => {
    await runs(logAndEntry(), async ({ log, at }) => {
      const entry = log.entries[at]!;
      const cut = without(log, inChainOf(log, entry));
      cut.heads = cut.heads.filter((head) => head.chain !== entry.chain);
      expect(await kinds(cut)).toContain('chain_removed');
    });
  });

  it('an entry is written behind the end, linked and hashed, the head moved', async () => {
    await runs(logAndEntry(), async ({ log, at }) => {
      const entry = log.entries[at]!;
      const forged = { ...log, entries: [...log.entries], leaves: [...log.leaves] };
      const chain = organizationChain(entry.organizationId);
      append(forged, { chain, type: 'auth.login', metadata: { method: 'password' } }, stamp(900));
      forged.leaves = log.leaves;
      expect((await breaksOf(forged)).map((one) => [one.kind, one.entryId])).toEqual([['inserted', 'audit_900']]);
    });
  });

  it('an entry stands twice', async () => {
    await runs(logAndEntry(), async ({ log, at }) => {
      const doubled = { ...log, entries: [...log.entries, { ...log.entries[at]! }] };
      expect(await kinds(doubled)).toContain('forked');
    });
  });

  it('two entries of a chain change places, relinked and hashed anew or not', async () => {
    await runs(fc.tuple(logAndEntry(4), fc.boolean()), async ([{ log, at }, relink]) => {
      const first = log.entries[at]!;
      const chain = inChainOf(log, first);
      const second = chain[chain.indexOf(first) + 1];
      if (!second) return;
      const swapped = log.entries.map((entry) =>
        entry === first ? { ...first, seq: second.seq } : entry === second ? { ...second, seq: first.seq } : entry,
      );
      const moved = { ...log, entries: relink ? relinked(swapped) : swapped };
      const found = await kinds(moved);
      // Hashed anew, the two are other entries than those that were appended; as they were, they are known by their hashes.
      expect(found).toContain(relink ? 'tree_mismatch' : 'reordered');
    });
  });

  it('a chain is rewritten from one entry on, every hash and the head made to fit', async () => {
    await runs(logAndEntry(), async ({ log, at }) => {
      const payload = log.entries[at]!.payload.replace('"via":"rest"', '"via":"page"');
      const rewritten = { ...log, entries: relinked(replace(log, at, { payload }).entries) };
      rewritten.heads = log.heads.map((head) => {
        const last = rewritten.entries.findLast((one) => one.chain === head.chain && one.organizationId === head.organizationId);
        return { ...head, hash: last?.hash ?? null };
      });
      expect(await kinds(rewritten)).toEqual(new Set(['tree_mismatch']));
    });
  });

  it('a leaf is removed, changed or made up', async () => {
    await runs(logAndEntry(), async ({ log, at }) => {
      const leaf = log.leaves[at]!;
      await oneOf({ ...log, leaves: log.leaves.filter((one) => one !== leaf) }, 'inserted');
      const other = { ...leaf, hash: '0'.repeat(64) };
      await oneOf({ ...log, leaves: log.leaves.map((one) => (one === leaf ? other : one)) }, 'tree_mismatch');
      await oneOf({ ...log, leaves: [...log.leaves, { ...leaf, seq: 900 }] }, 'truncated');
      await oneOf({ ...log, leaves: [...log.leaves, { ...leaf }] }, 'tree_mismatch');
    });
  });

  it('a head is lost, or names another entry', async () => {
    await runs(logAndEntry(), async ({ log, at }) => {
      const { chain, organizationId } = log.entries[at]!;
      const rest = log.heads.filter((head) => head.chain !== chain || head.organizationId !== organizationId);
      await oneOf({ ...log, heads: rest }, 'truncated');
      await oneOf({ ...log, heads: [...rest, { chain, organizationId, seq: log.entries.length + 5, hash: 'x' }] }, 'truncated');
      await oneOf({ ...log, heads: [...rest, { chain, organizationId, seq: 0, hash: null }] }, 'inserted');
      const seq = inChainOf(log, log.entries[at]!).length;
      await oneOf({ ...log, heads: [...rest, { chain, organizationId, seq, hash: 'x' }] }, 'edited');
    });
  });
});

/** What somebody with the whole table would do: link and hash everything anew, in order of position. */
function relinked(entries: readonly StoredEntry[]): StoredEntry[] {
  const last = new Map<string, string>();
  return [...entries]
    .sort((a, b) => a.seq - b.seq)
    .map((entry) => {
      const key = `${entry.organizationId} ${entry.chain}`;
      const linked = rehashed({ ...entry, prevHash: last.get(key) ?? null });
      last.set(key, linked.hash);
      return linked;
    });
}

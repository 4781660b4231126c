import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { append, breaksOf, withSignedErasures, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import type { FindingKind } from './findings.js';
import { agentChain, organizationChain, platformChain } from '../entry/chain.js';
import { blankOf, disclosuresText, pointerDigest, type Disclosure } from '../entry/commitments.js';
import type { RecordedEvent, Stamp } from '../entry/prepare-entry.js';
import { entryHash, preimage } from '../entry/entry-hash.js';
import { publicHalf, signingKey, signNote, type SigningKey } from '../notes/note.js';
import { authorizationText, statementIn } from '../notes/authorization-note.js';
import { readEntry } from '../entry/read-entry.js';
import type { StoredEntry } from '../entry/stored-entry.js';

const [KEY, OTHER] = [7, 8].map((byte) => signingKey('countersign-test', Buffer.alloc(32, byte).toString('base64'))) as
  [SigningKey, SigningKey];
const ORGANIZATIONS = ['org_a', 'org_b'];
const AGENTS = ['agt_1', 'agt_2', 'agt_3'];

type Line = { agent: number; kind: number; text: string; amount: number; address: boolean };

const line: fc.Arbitrary<Line> = fc.record({
  agent: fc.nat({ max: 3 }),
  kind: fc.nat({ max: 3 }),
  text: fc.string({ unit: 'grapheme', maxLength: 12 }),
  amount: fc.integer(),
  address: fc.boolean(),
});

function eventOf({ agent, kind, text, amount }: Line, n: number): RecordedEvent {
  const organization = ORGANIZATIONS[agent % 2]!;
  const name = AGENTS[agent];
  if (name === undefined) return { chain: organizationChain(organization), type: 'auth.login', metadata: { method: 'password' } };
  const place = { chain: agentChain(organization, name), agentId: name };
  const input = { to: text, amount, [text]: [text, null] };
  switch (kind) {
    case 0:
      return { ...place, type: 'agent.updated', metadata: { name: text, metadata: input } };
    case 1:
      return {
        ...place,
        type: 'execution.started',
        capability: 'email.send',
        metadata: { executionId: `exec_${n}`, definition: 'd', input, reasons: [{ rule: 'grant', detail: text }] },
      };
    case 2:
      return { ...place, type: 'hitl.rejected', capability: 'email.send', metadata: { hitlId: `hitl_${n}`, comment: text } };
    default:
      return { ...place, type: 'agent.activated', metadata: { epoch: n } };
  }
}

function logOf(lines: readonly Line[]): MemoryLog {
  const log: MemoryLog = { entries: [], heads: [], leaves: [] };
  for (const [n, one] of lines.entries()) append(log, eventOf(one, n), stamp(n, one.address));
  return log;
}

function stamp(n: number, address = false): Stamp {
  return {
    id: `audit_${n}`,
    actorId: n % 2 ? 'root' : 'usr_ada',
    timestamp: new Date(1_795_000_000_000 + n),
    origin: { via: 'rest', requestId: 'request-1', ...(address ? { address: '203.0.113.7' } : {}) },
  };
}

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

async function runs<T>(given: fc.Arbitrary<T>, check: (value: T) => Promise<void>, numRuns = 80): Promise<void> {
  await fc.assert(fc.asyncProperty(given, check), { seed: 20_261_121, numRuns });
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

describe('values', () => {
  const sample = () => logOf([{ agent: 0, kind: 1, text: 'ada@example.org', amount: 1500, address: true }]);
  const disclosed = (log: MemoryLog) => JSON.parse(log.entries[0]!.disclosures) as Disclosure[];
  const with_ = (log: MemoryLog, disclosures: Disclosure[]) => replace(log, 0, { disclosures: disclosuresText(disclosures) });
  const blank = (one: Disclosure, pointer = one.pointer) => blankOf(one, pointer);
  const erasing = (entry: { hash: string }, ...blanks: Disclosure[]) => ({
    type: 'gdpr.erasure_executed' as const,
    metadata: { erased: blanks.map((one) => [entry.hash, one.d, pointerDigest(one)] as const) },
  });

  it('read back as they were recorded', () => {
    const { metadata, origin } = readEntry(sample().entries[0]!);
    expect(metadata).toEqual({
      executionId: 'exec_0',
      definition: 'd',
      input: { to: 'ada@example.org', amount: 1500, 'ada@example.org': ['ada@example.org', null] },
      reasons: [{ rule: 'grant', detail: 'ada@example.org' }],
    });
    expect(origin).toEqual({ via: 'rest', requestId: 'request-1', address: '203.0.113.7' });
  });

  it('that change places are found', async () => {
    const log = sample();
    const [first, second, ...rest] = disclosed(log);
    await oneOf(with_(log, [{ ...first!, value: second!.value! }, { ...second!, value: first!.value! }, ...rest]), 'edited');
    const moved = [{ ...first!, pointer: second!.pointer }, { ...second!, pointer: first!.pointer }, ...rest];
    await oneOf(with_(log, moved), 'edited');
  });

  it('under salts of 15 and 17 bytes are found: they could be cut apart elsewhere', async () => {
    const log = sample();
    const isAmount = ({ pointer }: Disclosure) => pointer === '/metadata/input/amount';
    const amount = disclosed(log).find(isAmount);
    const rest = disclosed(log).filter((one) => !isAmount(one));
    const salt = Buffer.from(amount!.salt!, 'base64url');
    const text = Buffer.from(`["amount",${amount!.value}]`);
    for (const cut of [-1, 1]) {
      const joined = Buffer.concat([salt, text]);
      const recut = { ...amount!, salt: joined.subarray(0, 16 + cut).toString('base64url') };
      await oneOf(with_(log, [recut, ...rest]), 'edited');
    }
  });

  it('cannot pass for erased: neither a forged "[erased]" nor a blank that no erasure entry lists', async () => {
    const log = sample();
    const [first, ...rest] = disclosed(log);
    await oneOf(with_(log, [{ ...first!, value: '"[erased]"' }, ...rest]), 'edited');
    await oneOf(with_(log, rest), 'edited');
    expect(await kinds(with_(log, [blank(first!), ...rest]))).toEqual(new Set(['unauthorised_erasure']));
  });

  it('may be gone where a committed erasure lists them, however often, also for one agent alone', async () => {
    const log = sample();
    const [first, second, ...rest] = disclosed(log);
    const { hash, organizationId } = log.entries[0]!;
    const nameless = blank(second!, second!.pointer.replace(/[^/]*$/, '[erased]'));
    const erased = with_(log, [blank(first!), nameless, ...rest]);
    for (const [n, one] of [blank(first!), nameless, blank(first!)].entries()) {
      append(erased, { chain: organizationChain(organizationId), ...erasing({ hash }, one) }, stamp(10 + n));
    }
    const signed = withSignedErasures(erased, KEY);
    expect(await breaksOf(signed)).toEqual([]);
    expect(await breaksOf(signed, 'agt_1')).toEqual([]);
    // One for each entry of an erasure, and one for each value.
    expect((await breaksOf({ ...signed, erasureNotes: new Map() })).map(({ kind }) => kind)).toEqual(Array(5).fill('unauthorised_erasure'));
    expect(JSON.stringify(readEntry(erased.entries[0]!))).toContain('[erased]');
  });

  it('may not stand elsewhere than where the erasure has left them', async () => {
    const log = sample();
    const [first, ...rest] = disclosed(log);
    const left = blank(first!);
    const erased = with_(log, [left, ...rest]);
    append(erased, { chain: organizationChain('org_a'), ...erasing(log.entries[0]!, left) }, stamp(10));
    const signed = withSignedErasures(erased, KEY);
    expect(await breaksOf(signed)).toEqual([]);
    const member = (name: string) => first!.pointer.replace(/[^/]*$/, name);
    for (const pointer of [member('bribe'), member('[erased]'), member('Amount')]) {
      const moved = with_(signed, [{ ...left, pointer }, ...rest]);
      expect(await kinds(moved)).toEqual(new Set(['unauthorised_erasure']));
      expect(await kinds(with_(signed, [blankOf(left, pointer), ...rest]))).toEqual(new Set(['unauthorised_erasure']));
    }
    expect(await kinds(with_(signed, [{ ...left, salt: `${'A'.repeat(21)}Q` }, ...rest]))).toEqual(new Set(['unauthorised_erasure']));
    expect(await kinds(with_(signed, [{ ...left, salt: 'A' }, ...rest]))).toEqual(new Set(['edited']));
  });

  it('never stand where another one does: one of them would hide the other', async () => {
    for (const isBefore of [true, false]) {
      const log = sample();
      const [first, second, ...rest] = disclosed(log);
      const hidden = blank(first!, second!.pointer);
      const all = [...(isBefore ? [hidden, second!] : [second!, hidden]), ...rest];
      const erased = replace(log, 0, { disclosures: JSON.stringify(all) });
      append(erased, { chain: organizationChain('org_a'), ...erasing(log.entries[0]!, hidden) }, stamp(10));
      expect(await kinds(withSignedErasures(erased, KEY))).toEqual(new Set(['edited']));
    }
  });

  it('may not, where the erasure stands in another organization, or is itself not sound', async () => {
    const log = sample();
    const [first, ...rest] = disclosed(log);
    const listing = erasing(log.entries[0]!, blank(first!));
    const elsewhere = with_(log, [blank(first!), ...rest]);
    append(elsewhere, { chain: organizationChain('org_b'), ...listing }, stamp(10));
    expect(await kinds(withSignedErasures(elsewhere, KEY))).toEqual(new Set(['unauthorised_erasure']));

    const forged = with_(log, [blank(first!), ...rest]);
    append(forged, { chain: organizationChain('org_a'), ...listing }, stamp(10));
    forged.leaves = forged.leaves.slice(0, 1);
    expect(await kinds(withSignedErasures(forged, KEY))).toEqual(new Set(['unauthorised_erasure', 'inserted']));
    expect((await breaksOf(withSignedErasures(forged, KEY), 'agt_1')).map((one) => one.kind)).toContain('unauthorised_erasure');
  });
});

describe('an erasure that anybody may have appended', () => {
  const erasedLog = () => {
    const log = logOf([{ agent: 0, kind: 1, text: 'ada@example.org', amount: 1500, address: true }]);
    const { hash, disclosures } = log.entries[0]!;
    const [first, ...rest] = JSON.parse(disclosures) as Disclosure[];
    const blank = blankOf(first!, first!.pointer);
    const blanked = replace(log, 0, { disclosures: disclosuresText([blank, ...rest]) });
    const erased = [[hash, blank.d, pointerDigest(blank)] as const];
    append(blanked, { chain: organizationChain('org_a'), type: 'gdpr.erasure_executed', metadata: { erased } }, stamp(10));
    return withSignedErasures(blanked, KEY);
  };
  const erasureOf = ({ entries }: MemoryLog) => entries.find(({ event }) => event === 'gdpr.erasure_executed')!;
  const noted = (log: MemoryLog, note: string): MemoryLog => ({ ...log, erasureNotes: new Map([[erasureOf(log).id, note]]) });
  const textOf = (log: MemoryLog) => authorizationText('erasure', KEY.name, 'org_a', statementIn(erasureOf(log)));

  it('excuses what it lists where the key that signs now has signed what it says', async () => {
    const log = erasedLog();
    expect(await breaksOf(log)).toEqual([]);
    expect(await breaksOf(noted(log, signNote(textOf(log), [KEY, OTHER])))).toEqual([]);
  });

  it.each<[string, (log: MemoryLog) => MemoryLog]>([
    ['not signed', (log) => ({ ...log, erasureNotes: new Map() })],
    ['signed by a foreign key', (log) => noted(log, signNote(textOf(log), [OTHER]))],
    ['signed by a key that is said to sign now, too, alone', (log) =>
      ({ ...noted(log, signNote(textOf(log), [OTHER])), keys: [...log.keys!, { key: publicHalf(OTHER).text, fromSize: 0 }] })],
    ['signed by a key that was retired', (log) =>
      ({ ...log, keys: [{ ...log.keys![0]!, retiredAtSize: 1 }, { key: publicHalf(OTHER).text, fromSize: 1 }] })],
    ['signed for another organization', (log) => noted(log, signNote(textOf(log).replace('/org_a/', '/org_b/'), [KEY]))],
    ['signed as a sweep', (log) => noted(log, signNote(textOf(log).replace('/erasure', '/sweep'), [KEY]))],
    ['of which something else was signed', (log) =>
      noted(log, signNote(textOf(log).replace(/\n[^\n]*\n$/, `\n${'A'.repeat(43)}=\n`), [KEY]))],
    ['whose note was altered', (log) => noted(log, signNote(textOf(log), [KEY]).replace(/.{8}\n$/, 'AAAAAAA=\n'))],
  ])('excuses nothing, and is named, %s', async (_name, change) => {
    const log = change(erasedLog());
    const named = { kind: 'unauthorised_erasure', chain: 'sys_org_a', detail: expect.stringMatching(/not signed by the key/) };
    // What is wrong with keys is named besides.
    const ofErasures = async (agent?: string) => (await breaksOf(log, agent)).filter(({ chain }) => chain !== 'platform');
    expect(await ofErasures()).toMatchObject([named, { kind: 'unauthorised_erasure', chain: 'agt_1' }]);
    expect(await ofErasures('agt_1')).toMatchObject([named, { kind: 'unauthorised_erasure', chain: 'agt_1' }]);
  });

  const copied = (log: MemoryLog, id: string) => {
    const { payload } = erasureOf(log);
    const copy = append(log, {
      chain: organizationChain('org_a'), type: 'gdpr.erasure_executed',
      metadata: (JSON.parse(payload) as { metadata: { erased: [string, string, string][] } }).metadata,
    }, { ...stamp(10), id });
    return { ...log, erasureNotes: new Map([...log.erasureNotes!, [copy.id, log.erasureNotes!.get(erasureOf(log).id)!]]) };
  };

  it.each([
    ['under another id', 'audit_copy'], ['under its own', undefined],
  ])('counts once: a copy of it with the same note is named, %s', async (_name, id) => {
    const log = erasedLog();
    const { id: own, hash } = erasureOf(log);
    const twice = copied(log, id ?? own);
    const copy = twice.entries.at(-1)!;
    expect(copy.hash).not.toBe(hash);
    const named = { kind: 'unauthorised_erasure', chain: 'sys_org_a', position: copy.seq, detail: expect.stringMatching(/not signed/) };
    expect(await breaksOf(twice)).toMatchObject([named]);
  });

  it('is named while nothing that it lists is blank', async () => {
    const log = logOf([]);
    append(log, { chain: organizationChain('org_a'), type: 'gdpr.erasure_executed', metadata: { erased: [] } }, stamp(10));
    expect(await breaksOf(log)).toMatchObject([{ kind: 'unauthorised_erasure', chain: 'sys_org_a' }]);
    expect(await breaksOf(withSignedErasures(log, KEY))).toEqual([]);
  });
});

describe('a transferred agent', () => {
  const plain: Line = { agent: 0, kind: 3, text: '', amount: 0, address: false };
  const out = (): MemoryLog => {
    const log = logOf([plain, plain]);
    const leaving = { type: 'agent.transferred' as const, metadata: { direction: 'out' as const } };
    append(log, { chain: agentChain('org_a', 'agt_1'), agentId: 'agt_1', ...leaving }, stamp(10));
    return log;
  };
  const moved = (fromSeq = 3): MemoryLog => {
    const log = out();
    const left = log.heads[0]!;
    log.heads.push({ ...left, organizationId: 'org_b' });
    const metadata = { direction: 'in' as const, fromSeq, fromHash: left.hash! };
    append(log, { chain: agentChain('org_b', 'agt_1'), agentId: 'agt_1', type: 'agent.transferred', metadata }, stamp(11));
    return log;
  };

  it('keeps its chain across organizations', async () => {
    expect(await breaksOf(moved())).toEqual([]);
    expect(await breaksOf(moved(), 'agt_1')).toEqual([]);
  });

  it.each([['sideways'], ['IN'], [1], [['in']]])('left or arrived, and nothing else: %j', async (direction) => {
    const log = logOf([plain, plain]);
    const where = { chain: agentChain('org_a', 'agt_1'), agentId: 'agt_1' };
    append(log, { ...where, type: 'agent.transferred', metadata: { direction } } as unknown as RecordedEvent, stamp(10));
    const found = await breaksOf(log);
    expect(found).toMatchObject([{ kind: 'inserted', chain: 'agt_1', detail: expect.stringMatching(/is a transfer neither in nor out/) }]);
    expect(await breaksOf(log, 'agt_1')).toEqual(found);
  });

  it('is not registered again where it arrived', async () => {
    const log = moved();
    append(log, {
      chain: agentChain('org_b', 'agt_1'), agentId: 'agt_1', type: 'agent.registered',
      metadata: { name: 'again', riskLevel: 'low' } as never,
    }, stamp(12));
    expect(await kinds(log)).toEqual(new Set(['inserted']));
  });

  it('is told from a chain whose other half is gone, or that claims another place', async () => {
    expect(await kinds(out())).toEqual(new Set(['truncated']));
    expect(await kinds(moved(7))).toContain('inserted');
    const orphan = moved();
    orphan.entries = orphan.entries.filter((entry) => entry.organizationId === 'org_b');
    orphan.leaves = orphan.leaves.filter((leaf) => leaf.organizationId === 'org_b');
    orphan.heads = orphan.heads.filter((head) => head.organizationId === 'org_b');
    expect(await kinds(orphan)).toEqual(new Set(['inserted']));
  });
});

it('the platform is an organization like the others', async () => {
  const log: MemoryLog = { entries: [], heads: [], leaves: [] };
  append(log, { chain: platformChain(), type: 'admin.key_rotated', metadata: {} }, stamp(1));
  expect(await breaksOf(log)).toEqual([]);
});

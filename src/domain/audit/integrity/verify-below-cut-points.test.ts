import { describe, expect, it } from '@jest/globals';
import { blankOf, type Disclosure } from '../entry/commitments.js';
import { append, breaksOf, integrate, sourceOf, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import { agentChain } from '../entry/chain.js';
import type { RecordedEvent, Stamp } from '../entry/prepare-entry.js';
import { entryHash, preimage } from '../entry/entry-hash.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { toEnd, verifyEntries } from './verify-entries.js';

const stamp = (n: number): Stamp => ({ id: `audit_${n}`, timestamp: new Date(Date.UTC(2026, 10, 21, 10, 0, n)), actorId: 'root' });

/** An agent that goes from one organization to another after three entries, and comes back at its sixth. */
function travelled(): MemoryLog {
  const log: MemoryLog = { entries: [], heads: [], leaves: [] };
  const add = (organizationId: string, n: number, event: Omit<RecordedEvent, 'chain' | 'agentId'>) =>
    append(log, { chain: agentChain(organizationId, 'agt_1'), agentId: 'agt_1', ...event } as RecordedEvent, stamp(n));
  const works = (id: string, n: number) =>
    add(id, n, { type: 'agent.updated', metadata: { name: `name ${n}`, metadata: { n, to: 'jo' } } });
  const move = (from: string, to: string, n: number) => {
    const { seq, hash } = add(from, n, { type: 'agent.transferred', metadata: { direction: 'out' } });
    log.heads = [...log.heads.filter((one) => one.organizationId !== to), { organizationId: to, chain: 'agt_1', seq, hash }];
    add(to, n + 1, { type: 'agent.transferred', metadata: { direction: 'in', fromSeq: seq, fromHash: hash } });
  };
  works('org_a', 1);
  works('org_a', 2);
  move('org_a', 'org_b', 3);
  move('org_b', 'org_a', 5);
  works('org_a', 7);
  works('org_a', 8);
  works('org_a', 9);
  return log;
}

const POSITIONS = [1, 2, 3, 6, 7, 8, 9];

interface State {
  readonly cut: number;
  /** The first that is left. */
  readonly from: number;
  readonly isDone?: boolean;
  readonly comparesLeaves?: boolean;
  readonly change?: (left: StoredEntry[]) => StoredEntry[];
}

/** What is found in the organization where the chain begins, of a retention run that has come so far. */
async function found({ comparesLeaves = false, ...state }: State): Promise<string[]> {
  const { cut, isDone } = state;
  const log = swept(state);
  const source = sourceOf(log);
  const range = { organizations: ['org_a'] };
  const order = { sumKey: new Uint8Array(32), cutPoints: log.cutPoints! };
  const pass = await toEnd(verifyEntries(source.read(range), order, comparesLeaves ? source.sorted('org_a') : undefined));
  const one = pass.organizations.get('org_a')!;
  expect(pass.entries).toBe(POSITIONS.filter((seq) => seq > cut).length);
  const isLeft = ({ organizationId, seq }: StoredEntry) => organizationId === 'org_a' && seq <= cut;
  expect(one.leftovers).toBe(isDone ? 0 : log.entries.filter(isLeft).length);
  return one.findings.listed.map(({ kind, position }) => `${kind} ${position}`);
}

function swept({ cut, from, isDone = false, change = (left) => left }: State): MemoryLog {
  const log = travelled();
  const own = log.entries.filter(({ organizationId }) => organizationId === 'org_a');
  const hash = own.find(({ seq }) => seq === cut)!.hash;
  const [left, survivors] = [own.filter(({ seq }) => seq >= from && seq <= cut), own.filter(({ seq }) => seq > cut)];
  const cutPoint = {
    organizationId: 'org_a', chain: 'agt_1', seq: cut, hash, count: cut, sweepEntryId: 'audit_0', note: null, isDone,
    checkpoint: { size: 0, root: '', platformSize: 0, platformRoot: '' },
  };
  return { ...log, entries: [...log.entries.filter((one) => !own.includes(one)), ...change(left), ...survivors], cutPoints: [cutPoint] };
}

/** Hashed as it stands, so that nothing is wrong with it alone. */
const hashed = (entry: StoredEntry): StoredEntry => {
  const { agentId, payload, prevHash } = entry;
  return { ...entry, hash: entryHash(preimage({ agentId: agentId!, payload, prevHash: prevHash ?? undefined })) };
};
const other = (entry: StoredEntry) => hashed({ ...entry, payload: entry.payload.replace('"root"', '"usr_x"'), actorId: 'usr_x' });
const at = (seq: number, change: (entry: StoredEntry) => StoredEntry | undefined) => (left: StoredEntry[]) =>
  left.flatMap((one) => (one.seq === seq ? (change(one) ?? []) : [one]));

describe('what a sweep has left below a cut', () => {
  it.each(POSITIONS)('is sound wherever it died, cut at %i', async (cut) => {
    for (const from of POSITIONS) {
      for (const comparesLeaves of [false, true]) expect(await found({ cut, from, comparesLeaves })).toEqual([]);
    }
  });

  it('may not be there once the sweep is done', async () => {
    expect(await found({ cut: 8, from: 7, isDone: true })).toEqual(['inserted 7', 'inserted 8']);
    expect(await found({ cut: 8, from: 9, isDone: true })).toEqual([]);
  });

  /** What is found, and where it is another: what is found with the tree beside. */
  it.each<[string, State['change'], string, string?]>([
    ['its last one gone', at(8, () => undefined), 'inserted 7'],
    ['one gone in its middle', at(7, () => undefined), 'deleted 7'],
    ['another as its last one', at(8, other), 'inserted 8', 'tree_mismatch 8'],
    ['another in its middle', at(7, other), 'forked 8', 'tree_mismatch 7'],
    ['other words in one', at(7, (one) => ({ ...one, payload: one.payload.replace('"root"', '"usr_x"') })), 'edited 7'],
    ['another column', at(7, (one) => ({ ...one, actorId: 'usr_x' })), 'column_mismatch 7'],
    ['another value in one', at(7, (one) => ({ ...one, disclosures: one.disclosures.replaceAll('name 7', 'name 8') })), 'edited 7'],
    ['no values in one', at(7, (one) => ({ ...one, disclosures: '[]' })), 'edited 7'],
    ['nonsense as its first', at(2, (one) => ({ ...one, hash: 'forged by SQL' })), 'edited 2'],
    ['nonsense alone', (left) => at(2, (one) => ({ ...one, hash: 'forged by SQL' }))(left.slice(0, 1)), 'edited 2'],
    ['one moved', at(7, (one) => ({ ...one, seq: 5 })), 'inserted 5'],
    ['one that is made up alone', (left) => left.slice(0, 1).map(other), 'inserted 2', 'tree_mismatch 2'],
    ['one where the chain was elsewhere', (left) => [...left.slice(0, 2), ...left.slice(1, 2).map((one) => hashed({ ...one, seq: 4 })),
      ...left.slice(2)].sort((a, b) => a.seq - b.seq), 'inserted 4'],
  ])('is not believed with %s', async (_name, change, alone, withTree = alone) => {
    expect(await found({ cut: 8, from: 2, change: change! })).toContain(alone);
    expect(await found({ cut: 8, from: 2, change: change!, comparesLeaves: true })).toContain(withTree);
  });

  it('is held against the tree where nothing links it: before a time elsewhere', async () => {
    const change = at(3, other);
    expect(await found({ cut: 8, from: 3, change })).toEqual([]);
    expect(await found({ cut: 8, from: 3, change, comparesLeaves: true })).toContain('tree_mismatch 3');
    // Only what is left is not the same: no sum has it.
    const log = swept({ cut: 8, from: 3, change });
    await integrate(log);
    expect(await breaksOf(log)).toContainEqual(expect.objectContaining({ kind: 'tree_mismatch', chain: 'agt_1', position: 3 }));
  });

  it('may have lost values: the erasure that lists them may be gone already', async () => {
    const blank = (one: StoredEntry) => ({ ...one, disclosures: JSON.stringify(
      (JSON.parse(one.disclosures) as Disclosure[]).map((value) => blankOf(value, value.pointer))) });
    expect(await found({ cut: 8, from: 7, change: at(7, blank) })).toEqual([]);
  });
});

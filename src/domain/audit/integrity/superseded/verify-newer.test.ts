import { describe, expect, it } from '@jest/globals';
import { append, checkpoint, sourceOf, type MemoryLog } from '../../../../../test/support/memory/memory-log.js';
import { agentChain, platformChain } from '../../entry/chain.js';
import type { Stamp } from '../../entry/prepare-entry.js';
import { entryHash, preimage } from '../../entry/entry-hash.js';
import { signingKey, verifierKey } from '../../notes/note.js';
import type { StoredEntry } from '../../entry/stored-entry.js';
import { verifyLog, verifyNewer, type NewerFound, type WhyWhole } from '../verify-log.js';
import type { ReadUpTo } from './verify-parts.js';

const NAME = 'countersign-test';
const seed = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const KEY = signingKey(NAME, seed(1));
const keyText = verifierKey(NAME, seed(1));

let made = 0;
const stamp = (): Stamp =>
  ({ id: `audit_${++made}`, actorId: 'usr_ada', timestamp: new Date(1_795_000_000_000 + made), origin: { via: 'rest', requestId: 'r' } });

function write(log: MemoryLog, count: number, organization = 'org_a', agentId = 'agt_1'): void {
  for (let n = 0; n < count; n++) {
    append(log, {
      chain: agentChain(organization, agentId), agentId, type: 'execution.started', capability: 'email.send',
      metadata: { executionId: `exec_${n}`, definition: 'd', input: { amount: n }, reasons: [] },
    }, stamp());
  }
}

/** Leaves an organization, or arrives in one. */
function transfers(log: MemoryLog, agentId: string, from: string, to: string): void {
  const out = append(log, {
    chain: agentChain(from, agentId), agentId, type: 'agent.transferred', metadata: { direction: 'out' },
  } as Parameters<typeof append>[1], stamp());
  const had = log.heads.find((one) => one.chain === agentId && one.organizationId === to);
  log.heads = [...log.heads.filter((one) => one !== had), { organizationId: to, chain: agentId, seq: out.seq, hash: out.hash }];
  append(log, {
    chain: agentChain(to, agentId), agentId, type: 'agent.transferred',
    metadata: { direction: 'in', fromSeq: out.seq, fromHash: out.hash },
  } as Parameters<typeof append>[1], stamp());
}

/** Two organizations under a checkpoint, and up to where all of them was read. */
async function read(): Promise<{ log: MemoryLog; since: readonly ReadUpTo[] }> {
  const log: MemoryLog = { entries: [], heads: [], leaves: [], instance: NAME, keys: [{ key: keyText, fromSize: 0 }] };
  append(log, { chain: platformChain(), type: 'admin.signing_key_rotated', metadata: { keyId: keyText } }, stamp());
  write(log, 300);
  write(log, 4, 'org_a', 'agt_idle');
  write(log, 4, 'org_b', 'agt_2');
  await checkpoint(log, KEY);
  // Younger than the checkpoint: they are read again.
  write(log, 2);
  write(log, 1, 'org_a', 'agt_young');
  const { readUpTo } = await verifyLog(sourceOf(log), { remembers: true });
  return { log, since: readUpTo! };
}

const told = (found: NewerFound | WhyWhole) => (typeof found === 'string' ? found : { entries: found.entries, uncovered: found.uncovered });
const newer = async (log: MemoryLog, since: readonly ReadUpTo[]) =>
  told(await verifyNewer(sourceOf(log), since, { remembered: since.map(({ note }) => note) }));

const ofChain = (log: MemoryLog, chain: string) => log.entries.filter((one) => one.chain === chain).sort((a, b) => a.seq - b.seq);
const change = (log: MemoryLog, entry: StoredEntry, to: Partial<StoredEntry>): void => {
  log.entries = log.entries.map((one) => (one === entry ? { ...one, ...to } : one));
};
const remove = (log: MemoryLog, ...gone: readonly StoredEntry[]): void => {
  log.entries = log.entries.filter((one) => !gone.includes(one));
};
const setHead = (log: MemoryLog, { organizationId, chain, seq, hash }: StoredEntry): void => {
  const others = log.heads.filter((one) => one.chain !== chain || one.organizationId !== organizationId);
  log.heads = [...others, { organizationId, chain, seq, hash }];
};

describe('what is newer than a remembered checkpoint', () => {
  it('is read, and nothing else but the installation\'s own', async () => {
    const { log, since } = await read();
    expect(since.map(({ note }) => note.split('\n')[0])).toEqual([`${NAME}/org_a`, `${NAME}/org_b`]);
    // 2 and 1 that were younger than the checkpoint, 1 of the installation.
    expect(await newer(log, since)).toEqual({ entries: 4, uncovered: 3 });
    write(log, 5);
    write(log, 3, 'org_a', 'agt_new');
    write(log, 1, 'org_a', 'agt_idle');
    await checkpoint(log, KEY);
    write(log, 1);
    expect(await newer(log, since)).toEqual({ entries: 14, uncovered: 1 });
  });

  it('can be remembered in turn', async () => {
    const { log, since } = await read();
    write(log, 5);
    await checkpoint(log, KEY);
    const first = await verifyNewer(sourceOf(log), since, { remembers: true, remembered: since.map(({ note }) => note) });
    const { readUpTo } = first as NewerFound;
    write(log, 2, 'org_a', 'agt_idle');
    await checkpoint(log, KEY);
    expect(await newer(log, readUpTo!)).toEqual({ entries: 3, uncovered: 0 });
  });

  it('goes on over a transfer there, and back', async () => {
    const { log, since } = await read();
    transfers(log, 'agt_1', 'org_a', 'org_b');
    write(log, 2, 'org_b', 'agt_1');
    await checkpoint(log, KEY);
    expect(await newer(log, since)).toEqual({ entries: 8, uncovered: 0 });
    const { readUpTo } = await verifyLog(sourceOf(log), { remembers: true });
    transfers(log, 'agt_1', 'org_b', 'org_a');
    write(log, 2);
    await checkpoint(log, KEY);
    expect(await newer(log, since)).toEqual({ entries: 12, uncovered: 0 });
    expect(await newer(log, readUpTo!)).toEqual({ entries: 5, uncovered: 0 });
  });

  it('says nothing where nothing is remembered, or only of another installation', async () => {
    const { log, since } = await read();
    expect(await newer(log, [])).toBe('nothing_remembered');
    expect(await newer({ ...log, instance: 'another' }, since)).toBe('nothing_remembered');
  });

  it('does not see what was done to older entries', async () => {
    const { log, since } = await read();
    write(log, 2);
    await checkpoint(log, KEY);
    change(log, ofChain(log, 'agt_1')[5]!, { actorId: 'usr_eve' });
    remove(log, ofChain(log, 'agt_idle')[1]!);
    expect(await newer(log, since)).toEqual({ entries: 6, uncovered: 0 });
    expect((await verifyLog(sourceOf(log))).breaksFound).toBeGreaterThan(0);
  });
});

describe('found, though only what is newer is read', () => {
  const LAST_OLD = 300;

  it.each<[string, (log: MemoryLog) => void]>([
    ['a newer entry edited', (log) => change(log, ofChain(log, 'agt_1').at(-1)!, { actorId: 'usr_eve' })],
    ['a newer value changed', (log) => {
      const last = ofChain(log, 'agt_1').at(-1)!;
      change(log, last, { disclosures: last.disclosures.replace('"value":"4"', '"value":"5"') });
    }],
    ['a newer entry deleted', (log) => remove(log, ofChain(log, 'agt_1').at(-2)!)],
    ['the newest cut off', (log) => remove(log, ofChain(log, 'agt_1').at(-1)!)],
    ['the newest cut off, the head to fit', (log) => {
      remove(log, ofChain(log, 'agt_1').at(-1)!);
      setHead(log, ofChain(log, 'agt_1').at(-1)!);
    }],
    ['a newer chain removed', (log) => {
      remove(log, ...ofChain(log, 'agt_young'));
      log.heads = log.heads.filter(({ chain }) => chain !== 'agt_young');
    }],
    ['one inserted behind the last of a chain that went on', (log) => {
      const leaves = [...log.leaves];
      write(log, 1);
      log.leaves = leaves;
    }],
    ['one inserted behind the last of a chain that did not', (log) => {
      const [leaves, { heads }] = [[...log.leaves], log];
      write(log, 1, 'org_a', 'agt_idle');
      [log.leaves, log.heads] = [leaves, heads];
    }],
    ['a chain inserted', (log) => {
      const leaves = [...log.leaves];
      write(log, 2, 'org_a', 'agt_forged');
      log.leaves = leaves;
    }],
    ['the last older entry edited, of a chain that went on', (log) =>
      change(log, ofChain(log, 'agt_1')[LAST_OLD - 1]!, { actorId: 'usr_eve' })],
    ['the last older entry hashed anew', (log) => change(log, ofChain(log, 'agt_1')[LAST_OLD - 1]!, { hash: '0'.repeat(64) })],
    ['the last older entries deleted', (log) => remove(log, ...ofChain(log, 'agt_1').slice(LAST_OLD - 3, LAST_OLD))],
    ['the end of an idle chain cut off', (log) => remove(log, ofChain(log, 'agt_idle').at(-1)!)],
    ['the end of an idle chain cut off, the head to fit', (log) => {
      remove(log, ofChain(log, 'agt_idle').at(-1)!);
      setHead(log, ofChain(log, 'agt_idle').at(-1)!);
    }],
    ['an idle chain removed', (log) => {
      remove(log, ...ofChain(log, 'agt_idle'));
      log.heads = log.heads.filter(({ chain }) => chain !== 'agt_idle');
    }],
    ["an idle chain's head changed", (log) => setHead(log, { ...ofChain(log, 'agt_idle').at(-1)!, hash: '0'.repeat(64) })],
    ['the head of a chain gone', (log) => (log.heads = log.heads.filter(({ chain }) => chain !== 'agt_1'))],
    ['the tree cut off below the checkpoint', (log) => log.trees!.organizations.get('org_a')!.splice(100)],
    ['an older leaf changed', (log) => {
      const tree = log.trees!.organizations.get('org_a')!;
      tree[7] = { ...tree[7]!, hash: '0'.repeat(64) };
    }],
    ['the tree taken away', (log) => log.trees!.organizations.delete('org_a')],
    ['two older leaves that changed places', (log) => {
      const tree = log.trees!.organizations.get('org_a')!;
      [tree[7], tree[8]] = [tree[8]!, tree[7]!];
    }],
    ['a chain set back, and gone on from there', (log) => {
      remove(log, ...ofChain(log, 'agt_idle').slice(2));
      setHead(log, ofChain(log, 'agt_idle').at(-1)!);
      write(log, 2, 'org_a', 'agt_idle');
    }],
    ['an agent registered again', (log) => {
      const entry = ofChain(log, 'agt_1').at(-1)!;
      const payload = entry.payload.replace('"event":"execution.started"', '"event":"agent.registered"');
      const hash = entryHash(preimage({ agentId: 'agt_1', capability: 'email.send', payload, prevHash: entry.prevHash! }));
      change(log, entry, { payload, hash, event: 'agent.registered' });
    }],
  ])('%s', async (_name, deed) => {
    const { log, since } = await read();
    write(log, 5);
    deed(log);
    expect(await newer(log, since)).toBe('does_not_go_on');
    expect((await verifyLog(sourceOf(log), { remembered: since.map(({ note }) => note) })).breaksFound).toBeGreaterThan(0);
  });

  it('a chain set back below the checkpoint, gone on from there, and signed so', async () => {
    const { log, since } = await read();
    remove(log, ...ofChain(log, 'agt_idle').slice(2));
    setHead(log, ofChain(log, 'agt_idle').at(-1)!);
    const tree = log.trees!.organizations.get('org_a')!;
    write(log, 1, 'org_a', 'agt_idle');
    // The leader takes what it is given: the tree has two leaves of one position now.
    tree.push(...log.leaves.filter((one) => one.organizationId === 'org_a').slice(tree.length));
    await checkpoint(log, KEY);
    expect(tree.filter(({ chain, seq }) => chain === 'agt_idle' && seq === 3)).toHaveLength(2);
    expect(await newer(log, since)).toBe('does_not_go_on');
    expect((await verifyLog(sourceOf(log))).breaksFound).toBeGreaterThan(0);
  });

  it('stored hashes of the tree that are not there any more', async () => {
    const { log, since } = await read();
    const start = () => Promise.reject(new RangeError('tile 0 is not there'));
    expect(await verifyNewer({ ...sourceOf(log), start }, since, { remembered: since.map(({ note }) => note) })).toBe('does_not_go_on');
  });

  it.each([
    ['an agent that has arrived in another organization, which is right', false],
    ["an agent's id that is used again in another organization", true],
  ])('%s', async (_name, again) => {
    const { log, since } = await read();
    if (again) write(log, 2, 'org_b', 'agt_1');
    else transfers(log, 'agt_1', 'org_a', 'org_b');
    await checkpoint(log, KEY);
    const source = sourceOf(log);
    const shared = [{ chain: 'agt_1', organizations: ['org_a', 'org_b'] }];
    const sharing = { ...source, header: async () => ({ ...(await source.header()), shared }) };
    const found = await verifyNewer(sharing, since, { remembered: since.map(({ note }) => note) });
    expect(told(found)).toEqual(again ? 'does_not_go_on' : { entries: 6, uncovered: 0 });
  });

  it('a history that is another from before the checkpoint on, signed by the same key', async () => {
    const { since } = await read();
    const { log } = await read();
    expect(await newer(log, since)).toBe('does_not_go_on');
  });
});

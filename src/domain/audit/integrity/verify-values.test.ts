import { describe, expect, it } from '@jest/globals';
import { append, breaksOf, withSignedErasures, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import type { FindingKind } from './findings.js';
import { organizationChain } from '../entry/chain.js';
import { blankOf, disclosuresText, pointerDigest, type Disclosure } from '../entry/commitments.js';
import { publicHalf, signingKey, signNote, type SigningKey } from '../notes/note.js';
import { authorizationText, statementIn } from '../notes/authorization-note.js';
import { readEntry } from '../entry/read-entry.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { logOf, stamp } from '../../../../test/support/memory/lines-of-log.js';

const [KEY, OTHER] = [7, 8].map((byte) => signingKey('countersign-test', Buffer.alloc(32, byte).toString('base64'))) as
  [SigningKey, SigningKey];
const kinds = async (log: MemoryLog) => new Set((await breaksOf(log)).map((one) => one.kind));

function replace(log: MemoryLog, at: number, changed: Partial<StoredEntry>): MemoryLog {
  return { ...log, entries: log.entries.map((entry, n) => (n === at ? { ...entry, ...changed } : entry)) };
}

const oneOf = async (log: MemoryLog, ...wanted: FindingKind[]) => {
  const found = await kinds(log);
  expect(wanted.some((kind) => found.has(kind)) ? wanted : [...found]).toEqual(wanted);
};

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

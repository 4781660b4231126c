import { describe, expect, it } from '@jest/globals';
import { append, checkpoint, sourceOf, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import { agentChain, platformChain } from '../entry/chain.js';
import { checkpointText, originOf, PLATFORM_TREE } from './checkpoint.js';
import type { Stamp } from '../entry/prepare-entry.js';
import { vouchForNext } from './key-succession.js';
import { signingKey, signNote, verifierKey, type SigningKey } from './note.js';
import { verifyLog, type VerifyOptions } from '../integrity/verify-log.js';

const NAME = 'countersign-test';
const seed = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const key = (byte: number) => signingKey(NAME, seed(byte));
const text = (byte: number) => verifierKey(NAME, seed(byte));

let made = 0;
const stamp = (): Stamp => ({
  id: `audit_${++made}`, actorId: 'usr_ada', timestamp: new Date(1_795_000_000_000 + made), origin: { via: 'rest', requestId: 'request-1' },
});

function announce(log: MemoryLog, keyId: string, keyNote?: string): void {
  const metadata = { keyId, ...(keyNote === undefined ? {} : { keyNote }) };
  append(log, { chain: platformChain(), type: 'admin.signing_key_rotated', metadata }, stamp());
}

function write(log: MemoryLog): void {
  append(log, {
    chain: agentChain('org_a', 'agt_1'), agentId: 'agt_1', type: 'execution.started', capability: 'email.send',
    metadata: { executionId: 'exec_1', definition: 'd', input: { amount: 1 }, reasons: [] },
  }, stamp());
}

/** A log that key 1 has signed. */
async function signed(): Promise<MemoryLog> {
  const log: MemoryLog = { entries: [], heads: [], leaves: [], instance: NAME, keys: [{ key: text(1), fromSize: 0 }] };
  announce(log, text(1));
  write(log);
  await checkpoint(log, key(1));
  return log;
}

/** From one key to the next, with a right note or another one; as the rotation does it, both sign what is newest. */
async function rotated(log: MemoryLog, from: number, to: number, note: string | undefined = right(log, from, to)): Promise<MemoryLog> {
  announce(log, text(to), note);
  await checkpoint(log, key(from));
  const { checkpoints, platform } = log.trees!;
  const { madeAt } = checkpoints.findLast((one) => one.organizationId === PLATFORM_TREE)!;
  for (const tree of [PLATFORM_TREE, 'org_platform', 'org_a']) {
    const at = checkpoints.findLastIndex((one) => one.organizationId === tree);
    const said = checkpointText({ ...checkpoints[at]!, origin: originOf(NAME, tree) });
    checkpoints[at] = { ...checkpoints[at]!, platformSize: platform.length, madeAt, note: signNote(said, [key(from), key(to)]) };
  }
  const fromSize = platform.length;
  log.keys = [
    ...log.keys!.map((one) => ({ retiredAtSize: fromSize, ...one })), { key: text(to), fromSize, ...(note === undefined ? {} : { note }) },
  ];
  return signedOn(log, key(to));
}

const right = ({ keys }: MemoryLog, from: number, to: number) => vouchForNext(keys!.length, text(to), key(from));

async function signedOn(log: MemoryLog, by: SigningKey): Promise<MemoryLog> {
  write(log);
  await checkpoint(log, by);
  return log;
}

const found = async (log: MemoryLog, options: VerifyOptions = {}) => (await verifyLog(sourceOf(log), options)).breaks;
const ALL: readonly VerifyOptions[] = [{}, { agentId: 'agt_1' }];

describe('three rotations', () => {
  const thrice = async () => rotated(await rotated(await rotated(await signed(), 1, 2), 2, 3), 3, 4);

  it('are valid, by any of the keys that were announced', async () => {
    const log = await thrice();
    for (const how of ALL) {
      for (const ownKey of [undefined, text(1), text(2), text(4)]) {
        expect(await found(log, { ...how, ...(ownKey === undefined ? {} : { ownKey }) })).toEqual([]);
      }
    }
  });

  it('are none by a key that has not vouched for any of them', async () => {
    for (const how of ALL) {
      const detail = expect.stringMatching(/none for which this server's key .*has vouched/);
      expect(await found(await thrice(), { ...how, ownKey: text(9) })).toMatchObject([{ kind: 'checkpoint_invalid', detail }]);
    }
  });

  it('are none where the note of one row was altered, also of the part that is read', async () => {
    const log = await thrice();
    const keys = log.keys!.map((one, n) => (n === 2 ? { ...one, note: log.keys![1]!.note! } : one));
    for (const how of ALL) {
      expect(await found({ ...log, keys }, how)).toContainEqual(
        expect.objectContaining({ chain: 'platform', kind: 'checkpoint_invalid', detail: expect.stringContaining(text(3)) }));
    }
  });
});

describe('the key that signs now is pinned alone', () => {
  const thrice = async () => rotated(await rotated(await rotated(await signed(), 1, 2), 2, 3), 3, 4);
  const pinned = { verifierKeys: [text(4)] };
  const named = (detail: string) => expect.objectContaining({ kind: 'checkpoint_invalid', detail: expect.stringContaining(detail) });

  it('older checkpoints by keys that were announced under one of it are no tampering, nor what is remembered of them', async () => {
    const early = await rotated(await signed(), 1, 2);
    const remembered = early.trees!.checkpoints.filter(({ size }) => size > 0).slice(0, 3).map(({ note }) => note);
    const log = await rotated(await rotated(early, 2, 3), 3, 4);
    expect(await found(log, pinned)).toEqual([]);
    expect(await found(log, { ...pinned, remembered })).toEqual([]);
    expect(await found(log, { verifierKeys: [text(4), text(2)] })).toEqual([]);
  });

  it('of one agent the keys before are asked for, since nothing announces them there', async () => {
    const log = await thrice();
    await expect(found(log, { ...pinned, agentId: 'agt_1' })).rejects.toThrow('3 other keys have signed this log before those given');
    await expect(found(log, { ...pinned, agentId: 'agt_1' })).rejects.toThrow(text(1));
    expect(await found(log, { verifierKeys: [1, 2, 3, 4].map(text), agentId: 'agt_1' })).toEqual([]);
  });

  it('a key that vouches for it, and of which only a row speaks, is named', async () => {
    const log = await signed();
    const { platform, checkpoints } = log.trees!;
    const note = vouchForNext(1, text(1), key(9));
    const said = checkpointText({ ...checkpoints[0]!, origin: originOf(NAME, 'org_a') });
    checkpoints.unshift({ ...checkpoints[0]!, note: signNote(said, [key(9)]) });
    const keys = [{ key: text(9), fromSize: 0, retiredAtSize: platform.length }, { key: text(1), fromSize: 0, note }];
    expect(await found({ ...log, keys }, { verifierKeys: [text(1)] })).toContainEqual(
      named(`the key ${text(9)} is none of those given, and is not announced`));
  });

  it('of a key whose announcement was swept the note in the oldest that is left must tell, not that of a row', async () => {
    const log = await rotated(await signed(), 1, 2);
    const [first] = log.entries.filter(({ chain }) => chain === platformChain().chain);
    const cutPoints = [{
      ...platformChain(), seq: 1, hash: first!.hash, count: 1, sweepEntryId: 'audit_none', note: null, isDone: true,
      checkpoint: { size: 1, root: '', platformSize: 1, platformRoot: '' },
    }];
    const swept: MemoryLog = { ...log, cutPoints, entries: log.entries.filter((one) => one !== first) };
    const isUnannounced = named('is not announced under a checkpoint that one of them has signed');
    expect(await found(swept, { verifierKeys: [text(2)] })).not.toContainEqual(isUnannounced);
    const [before, now] = log.keys!;
    const keys = [{ ...before!, key: text(9) }, { ...now!, note: vouchForNext(1, text(2), key(9)) }];
    expect(await found({ ...swept, keys }, { verifierKeys: [text(2)] })).toContainEqual(isUnannounced);
  });

  it('whoever has a key before cannot end the log by it', async () => {
    const log = await rotated(await signed(), 1, 2);
    await signedOn(log, key(1));
    expect(await found(log, { verifierKeys: [text(2)] })).toContainEqual(
      named('has a newest checkpoint that none of the keys given has signed'));
  });

  it('whoever has a key before cannot take its successor back', async () => {
    const log = await signed();
    const keys = [...log.keys!, { key: text(2), fromSize: 0, note: vouchForNext(1, text(2), key(1)) }];
    expect(await found({ ...log, keys }, { verifierKeys: [text(2)] })).toContainEqual(
      named(`the key ${text(1)} is the one that the log announced last, and none of those given`));
  });

  it('an older key that is pinned alone believes none that came after it', async () => {
    expect(await found(await thrice(), { verifierKeys: [text(3)] })).toContainEqual(named('is signed by no key that is known'));
  });
});

describe('a key that somebody wrote into the database', () => {
  it.each<[string, (log: MemoryLog) => string | undefined]>([
    ['without a note', () => undefined],
    ['with its own word', (log) => right(log, 9, 9)],
    ['with a word over another place', () => vouchForNext(3, text(9), key(1))],
  ])('is no announced one, %s, and signs nothing', async (_, note) => {
    const log = await signed();
    const forged = await rotated(log, 1, 9, note(log) ?? '');
    const announcing = forged.entries.findLast(({ event }) => event === 'admin.signing_key_rotated')!;
    expect(await found(forged)).toEqual(expect.arrayContaining([
      expect.objectContaining({
        kind: 'checkpoint_invalid', entryId: announcing.id, position: announcing.seq,
        detail: expect.stringContaining('announces a key for which the key before it has not vouched'),
      }),
      expect.objectContaining({
        chain: 'platform', kind: 'checkpoint_invalid', detail: expect.stringContaining('announced last has not signed'),
      }),
    ]));
    expect(await found(forged, { agentId: 'agt_1' })).toEqual([
      expect.objectContaining({ chain: 'platform', kind: 'checkpoint_invalid', detail: expect.stringContaining(text(9)) }),
    ]);
    expect(await found(forged, { agentId: 'agt_1', ownKey: text(1) })).toHaveLength(2);
  });

  it('takes the place of all others, and what is announced was theirs from the beginning: only who has the key can tell', async () => {
    const log: MemoryLog = { entries: [], heads: [], leaves: [], instance: NAME, keys: [{ key: text(9), fromSize: 0 }] };
    announce(log, text(9));
    await signedOn(log, key(9));
    expect(await found(log)).toEqual([]);
    for (const how of ALL) expect(await found(log, { ...how, ownKey: text(1) })).toMatchObject([{ kind: 'checkpoint_invalid' }]);
  });
});

it('a retired key signs again beside the one that followed: named, also where one agent is read', async () => {
  const log = await rotated(await signed(), 1, 2);
  const keys = log.keys!.map(({ retiredAtSize: _, ...one }) => one);
  for (const how of ALL) expect(await found({ ...log, keys }, how)).toMatchObject([{ kind: 'checkpoint_invalid', position: 0 }]);
});

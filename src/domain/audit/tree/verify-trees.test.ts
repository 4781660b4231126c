import { describe, expect, it } from '@jest/globals';
import { append, checkpoint, integrate, sourceOf, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import { agentChain, platformChain } from '../entry/chain.js';
import { checkpointText, originOf, PLATFORM_TREE, type StoredCheckpoint } from '../notes/checkpoint.js';
import { waiveCheckpoint } from '../notes/waived-checkpoint.js';
import { vouchForNext } from '../notes/key-succession.js';
import { signingKey, signNote, type SigningKey } from '../notes/note.js';
import { verifyLog } from '../integrity/verify-log.js';
import { NAME, seed, KEY, OTHER, keyText, stamp, write, signed, found, newest } from '../../../../test/support/memory/signed-log.js';

const replaceNewest = (log: MemoryLog, tree: string, change: (one: StoredCheckpoint) => StoredCheckpoint[]): void => {
  const { checkpoints } = log.trees!;
  const at = checkpoints.indexOf(newest(log, tree));
  checkpoints.splice(at, 1, ...change(checkpoints[at]!));
};
const FINE = { breaks: [], uncovered: 0 };

function announce(log: MemoryLog, keyId: string, keyNote?: string): void {
  append(log, { chain: platformChain(), type: 'admin.signing_key_rotated', metadata: { keyId, ...(keyNote ? { keyNote } : {}) } }, stamp());
}

/** The key was replaced; `by` signs for organization b, which has not grown since. */
async function rotated(by: readonly SigningKey[]): Promise<MemoryLog> {
  const log = await signed();
  const size = newest(log, PLATFORM_TREE).size;
  const note = vouchForNext(1, keyText(2), KEY);
  announce(log, keyText(2), note);
  log.keys = [{ key: keyText(1), fromSize: 0, retiredAtSize: size }, { key: keyText(2), fromSize: size, note }];
  // All that were newest are signed by both, as the rotation does it.
  for (const tree of [PLATFORM_TREE, 'org_platform', 'org_a', 'org_b']) {
    replaceNewest(log, tree, (one) => [{
      ...one, platformSize: size, madeAt: newest(log, PLATFORM_TREE).madeAt,
      note: signNote(checkpointText({ origin: originOf(NAME, tree), size: one.size, root: one.root }),
        tree === 'org_b' ? by : [KEY, OTHER]),
    }]);
  }
  await checkpoint(log, OTHER);
  return log;
}

it('two trees for one organization in the map are named, and do not end the verification', async () => {
  const log = await signed();
  const { nodes } = log.trees!.map;
  const [name, node] = [...nodes].find(([, { head }]) => head?.organization === 'org_a')!;
  nodes.set(`${name} again`, { ...node, head: { ...node.head!, size: 1 } });
  expect((await found(log)).breaks).toContain('org_a tree_mismatch');
});

it('an id of an agent that was used again in another organization, without having arrived there', async () => {
  const log = await signed();
  write(log, 2, 'org_b', 'agt_1');
  const source = sourceOf(log);
  const shared = [{ chain: 'agt_1', organizations: ['org_a', 'org_b'] }];
  const { breaks } = await verifyLog({ ...source, header: async (agent) => ({ ...(await source.header(agent)), shared }) });
  expect(breaks.map(({ chain, kind }) => `${chain} ${kind}`)).toEqual(['agt_1 inserted']);
});

describe('no false alarm', () => {
  it('all is under a checkpoint, or younger, or idle for long', async () => {
    const log = await signed();
    expect(await found(log)).toEqual(FINE);
    expect(await found(log, { agentId: 'agt_1' })).toEqual(FINE);
    write(log, 2);
    expect(await found(log)).toEqual({ breaks: [], uncovered: 2 });
    expect(await found(log, { agentId: 'agt_2' })).toEqual(FINE);
    await integrate(log);
    expect((await found(log)).uncovered).toBe(2);
    await checkpoint(log, KEY);
    expect(await found(log)).toEqual(FINE);
  });

  it('the key is rotated', async () => {
    const log = await rotated([KEY, OTHER]);
    expect(await found(log)).toEqual(FINE);
    expect(await found(log, { agentId: 'agt_2' })).toEqual(FINE);
  });

  it('a clock was set back', async () => {
    const log = await signed();
    write(log, 3, 'org_a', 'agt_1', 1_000_000_000_000);
    await checkpoint(log, KEY);
    expect(await found(log)).toEqual(FINE);
  });

  it('what an anchor has, or was remembered, is part of our past', async () => {
    const log = await signed();
    const notes = ['platform', 'org_a'].map((tree) => newest(log, tree));
    write(log, 6);
    await checkpoint(log, KEY);
    const anchors = [{ name: 'file:x', ...notes[0]! }];
    expect(await found(log, { anchors, remembered: notes.map(({ note }) => note) })).toEqual(FINE);
  });
});

describe('a history that is not the one that was signed', () => {
  it('is found by a tree under an old checkpoint, rewritten with its chain', async () => {
    const log = await signed();
    const { entries, heads } = await (async () => {
      const other: MemoryLog = { entries: [], heads: [], leaves: [] };
      write(other, 8);
      return other;
    })();
    const isOther = ({ chain }: { chain: string }) => chain !== 'agt_1';
    log.entries = [...log.entries.filter(isOther), ...entries];
    log.heads = [...log.heads.filter(isOther), ...heads];
    log.leaves = [...log.leaves.filter(isOther), ...entries];
    log.trees!.organizations.set('org_a', [...entries]);
    const { breaks } = await found(log);
    expect(new Set(breaks)).toEqual(new Set(['org_a tree_mismatch']));
  });

  it.each<[string, (one: StoredCheckpoint) => StoredCheckpoint[]]>([
    ['missing', () => []],
    ['without a signature', (one) => [{ ...one, note: one.note.slice(0, one.note.lastIndexOf('\u2014')) }]],
    ['by an unknown key', (one) => [{ ...one, note: signNote(one.note.slice(0, one.note.indexOf('\n\n') + 1), [OTHER]) }]],
    ['of another size', (one) => [{
      ...one, note: signNote(checkpointText({ origin: originOf(NAME, one.organizationId), size: 3, root: one.root }), [KEY]),
    }]],
  ])('a checkpoint is %s', async (_name, change) => {
    for (const tree of [PLATFORM_TREE, 'org_a']) {
      const log = await signed();
      replaceNewest(log, tree, change);
      expect((await found(log)).breaks).toContain(`${tree} checkpoint_invalid`);
    }
  });

  it('the newest of a tree is signed by the retired key alone, also where the rotation is not looked at', async () => {
    const log = await rotated([KEY]);
    expect((await found(log)).breaks).toEqual(['org_b checkpoint_invalid']);
    expect((await found(log, { agentId: 'agt_2' })).breaks).toEqual(['org_b checkpoint_invalid']);
  });

  it('a key signs that was retired, or that the log has not announced', async () => {
    const retired = await signed();
    retired.keys = [{ key: keyText(1), fromSize: 0, retiredAtSize: 1 }, { key: keyText(2), fromSize: 1 }];
    expect((await found(retired)).breaks).toContain('platform checkpoint_invalid');

    const forged = await signed();
    forged.keys = [{ key: keyText(2), fromSize: 0 }];
    for (const one of [...forged.trees!.checkpoints]) {
      const at = forged.trees!.checkpoints.indexOf(one);
      const text = checkpointText({ origin: originOf(NAME, one.organizationId), size: one.size, root: one.root });
      forged.trees!.checkpoints[at] = { ...one, note: signNote(text, [OTHER]) };
    }
    expect((await found(forged)).breaks).toContain('platform checkpoint_invalid');
  });

  it('anchors and memories tell: of an older state, and of another history; a recovery excuses exactly what it names', async () => {
    const log = await signed();
    const anchored = newest(log, PLATFORM_TREE);
    const older = await signed();
    const at = (size: number, root: string) => {
      const note = signNote(checkpointText({ origin: originOf(NAME, PLATFORM_TREE), size, root }), [KEY]);
      return { anchors: [{ name: 'file:x', size, root, note }] };
    };
    expect((await found(older, at(9, anchored.root))).breaks).toEqual(['platform truncated']);
    expect((await found(older, at(1, anchored.root))).breaks).toEqual(['platform tree_mismatch']);
    const remembered = at(9, anchored.root).anchors.map(({ note }) => note);
    expect((await found(older, { remembered })).breaks).toEqual(['platform truncated']);
    const lost = { size: 9, root: anchored.root };
    const said = (one: object) =>
      append(older, { chain: platformChain(), type: 'admin.recovered', metadata: { lost: one } as never }, stamp());
    // Whoever may append can say so; only who has the key is believed.
    const { note } = waiveCheckpoint(lost, [KEY]);
    const notes = [
      '', waiveCheckpoint(lost, [signingKey(NAME, seed(3))]).note, waiveCheckpoint({ ...lost, size: 8 }, [KEY]).note,
      at(9, anchored.root).anchors[0]!.note,
    ];
    for (const forged of [lost, ...notes.map((one) => ({ ...lost, note: one }))]) said(forged);
    expect((await found(older, at(9, anchored.root))).breaks).toEqual(['platform truncated']);
    said({ ...lost, note });
    expect((await found(older, at(9, anchored.root))).breaks).toEqual([]);
    expect((await found(older, at(8, anchored.root))).breaks).toEqual(['platform truncated']);
  });

  it('one agent alone: the end of its chain, cut off with its head', async () => {
    const log = await signed();
    log.entries = log.entries.filter(({ chain, seq }) => chain !== 'agt_2' || seq < 3);
    const last = log.entries.findLast((one) => one.chain === 'agt_2')!;
    log.heads = log.heads.map((head) => (head.chain === 'agt_2' ? { ...head, seq: 2, hash: last.hash } : head));
    expect((await found(log, { agentId: 'agt_2' })).breaks).toEqual(['agt_2 truncated']);
    expect(await found(log, { agentId: 'agt_1' })).toEqual(FINE);
  });

  it('one organization alone: its checkpoints and its place in the map are gone, as if it were too young for them', async () => {
    const withoutTree = (log: MemoryLog) => {
      log.trees!.organizations.delete('org_b');
      while (log.trees!.checkpoints.some(({ organizationId }) => organizationId === 'org_b')) replaceNewest(log, 'org_b', () => []);
    };
    const alone = async (log: MemoryLog) => found(log, { agentId: 'agt_2' });
    const placeGone = await signed();
    withoutTree(placeGone);
    expect((await alone(placeGone)).breaks).toEqual(['org_b chain_removed']);
    const { nodes } = placeGone.trees!.map;
    for (const [name, { head }] of nodes) if (head?.organization === 'org_b') nodes.delete(name);
    expect((await alone(placeGone)).breaks).toEqual(['org_b tree_mismatch']);
    const mapMadeAnew = await signed();
    withoutTree(mapMadeAnew);
    mapMadeAnew.trees!.map.nodes.clear();
    const others = ['org_a', 'org_platform'].map((organization) => ({ organization, ...newest(mapMadeAnew, organization) }));
    await mapMadeAnew.trees!.map.update(others);
    expect((await alone(mapMadeAnew)).breaks).toEqual(['org_b tree_mismatch']);
  });

  it('one organization alone, which is really too young for a checkpoint', async () => {
    const log = await signed();
    write(log, 2, 'org_c', 'agt_9');
    expect(await found(log, { agentId: 'agt_9' })).toEqual({ breaks: [], uncovered: 2 });
  });

  it('one agent is registered a second time', async () => {
    const log = await signed();
    for (let n = 0; n < 2; n++) {
      append(log, {
        chain: agentChain('org_b', 'agt_9'), agentId: 'agt_9', type: 'agent.registered',
        metadata: { name: 'again', riskLevel: 'low' } as never,
      }, stamp());
    }
    expect((await found(log)).breaks).toEqual(['agt_9 inserted']);
  });
});

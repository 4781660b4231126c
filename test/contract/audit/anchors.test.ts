import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { appendFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DirectoryAnchor } from '../../../src/modules/audit/anchors/adapters/directory.anchor.js';
import { WitnessAnchor } from '../../../src/modules/audit/anchors/adapters/witness.anchor.js';
import { type Anchor, AnchorContradicts } from '../../../src/platform/audit/anchor.js';
import { OutboundGuard } from '../../../src/platform/outbound/outbound-guard.js';
import { shownTree, type ShownTree } from '../../support/log/anchored-trees.js';
import { memoryAnchor } from '../../support/memory/memory-anchor.js';
import { startWitness, type Witness } from '../../support/log/witness.js';

const folders: string[] = [];
let witness: Witness;

const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-anchor-'));
  folders.push(folder);
  return folder;
};
const inFolder = (folder: string) => new DirectoryAnchor(`file:${folder}`, folder);
const outbound = new OutboundGuard({ production: true, allow: [] });
const atWitness = ({ url }: Pick<Witness, 'url'>) => new WitnessAnchor(`witness:${url}`, url, outbound);

beforeAll(async () => {
  witness = await startWitness();
});
afterAll(async () => {
  await witness.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** What every anchor does. */
const ANCHORS: [string, (tree: ShownTree) => Anchor][] = [
  ['in memory', memoryAnchor],
  ['a folder', () => inFolder(newFolder())],
  ['a witness', (tree) => {
    witness.know(tree.verifierKey);
    return atWitness(witness);
  }],
];

describe.each(ANCHORS)('An anchor: %s', (_, make) => {
  let tree: ShownTree;
  let anchor: Anchor;
  beforeEach(() => {
    tree = shownTree();
    anchor = make(tree);
  });
  const publish = async (size: number, of: ShownTree = tree) => {
    const kept = await anchor.publish(tree.origin, of.at(size), undefined);
    return { size: kept.size, root: kept.root };
  };

  it('has nothing at first', async () => {
    expect(await anchor.newest(tree.origin)).toBeUndefined();
  });

  it('keeps what it is given, and tells the newest of it', async () => {
    for (const size of [1, 2, 7, 300]) {
      const { newest } = tree.at(size);
      const kept = await anchor.publish(tree.origin, tree.at(size), undefined);
      expect(kept).toMatchObject({ size, root: newest.root });
      expect(kept.note.startsWith(newest.note)).toBe(true);
      expect(await anchor.newest(tree.origin, tree.at(size))).toMatchObject({ size, root: newest.root });
    }
  });

  it('takes what it has once more', async () => {
    await publish(5);
    expect(await publish(5)).toEqual(await publish(5));
    expect(await publish(9)).toMatchObject({ size: 9 });
  });

  it('is told from where, rightly or not', async () => {
    await publish(5);
    const kept = await anchor.publish(tree.origin, tree.at(12), { size: 3 });
    expect(kept.size).toBe(12);
    expect((await anchor.publish(tree.origin, tree.at(13), { size: 12, root: kept.root, note: kept.note })).size).toBe(13);
  });

  it.each([
    ['an older checkpoint', 8, (was: ShownTree) => was.at(7)],
    ['another root at its size', 8, (was: ShownTree) => was.forkedAt(5).at(8)],
    ['a longer tree of another history', 8, (was: ShownTree) => was.forkedAt(5).at(20)],
  ])('refuses %s', async (_case, size, other) => {
    await publish(size);
    const refused = anchor.publish(tree.origin, other(tree), undefined);
    await expect(refused).rejects.toBeInstanceOf(AnchorContradicts);
    await expect(refused).rejects.toMatchObject({ anchored: { size } });
    expect(await anchor.newest(tree.origin, tree.at(size))).toMatchObject({ size });
  });

  it('shows that it has more than a database that was put back', async () => {
    await publish(30);
    expect(await anchor.newest(tree.origin, tree.at(12))).toMatchObject({ size: 30 });
  });

  it('knows nothing of another installation', async () => {
    await publish(4);
    const other = shownTree();
    witness.know(other.verifierKey);
    expect((await anchor.newest(other.origin, other.at(2)))?.root ?? other.at(2).newest.root).toBe(other.at(2).newest.root);
    expect(await anchor.publish(other.origin, other.at(2), undefined)).toMatchObject({ size: 2 });
  });
});

describe('The folder', () => {
  let tree: ShownTree;
  let folder: string;
  let anchor: DirectoryAnchor;
  beforeEach(() => {
    tree = shownTree();
    folder = newFolder();
    anchor = inFolder(join(folder, 'made', 'when', 'needed'));
  });
  const place = () => join(folder, 'made', 'when', 'needed', tree.origin.split('/')[0]!);
  const file = () => join(place(), readdirSync(place()).sort().at(-1)!);
  const publish = (size: number, of: ShownTree = tree) => anchor.publish(tree.origin, of.at(size));

  it('has a line for each checkpoint in a file of the day', async () => {
    await publish(1);
    await publish(3);
    expect(readdirSync(place())).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\d\.jsonl$/)]);
    const lines = readFileSync(file(), 'utf8').split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([tree.at(1).newest, tree.at(3).newest]);
  });

  it.each(['{"note":"countersign-', '', 'no JSON at all', '{"size":9,"root":"short","note":""}'])(
    'passes over a last line that is torn: %j', async (torn) => {
      await publish(3);
      const before = readFileSync(file(), 'utf8');
      await appendFile(file(), torn);
      expect(await anchor.newest(tree.origin)).toMatchObject({ size: 3 });
      await publish(4);
      expect(await anchor.newest(tree.origin)).toMatchObject({ size: 4 });
      // Nothing was cut away.
      expect(readFileSync(file(), 'utf8').startsWith(`${before}${torn}`)).toBe(true);
    },
  );

  it('does not count a whole line without its end, which may not be on the disk', async () => {
    await publish(3);
    const { note, root, size } = tree.at(5).newest;
    await appendFile(file(), JSON.stringify({ note, root, size }));
    expect(await anchor.newest(tree.origin)).toMatchObject({ size: 3 });
  });

  it('does not believe members that differ from the note', async () => {
    await publish(3);
    const { note, root } = tree.at(4).newest;
    await appendFile(file(), `${JSON.stringify({ note, root, size: 400 })}\n`);
    expect(await anchor.newest(tree.origin)).toMatchObject({ size: 3 });
  });

  it('finds the newest behind megabytes of what is none', async () => {
    await publish(3);
    await appendFile(file(), `${'x'.repeat(200_000)}\n`.repeat(3));
    expect(await anchor.newest(tree.origin)).toMatchObject({ size: 3 });
  });

  it('goes on in the last file when the clock was set back', async () => {
    await mkdir(place(), { recursive: true });
    const { note, root, size } = tree.at(2).newest;
    await writeFile(join(place(), '2999-01-01.jsonl'), `${JSON.stringify({ note, root, size })}\n`);
    await publish(6);
    expect(readdirSync(place())).toEqual(['2999-01-01.jsonl']);
    expect(await anchor.newest(tree.origin)).toMatchObject({ size: 6 });
  });

  it('takes a shorter tree once what it has was given up, and only then', async () => {
    await publish(9);
    const other = tree.forkedAt(4);
    await expect(publish(5, other)).rejects.toBeInstanceOf(AnchorContradicts);
    const { newest: lost } = tree.at(9);
    await anchor.giveUp(tree.origin, { size: 9, root: other.at(9).newest.root });
    await expect(publish(5, other)).rejects.toBeInstanceOf(AnchorContradicts);
    await anchor.giveUp(tree.origin, lost);
    await anchor.giveUp(tree.origin, lost);
    // It still tells what it had: whether that is excused is not the folder's to say.
    expect(await anchor.newest(tree.origin)).toMatchObject({ size: 9 });
    await publish(5, other);
    await publish(6, other);
    expect(await anchor.newest(tree.origin)).toMatchObject({ size: 6 });
    expect(readFileSync(file(), 'utf8').split('\n').filter((line) => line.includes('"recovered":true'))).toHaveLength(1);
    await expect(publish(12)).rejects.toBeInstanceOf(AnchorContradicts);
  });

  it('says so when the disk is full, and goes on when it is not', async () => {
    await publish(2);
    const full = join(place(), '2998-01-01.jsonl');
    await symlink('/dev/full', full);
    await expect(publish(3)).rejects.toMatchObject({ code: 'ENOSPC' });
    rmSync(full);
    expect(await publish(3)).toMatchObject({ size: 3 });
  });

  it('says so when the folder is no folder', async () => {
    await writeFile(join(folder, 'made'), '');
    await expect(publish(3)).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(anchor.newest(tree.origin)).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it('takes whole lines from two writers at once', async () => {
    const others = [anchor, inFolder(join(folder, 'made', 'when', 'needed'))];
    await publish(1);
    await Promise.all(Array.from({ length: 20 }, (_, n) => others[n % 2]!.publish(tree.origin, tree.at(40)).catch(() => undefined)));
    for (const line of readFileSync(file(), 'utf8').trimEnd().split('\n')) expect(() => void JSON.parse(line)).not.toThrow();
    expect(await anchor.newest(tree.origin)).toMatchObject({ size: 40 });
  });
});

describe('A witness', () => {
  let own: Witness;
  let tree: ShownTree;
  beforeEach(async () => {
    tree = shownTree();
    own = await startWitness(tree.verifierKey);
  });
  afterEach(() => own.stop());

  it('is kept with its cosignature', async () => {
    const { note } = await atWitness(own).publish(tree.origin, tree.at(4));
    expect(note).toMatch(new RegExp(`^${tree.at(4).newest.note.split('\n')[0]}\n4\n[^]*\n— witness\\.example \\S+\n$`));
  });

  it('is told the size that it has when ours was wrong, and asked again from there', async () => {
    await atWitness(own).publish(tree.origin, tree.at(4));
    await atWitness(own).publish(tree.origin, tree.at(9));
    expect(own.answers).toEqual([200, 409, 200]);
  });

  it('that does not know us is an error, which passes', async () => {
    const stranger = shownTree();
    await expect(atWitness(own).publish(stranger.origin, stranger.at(4))).rejects.toThrow(/answered 404/);
    own.know(stranger.verifierKey);
    expect(await atWitness(own).publish(stranger.origin, stranger.at(4))).toMatchObject({ size: 4 });
  });

  it('that is away is an error, which passes', async () => {
    await own.away();
    await expect(atWitness(own).publish(tree.origin, tree.at(4))).rejects.toThrow(/cannot be reached/);
    await expect(atWitness(own).newest(tree.origin, tree.at(4))).rejects.toThrow(/cannot be reached/);
    await own.back();
    expect(await atWitness(own).publish(tree.origin, tree.at(4))).toMatchObject({ size: 4 });
  });

  it('beside another one shows two histories that were told to the two', async () => {
    const second = await startWitness(tree.verifierKey);
    try {
      await atWitness(own).publish(tree.origin, tree.at(8));
      await atWitness(second).publish(tree.origin, tree.forkedAt(5).at(8));
      await expect(atWitness(second).publish(tree.origin, tree.at(9))).rejects.toBeInstanceOf(AnchorContradicts);
      expect(own.cosigned[0]!.root).not.toBe(second.cosigned[0]!.root);
    } finally {
      await second.stop();
    }
  });
});

it.each([
  ['is read-only', '/proc/sys/kernel'],
  ['takes no folders', '/proc'],
])('A folder that %s keeps nothing, and says so', async (_, folder) => {
  const tree = shownTree();
  await expect(inFolder(folder).publish(tree.origin, tree.at(1))).rejects.toThrow(/^E[A-Z]+: /);
  expect(await inFolder(folder).newest(tree.origin)).toBeUndefined();
});

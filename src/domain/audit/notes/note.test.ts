import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { checkpointText, openCheckpoint, originOf, readCheckpoint } from './checkpoint.js';
import { openNote, readVerifierKey, signNote, signingKey, verifierKey, type VerifierKey } from './note.js';

const file = readFileSync(new URL('../../../../test/vectors/audit-tree.json', import.meta.url), 'utf8');
interface NoteVector {
  name: string;
  seed: string;
  verifierKey: string;
  text: string;
  note: string;
}
const { note: vector, checkpoint: frozen } = JSON.parse(file) as {
  note: NoteVector;
  checkpoint: NoteVector & { origin: string; size: number; root: string };
};

const seedOf = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const known = (name: string, byte: number): VerifierKey => readVerifierKey(verifierKey(name, seedOf(byte)))!;
const signer = (name: string, byte: number) => signingKey(name, seedOf(byte));
const TEXT = 'one\n\ntwo — three\n';

describe('signed notes', () => {
  it('signs and opens the known ones', () => {
    for (const { name, seed, verifierKey: key, text, note } of [vector, frozen]) {
      expect(verifierKey(name, seed)).toBe(key);
      expect(signNote(text, [signingKey(name, seed)])).toBe(note);
      expect(openNote(note, [readVerifierKey(key)!])).toMatchObject({ kind: 'open', text });
    }
  });

  it('opens by every key that is known', () => {
    const note = signNote(TEXT, [signer('old', 1), signer('new', 2), signer('witness', 3)]);
    const [old, next] = [known('old', 1), known('new', 2)];
    expect(openNote(note, [old, next])).toMatchObject({ kind: 'open', text: TEXT, by: [old, next] });
    expect(openNote(note, [next])).toMatchObject({ kind: 'open', by: [next] });
    expect(openNote(note, [known('another', 4)])).toMatchObject({ kind: 'unknown' });
    // The name alone is no identity, nor is the key under another name.
    expect(openNote(note, [known('old', 9), known('renamed', 2)])).toMatchObject({ kind: 'unknown' });
    expect(openNote(note, [])).toMatchObject({ kind: 'unknown' });
  });

  it('is not open when one known signature is wrong, however many are right', () => {
    const note = signNote(TEXT, [signer('old', 1), signer('new', 2)]);
    const keys = [known('old', 1), known('new', 2)];
    expect(openNote(note.replace('one', 'One'), keys)).toMatchObject({ kind: 'forged', by: keys[0] });
    const line = note.trimEnd().split('\n').at(-1)!;
    const bytes = Buffer.from(line.split(' ')[2]!, 'base64');
    for (const wrong of [Buffer.from(bytes).fill(0, 40), bytes.subarray(0, -1), Buffer.concat([bytes, Buffer.of(0)])]) {
      const forged = note.replace(line, `— new ${wrong.toString('base64')}`);
      expect(openNote(forged, keys)).toMatchObject({ kind: 'forged', by: keys[1] });
      expect(openNote(note + forged.slice(forged.indexOf('— new')), keys)).toMatchObject({ kind: 'forged' });
    }
  });

  it('tells what is not signed from what is no note', () => {
    const note = signNote(TEXT, [signer('a', 1)]);
    const keys = [known('a', 1)];
    const signature = note.slice(note.indexOf('— a'));
    const cases: [string, string][] = [
      ['', 'malformed'],
      ['text', 'malformed'],
      ['text\n', 'unsigned'],
      ['text\n\n', 'unsigned'],
      [TEXT, 'unsigned'],
      [`${TEXT}\n`, 'unsigned'],
      [TEXT + signature, 'malformed'],
      [note.slice(0, -1), 'malformed'],
      [`${note}\n`, 'unsigned'],
      [note.replaceAll('\n', '\r\n'), 'malformed'],
      [note.replace('one', 'o\u0000ne'), 'malformed'],
      [note.replace('one', '\ud800'), 'malformed'],
      [note.replace('— a ', '— a  '), 'malformed'],
      [note.replace('— a ', '— '), 'malformed'],
      [note.replace('— a ', '— a+b '), 'malformed'],
      [note.replace('— a ', '- a '), 'unsigned'],
      [`${note}— a !!!\n`, 'malformed'],
      [`${note}— a AAAA\n`, 'malformed'],
      [`${note}trailing\n`, 'malformed'],
      [note + signature.repeat(100), 'malformed'],
      [`${'x'.repeat(1_000_001)}\n\n${signature}`, 'malformed'],
    ];
    for (const [text, kind] of cases) expect([text.slice(0, 60), openNote(text, keys).kind]).toEqual([text.slice(0, 60), kind]);
    expect(openNote(note + signature, keys)).toMatchObject({ kind: 'open', by: keys });
  });

  it('checks a line once that is repeated', () => {
    const { key, ...shown } = known('a', 1);
    let asked = 0;
    const counted: VerifierKey = {
      ...shown,
      get key() {
        asked++;
        return key;
      },
    };
    const note = signNote(TEXT, [signer('a', 1)]);
    const signature = note.slice(note.indexOf('— a'));
    expect(openNote(note + signature.repeat(99), [counted])).toMatchObject({ kind: 'open', text: TEXT });
    expect(asked).toBe(1);
  });

  it('refuses to sign what no one could open', () => {
    for (const text of ['', 'no newline', 'tab\t\n', 'half \udc00\n']) expect(() => signNote(text, [signer('a', 1)])).toThrow(TypeError);
    for (const name of ['', 'a b', 'a+b', 'a\nb', 'a\u3000b']) expect(() => signingKey(name, seedOf(1))).toThrow(TypeError);
  });

  it('reads a public key only in its one form', () => {
    const text = verifierKey('a', seedOf(1));
    expect(readVerifierKey(text)).toMatchObject({ text, name: 'a' });
    const [, id, key] = text.split('+', 2).concat(text.slice(text.indexOf('+', 2) + 1)) as [string, string, string];
    const wrongAlgorithm = Buffer.from(key, 'base64').fill(2, 0, 1).toString('base64');
    const others = [
      '', 'a', `b+${id}+${key}`, `a+00000000+${key}`, `a+${id.toUpperCase()}+${key}`, `a+${id}+${key}=`, `a+${id}+${key}\n`,
      `a+${id}+${wrongAlgorithm}`, `a+${id}+${key.slice(4)}`, ` ${text}`, `+${id}+${key}`,
    ];
    for (const other of others) if (other !== text) expect([other, readVerifierKey(other)]).toEqual([other, undefined]);
  });
});

describe('checkpoints', () => {
  const { origin, size, root, text } = frozen;
  const keys = [readVerifierKey(frozen.verifierKey)!];

  it('are written and read in one form', () => {
    expect(checkpointText({ origin, size, root })).toBe(text);
    expect(readCheckpoint(text)).toEqual({ origin, size, root });
    expect(readCheckpoint(checkpointText({ origin, size: 0, root }))).toMatchObject({ size: 0 });
    const wrong = [
      '', '\n', `${origin}\n${size}\n`, text.slice(0, -1), `${text}\n`, `${text}an extension\n`, `\n${size}\n${root}\n`,
      `${origin}\n0${size}\n${root}\n`, `${origin}\n+${size}\n${root}\n`, `${origin}\n-1\n${root}\n`, `${origin}\n1e3\n${root}\n`,
      `${origin}\n\n${root}\n`, `${origin}\n9007199254740992\n${root}\n`, `${origin}\n${size}\n${root.slice(4)}\n`,
      `${origin}\n${size}\n${root.slice(0, -1)}\n`, `${origin}\n${size}\n${root} \n`,
    ];
    for (const one of wrong) expect([one, readCheckpoint(one)]).toEqual([one, undefined]);
  });

  it('count only when a known key signed them for this very tree', () => {
    expect(openCheckpoint(frozen.note, keys, origin)).toEqual({ checkpoint: { origin, size, root }, by: keys });
    const wrongOf = (note: string, of = origin) => openCheckpoint(note, keys, of);
    expect(wrongOf(frozen.note, originOf('countersign-1a2b3c4d5e6f', 'org_other'))).toEqual({
      wrong: `is of ${origin}, not of countersign-1a2b3c4d5e6f/org_other`,
    });
    expect(wrongOf(text)).toEqual({ wrong: 'has no signature' });
    expect(wrongOf(signNote(text, [signer('stranger', 7)]))).toEqual({ wrong: 'is signed by no key that is known' });
    expect(wrongOf(frozen.note.replace(`\n${size}\n`, `\n${size + 1}\n`))).toEqual({ wrong: `has a wrong signature of ${frozen.name}` });
    expect(wrongOf('nothing')).toMatchObject({ wrong: expect.stringContaining('is no signed note') });
    expect(wrongOf(signNote('a letter\n', [signingKey(frozen.name, frozen.seed)]))).toEqual({ wrong: 'is not the text of a checkpoint' });
  });
});

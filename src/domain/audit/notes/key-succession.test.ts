import { describe, expect, it } from '@jest/globals';
import { leadsTo, Succession, vouchForNext, type NextKey } from './key-succession.js';
import { signingKey, signNote, verifierKey } from './note.js';
import { digest, hashText } from '../tree/rfc6962.js';

const NAME = 'countersign-test';
const seed = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const key = (byte: number, name = NAME) => signingKey(name, seed(byte));
const text = (byte: number) => verifierKey(NAME, seed(byte));
/** Keys of these seeds, each vouched for by the one before. */
const chainOf = (...bytes: number[]): NextKey[] => bytes.map((byte, n) =>
  ({ key: text(byte), ...(n === 0 ? {} : { note: vouchForNext(n, text(byte), key(bytes[n - 1]!)) }) }));
const counted = (keys: readonly NextKey[]) => {
  const succession = new Succession(NAME);
  return keys.map((one) => succession.take(one));
};

it('the note has the form of a checkpoint, of an origin that no tree has', () => {
  const note = vouchForNext(1, text(2), key(1));
  expect(note.split('\n').slice(0, 4)).toEqual([`${NAME}/platform/next-key`, '1', hashText(digest(text(2))), '']);
});

it('three keys, each vouched for by the one before, are a succession', () => {
  expect(counted(chainOf(1, 2, 3))).toEqual([true, true, true]);
  expect(leadsTo(chainOf(1, 2, 3), text(1), text(3), NAME)).toBe(true);
  expect(leadsTo(chainOf(1, 2, 3), text(2), text(3), NAME)).toBe(true);
});

it('what is first is believed with its place, so that a beginning that was swept does not matter', () => {
  expect(counted(chainOf(1, 2, 3, 4).slice(2))).toEqual([true, true]);
});

describe('no key counts', () => {
  const second = (note?: string | null) => counted([{ key: text(1) }, { key: text(2), note }])[1];
  it.each([
    ['without a note', undefined],
    ['with none in its row', null],
    ['with an empty one', ''],
    ['with something else', 'a note'],
    ['by its own word', vouchForNext(1, text(2), key(2))],
    ['by the word of another', vouchForNext(1, text(2), key(3))],
    ['by a word over another key', vouchForNext(1, text(3), key(1))],
    ['by a word of another place', vouchForNext(2, text(2), key(1))],
    ['by a word for another installation', vouchForNext(1, text(2), key(1, 'countersign-other'))],
    ['by a checkpoint of the same numbers', signNote(`${NAME}/platform\n1\n${hashText(digest(text(2)))}\n`, [key(1)])],
  ])('%s', (_, note) => expect(second(note)).toBe(false));

  it('that an older key than the last has vouched for', () => {
    const [first, next] = chainOf(1, 2);
    expect(counted([first!, next!, { key: text(3), note: vouchForNext(2, text(3), key(1)) }])).toEqual([true, true, false]);
    expect(counted([first!, next!, { key: text(3), note: vouchForNext(1, text(3), key(1)) }])).toEqual([true, true, false]);
  });

  it('and one that is passed over vouches for nobody', () => {
    const forged = { key: text(9), note: vouchForNext(1, text(9), key(9)) };
    const itsNext = { key: text(8), note: vouchForNext(2, text(8), key(9)) };
    const [first, real] = chainOf(1, 2);
    expect(counted([first!, forged, itsNext, real!])).toEqual([true, false, false, true]);
  });
});

it('notes lead forward only, and from nothing that is not there', () => {
  const keys = chainOf(1, 2);
  expect([leadsTo(keys, text(2), text(1), NAME), leadsTo(keys, text(1), text(1), NAME)]).toEqual([false, false]);
  expect([leadsTo(keys, text(3), text(2), NAME), leadsTo(keys, text(1), text(3), NAME)]).toEqual([false, false]);
  expect(leadsTo([{ key: text(1) }, { key: text(2) }], text(1), text(2), NAME)).toBe(false);
});

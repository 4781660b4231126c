import { describe, expect, test } from '@jest/globals';
import { keyIdOf } from './fingerprint.js';
import { firstMarkKey, SealedBox } from './sealed-box.js';

const KEY = 'imInFBztIIgqsOY9Gg/0Zw3BUAZY5plXjWZSz+46OmM=';
const OTHER = 'nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=';
const box = new SealedBox({ encryptionKey: KEY });
const TEXT = Buffer.from('{"accessToken":"a","refreshToken":"r"}');

describe('what is sealed', () => {
  const sealed = box.seal('sessions', 'sess_1', TEXT);

  test('opens for whoever has the key, also after a restart, and differs each time', () => {
    expect(new SealedBox({ encryptionKey: KEY }).open('sessions', 'sess_1', sealed)).toEqual(TEXT);
    expect(box.seal('sessions', 'sess_1', TEXT)).not.toEqual(sealed);
    expect(box.open('sessions', '', box.seal('sessions', '', Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
    expect(sealed.includes('accessToken')).toBe(false);
  });

  test('opens for nothing else', () => {
    expect(box.open('sessions', 'sess_2', sealed)).toBeUndefined();
    expect(box.open('sign-in', 'sess_1', sealed)).toBeUndefined();
    expect(new SealedBox({ encryptionKey: OTHER }).open('sessions', 'sess_1', sealed)).toBeUndefined();
  });

  test('does not open with any bit changed, or cut anywhere', () => {
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(box.open('sessions', 'sess_1', changed)).toBeUndefined();
    }
    for (let length = 0; length < sealed.length; length++) {
      expect(box.open('sessions', 'sess_1', sealed.subarray(0, length))).toBeUndefined();
    }
  });
});

describe('a mark', () => {
  test('is the same for the same, and for nothing else', () => {
    const mark = box.mac('forms', 'a', 'bc');
    expect(mark).toMatch(/^[0-9a-f]{64}$/);
    expect(new SealedBox({ encryptionKey: KEY }).mac('forms', 'a', 'bc')).toBe(mark);
    const others = [
      box.mac('forms', 'ab', 'c'), box.mac('forms', 'abc'), box.mac('forms', 'a', 'bc', ''), box.mac('challenges', 'a', 'bc'),
      new SealedBox({ encryptionKey: OTHER }).mac('forms', 'a', 'bc'),
    ];
    expect(new Set([mark, ...others]).size).toBe(6);
  });
});

describe('while ENCRYPTION_KEY is replaced', () => {
  const behind = new SealedBox({ encryptionKey: KEY, encryptionKeyAccepted: OTHER });
  const ahead = new SealedBox({ encryptionKey: OTHER, encryptionKeyAccepted: KEY });

  test('a server with the new one in use and one with it accepted open what each other sealed, which names its key', () => {
    for (const by of [box, behind, ahead]) {
      const sealed = by.seal('secrets', 'a', TEXT);
      for (const at of [behind, ahead]) expect(at.open('secrets', 'a', sealed)).toEqual(TEXT);
      expect(sealed.subarray(0, 4).toString('hex')).toBe(keyIdOf(by === ahead ? OTHER : KEY));
    }
    expect(new SealedBox({ encryptionKey: OTHER }).open('secrets', 'a', behind.seal('secrets', 'a', TEXT))).toBeUndefined();
  });

  test('what was sealed before there were ids opens by either', () => {
    const before = behind.seal('secrets', 'a', TEXT).subarray(4);
    for (const at of [box, behind, ahead]) expect(at.open('secrets', 'a', before)).toEqual(TEXT);
    expect(ahead.open('secrets', 'b', before)).toBeUndefined();
  });

  test('marks stay what they are', () => {
    const markKey = firstMarkKey(KEY);
    expect(new SealedBox({ encryptionKey: OTHER, markKey }).mac('forms', 'a')).toBe(box.mac('forms', 'a'));
  });
});

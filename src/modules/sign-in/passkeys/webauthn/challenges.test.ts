import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { SealedBox } from '../../../../platform/secrets/sealed-box.js';
import { CHALLENGE_SECONDS, Challenges, type ChallengeUse } from './challenges.js';

const boxOf = () => new SealedBox({ encryptionKey: randomBytes(32).toString('base64') });
const challenges = new Challenges(boxOf());
const NOW = Date.UTC(2026, 10, 24);
const USER = 'usr_0000000000000000000000000000000000aa';
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');

describe('a challenge', () => {
  test.each(['', USER])('names its subject: %j', (subject) => {
    const text = textOf(challenges.make('add', 'session abc', subject, NOW));
    expect(challenges.read('add', 'session abc', text, NOW)).toEqual({ subject, until: new Date(NOW + CHALLENGE_SECONDS * 1_000) });
  });

  test('no two are alike', () => {
    const all = Array.from({ length: 100 }, () => textOf(challenges.make('sign-in', 'form a', '', NOW)));
    expect(new Set(all).size).toBe(100);
  });

  const good = textOf(challenges.make('sign-in', 'form a', USER, NOW));
  const other = textOf(new Challenges(boxOf()).make('sign-in', 'form a', USER, NOW));
  const changed = (at: number) => {
    const bytes = Buffer.from(good, 'base64url');
    bytes[at]! ^= 1;
    return bytes.toString('base64url');
  };
  test.each<[string, ChallengeUse, string, unknown, number]>([
    ['for another use', 'add', 'form a', good, NOW],
    ['of another browser', 'sign-in', 'form b', good, NOW],
    ['of nobody', 'sign-in', '', good, NOW],
    ['at its end', 'sign-in', 'form a', good, NOW + CHALLENGE_SECONDS * 1_000],
    ['of another installation', 'sign-in', 'form a', other, NOW],
    ['with another random byte', 'sign-in', 'form a', changed(0), NOW],
    ['with another time', 'sign-in', 'form a', changed(16), NOW],
    ['for another person', 'sign-in', 'form a', changed(30), NOW],
    ['with another mark', 'sign-in', 'form a', changed(70), NOW],
    ['cut short', 'sign-in', 'form a', good.slice(0, -4), NOW],
    ['of nothing', 'sign-in', 'form a', '', NOW],
    ['of a number', 'sign-in', 'form a', 7, NOW],
    ['in another alphabet', 'sign-in', 'form a', `${good.slice(0, -1)}=`, NOW],
  ])('is none %s', (_, use, browser, challenge, now) => {
    expect(challenges.read(use, browser, challenge, now)).toBeUndefined();
  });
});

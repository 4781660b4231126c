import { describe, expect, test } from '@jest/globals';
import type { Request, Response } from 'express';
import { SESSION_COOKIE } from '../../../platform/auth/credentials/bearer.js';
import { SealedBox } from '../../../platform/secrets/sealed-box.js';
import { FORM_TOKEN, SignInForm } from './sign-in-form.js';

const box = new SealedBox({ encryptionKey: 'imInFBztIIgqsOY9Gg/0Zw3BUAZY5plXjWZSz+46OmM=' });
const forms = new SignInForm(box, { appUrl: 'http://localhost:3000' });

/** A request as far as it is looked at. */
function requestWith(cookie?: string): Request {
  const app = { get: (name: string) => (name === SESSION_COOKIE ? 'countersign' : undefined) };
  return { rawHeaders: [], headers: cookie === undefined ? {} : { cookie }, app } as unknown as Request;
}

/** Opens a page as this browser. */
function opened(cookie?: string): { token: string; given: string[] } {
  const given: string[] = [];
  const response = { append: (_: string, value: string) => void given.push(value.split(';')[0]!) };
  return { token: forms.open(requestWith(cookie), response as unknown as Response), given };
}

const post = (cookie: string | undefined, token: string | undefined) =>
  forms.assertOurs(requestWith(cookie), token === undefined ? {} : { [FORM_TOKEN]: token });

describe('a form', () => {
  test('is taken from the browser that it was shown, which keeps its cookie', () => {
    const { token, given } = opened();
    expect(given).toEqual([expect.stringMatching(/^countersign-form=[A-Za-z0-9_-]{22}$/)]);
    expect(() => post(given[0], token)).not.toThrow();
    expect(opened(given[0])).toEqual({ token, given: [] });
  });

  test('of a session is taken in that session, and needs no cookie of its own', () => {
    const { token, given } = opened('countersign=abc');
    expect(given).toEqual([]);
    expect(() => post('countersign=abc', token)).not.toThrow();
    expect(() => post('countersign=abd', token)).toThrow(/not from this browser/);
    expect(() => post(undefined, token)).toThrow();
  });

  test('of before signing in is none of the session, and the other way round', () => {
    const before = opened();
    const within = opened(`${before.given[0]}; countersign=abc`);
    expect(within.token).not.toBe(before.token);
    expect(() => post(`${before.given[0]}; countersign=abc`, before.token)).toThrow();
    expect(() => post(before.given[0], within.token)).toThrow();
  });

  test.each<[string | undefined]>([
    [undefined], [''], ['x'], ['0'.repeat(64)], ['ü'.repeat(32)],
  ])('with the token %j is refused', (token) => {
    expect(() => post(opened().given[0], token)).toThrow(/not from this browser/);
    expect(() => post(undefined, token)).toThrow();
  });

  test('of a browser whose cookie is not ours gets a new one', () => {
    expect(opened('countersign-form=short').given).toHaveLength(1);
    expect(opened('countersign-form=a; countersign-form=b').given).toHaveLength(1);
  });
});

import { describe, expect, test } from '@jest/globals';
import { clearCookie, cookieNames, cookiesNamed, cookieValue, setCookie } from './cookies.js';

describe('the value of a cookie', () => {
  test.each<[string | undefined, ReturnType<typeof cookieValue>]>([
    [undefined, undefined],
    ['', undefined],
    ['countersign', undefined],
    ['countersign=abc', { value: 'abc' }],
    ['a=1; countersign=abc; b=2', { value: 'abc' }],
    ['a=1;countersign=abc', { value: 'abc' }],
    ['countersign=', { value: '' }],
    ['countersign=a=b', { value: 'a=b' }],
    ['countersign="abc"', { value: '"abc"' }],
    ['Countersign=abc', undefined],
    ['countersign-form=abc', undefined],
    ['xcountersign=abc', undefined],
    ['__Host-countersign=abc', undefined],
    ['countersign=abc; countersign=abc', { value: 'abc' }],
    ['countersign=abc; countersign=abd', 'repeated'],
    ['countersign=; countersign=abc', 'repeated'],
  ])('in %j', (header, wanted) => {
    expect(cookieValue(header, 'countersign')).toEqual(wanted);
  });

  test('names that begin alike are found, each once', () => {
    expect(cookiesNamed('countersign-login-a=1; b=2; countersign-login-c=3; countersign-login-a=4', 'countersign-login-'))
      .toEqual(['countersign-login-a', 'countersign-login-c']);
    expect(cookiesNamed(undefined, 'x')).toEqual([]);
  });
});

describe('a cookie of ours', () => {
  test('is bound to its host where the service is reached by https', () => {
    const { session, secure } = cookieNames('https://app.example/base');
    expect(setCookie(session, 'abc', { seconds: 60, secure })).toBe(
      '__Host-countersign=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure',
    );
  });

  test('goes over http where the service does', () => {
    const { session, secure } = cookieNames('http://localhost:3000');
    expect(setCookie(session, 'abc', { seconds: 60, secure })).toBe('countersign=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Lax');
    expect(clearCookie(session, secure)).toBe('countersign=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax');
  });

  test.each(['a;b', 'a b', 'a\r\nSet-Cookie: x=y', '"', 'ü'])('never has the value %j', (value) => {
    expect(() => setCookie('countersign', value, { seconds: 1, secure: false })).toThrow();
  });
});

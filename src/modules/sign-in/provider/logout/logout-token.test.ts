import { describe, expect, test } from '@jest/globals';
import { readLogout } from './logout-token.js';

const NOW = 1_800_000_000;
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const GOOD = { iat: NOW, jti: 'j1', sub: 'ada', sid: 's1', events: { [EVENT]: {} } };

describe('a logout token', () => {
  test.each<[string, object, object]>([
    ['of a session', {}, { id: 'j1', sub: 'ada', sid: 's1', until: new Date((NOW + 120) * 1_000) }],
    ['of a user', { sid: undefined }, { id: 'j1', sub: 'ada' }],
    ['of a session alone', { sub: undefined }, { id: 'j1', sid: 's1' }],
    ['that names other events too', { events: { [EVENT]: {}, other: 1 } }, { id: 'j1' }],
    ['of two minutes ago', { iat: NOW - 120 }, { id: 'j1', until: new Date(NOW * 1_000) }],
    ['of a clock half a minute ahead', { iat: NOW + 30 }, { id: 'j1' }],
  ])('%s says whose sessions end', (_, claims, wanted) => {
    expect(readLogout({ ...GOOD, ...claims }, NOW)).toMatchObject(wanted);
  });

  test.each<[string, object]>([
    ['for nobody', { sub: undefined, sid: undefined }],
    ['with a nonce, which id tokens have', { nonce: 'n' }],
    ['without an event', { events: undefined }],
    ['with another event', { events: { 'http://schemas.openid.net/event/other': {} } }],
    ['with events that are no object', { events: [EVENT] }],
    ['with an event that is no object', { events: { [EVENT]: true } }],
    ['with an inherited event', { events: Object.create({ [EVENT]: {} }) as object }],
    ['that is old', { iat: NOW - 121 }],
    ['of tomorrow', { iat: NOW + 31 }],
    ['without its time', { iat: undefined }],
    ['whose time is a text', { iat: String(NOW) }],
    ['without a name', { jti: undefined }],
    ['with an empty name', { jti: '' }],
    ['for a number', { sub: 7 }],
    ['of a list of sessions', { sid: ['s1'] }],
    ['of a session with a very long name', { sid: 'x'.repeat(256) }],
  ])('%s is none', (_, claims) => {
    expect(readLogout({ ...GOOD, ...claims }, NOW)).toBeUndefined();
  });
});

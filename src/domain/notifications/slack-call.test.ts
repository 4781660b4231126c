import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../json.js';
import { isSignedBySlack, readSlackPress } from './slack-call.js';

// The example of Slack's own documentation ("Verifying requests from Slack").
const SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
const BODY = Buffer.from(
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA'
  + '&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J'
  + '%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
);
const SIGNED = { timestamp: '1531420618', signature: 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503' };
const AT = 1_531_420_618_000;
const WITHOUT_TIME = createHmac('sha256', SECRET).update('v0::').update(BODY).digest('hex');

describe('a call is signed by Slack', () => {
  test('as its documentation shows', () => {
    expect(isSignedBySlack(SECRET, SIGNED, BODY, AT)).toBe(true);
  });

  test.each<[string, boolean, Parameters<typeof isSignedBySlack>]>([
    ['300 s later', true, [SECRET, SIGNED, BODY, AT + 300_000]],
    ['300 s ahead', true, [SECRET, SIGNED, BODY, AT - 300_000]],
    ['301 s later', false, [SECRET, SIGNED, BODY, AT + 301_000]],
    ['301 s ahead', false, [SECRET, SIGNED, BODY, AT - 301_000]],
    ['another secret', false, ['another', SIGNED, BODY, AT]],
    ['another byte', false, [SECRET, SIGNED, Buffer.concat([BODY, Buffer.from('&')]), AT]],
    ['another time', false, [SECRET, { ...SIGNED, timestamp: '1531420619' }, BODY, AT]],
    ['another version', false, [SECRET, { ...SIGNED, signature: SIGNED.signature.replace('v0', 'v1') }, BODY, AT]],
    ['half a signature', false, [SECRET, { ...SIGNED, signature: SIGNED.signature.slice(0, 40) }, BODY, AT]],
    ['none', false, [SECRET, { ...SIGNED, signature: '' }, BODY, AT]],
    ['no time', false, [SECRET, { timestamp: '', signature: `v0=${WITHOUT_TIME}` }, BODY, AT]],
  ])('%s: %s', (_what, wanted, call) => {
    expect(isSignedBySlack(...call)).toBe(wanted);
  });
});

describe('what was pressed', () => {
  const request = 'hitl_01jdk3m5n7p9q1r3s5t7v9x1z3b5d7f9h1j3';
  const digest = 'ab'.repeat(32);
  const action = { type: 'button', action_id: 'approve', value: JSON.stringify({ request, digest }) };
  const payload = {
    type: 'block_actions', user: { id: 'U1', username: 'ada', team_id: 'T1' }, team: { id: 'T1', domain: 'acme' },
    response_url: 'https://hooks.slack.com/actions/1', actions: [action],
  };
  const pressed = (change: JsonObject) => readSlackPress({ ...payload, ...change });

  test('is read', () => {
    expect(readSlackPress(payload)).toEqual({
      kind: 'decision', word: 'approve', requestId: request, digest, workspace: 'T1', chatUser: 'U1', workspaceName: 'acme',
      userName: 'ada', responseUrl: 'https://hooks.slack.com/actions/1',
    });
    expect(pressed({ actions: [{ ...action, action_id: 'reject' }] })).toMatchObject({ word: 'reject' });
    // On Enterprise Grid `team` may be missing; a user of another workspace is of that one.
    expect(pressed({ team: null })).toMatchObject({ workspace: 'T1', workspaceName: 'T1' });
    expect(pressed({ user: { id: 'U1', team_id: 'T2' } })).toMatchObject({ workspace: 'T2', userName: 'U1' });
  });

  test.each(['open_approve', 'open_reject', 'open_link'])('is a link: %s', (id) => {
    expect(pressed({ actions: [{ type: 'button', action_id: id }] })).toEqual({ kind: 'link' });
  });

  test.each<[string, JsonObject]>([
    ['another kind of interaction', { type: 'view_submission' }],
    ['no action', { actions: [] }],
    ['two actions', { actions: [action, action] }],
    ['no list of actions', { actions: action }],
    ['an unknown action', { actions: [{ ...action, action_id: 'approve_all' }] }],
    ['no value', { actions: [{ ...action, value: null }] }],
    ['a value that is no JSON', { actions: [{ ...action, value: '{' }] }],
    ['a value without a digest', { actions: [{ ...action, value: JSON.stringify({ request }) }] }],
    ['a digest of another form', { actions: [{ ...action, value: JSON.stringify({ request, digest: digest.toUpperCase() }) }] }],
    ['the id of something else', { actions: [{ ...action, value: JSON.stringify({ request: request.replace('hitl', 'exec'), digest }) }] }],
    ['a deep value', { actions: [{ ...action, value: '['.repeat(2_000) }] }],
    ['nobody', { user: null }],
    ['nobody that can be', { user: { id: 'U 1', team_id: 'T1' } }],
    ['no workspace', { user: { id: 'U1' }, team: null }],
  ])('is not: %s', (_what, change) => {
    expect(pressed(change)).toBeUndefined();
  });
});

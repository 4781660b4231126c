import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { actionDigest, type GovernedAction } from './digest.js';

const governed: GovernedAction = {
  action: 'Send the offer', agentId: 'agt_1', capability: 'email.send', definition: 'def', hitlRequestId: 'hitl_1',
  input: { to: 'ann@example.com', amount: 10.0, nested: { b: 1, a: 2 } }, nonce: 'bm9uY2U', runs: 'service',
};
// RFC 8785 by hand: members sorted, numbers in their shortest form, no blanks.
const canonical =
  '{"action":"Send the offer","agentId":"agt_1","capability":"email.send","definition":"def","hitlRequestId":"hitl_1",' +
  '"input":{"amount":10,"nested":{"a":2,"b":1},"to":"ann@example.com"},"nonce":"bm9uY2U","runs":"service"}';

describe('the digest of an action', () => {
  it('is the SHA-256 of its RFC 8785 form, in hex', () => {
    expect(actionDigest(governed)).toBe(createHash('sha256').update(canonical).digest('hex'));
  });

  it('leaves an absent action out, and does not take it for an empty one', () => {
    const { action: _none, ...rest } = governed;
    expect(actionDigest(rest)).toBe(createHash('sha256').update(canonical.replace('"action":"Send the offer",',
      '')).digest('hex'));
    expect(actionDigest({ ...rest, action: '' })).not.toBe(actionDigest(rest));
  });

  it('changes with every part, and covers nothing else', () => {
    const others = (['action', 'agentId', 'capability', 'definition', 'hitlRequestId', 'nonce'] as const).map((part) =>
      ({ ...governed, [part]: 'other' }));
    const all = [governed, ...others, { ...governed, runs: 'caller' as const },
      { ...governed, input: { ...governed.input, amount: 11 } }];
    expect(new Set(all.map(actionDigest)).size).toBe(all.length);
    expect(actionDigest({ ...governed, note: 'x' } as GovernedAction)).toBe(actionDigest(governed));
  });
});

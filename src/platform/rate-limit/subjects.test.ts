import { expect, test } from '@jest/globals';
import type { Principal } from '../auth/access/principal.js';
import { addressSubject, principalSubject } from './subjects.js';

test.each([
  ['192.0.2.7', 'address:192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', 'address:2001:db8:1:2::/64'],
  ['2001:db8:1:2::6', 'address:2001:db8:1:2::/64'],
  ['2001:db8::1:0:0:6', 'address:2001:db8:0:0::/64'],
  ['2001:db8:1::', 'address:2001:db8:1:0::/64'],
  ['::1', 'address:0:0:0:0::/64'],
  ['1::', 'address:1:0:0:0::/64'],
  [undefined, 'address:unknown'],
])('%s is counted as %s', (address, subject) => {
  expect(addressSubject(address)).toBe(subject);
});

test('principals are counted by kind and id; an agent\'s ended tokens and keys by themselves', () => {
  const agent = (epoch: number, more = {}) =>
    ({ kind: 'agent', agentId: 'agt_1', organizationId: 'org_1', epoch, ...more }) as Principal;
  const names = [
    agent(0), agent(7), agent(7, { keyId: 'key_1' }),
    { kind: 'root', keyHash: 'x' } as Principal, { kind: 'user', userId: 'usr_1' } as Principal,
  ].map(principalSubject);
  expect(names).toEqual(['agent:agt_1:0', 'agent:agt_1:7', 'agent:agt_1:7:key_1', 'root', 'user:usr_1']);
});

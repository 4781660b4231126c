import { describe, expect, test } from '@jest/globals';
import type { Role } from './access.js';
import { type Inviter, type InvitedAccount, invitationFlaw, type InvitationFlaw } from './invitation.js';

const root: Inviter = { kind: 'root' };
const person = (role: Role, more: Partial<{ isActive: boolean; reaches: boolean }> = {}): Inviter =>
  ({ kind: 'person', isActive: true, reaches: true, role, ...more });
const account = (more: Partial<InvitedAccount> = {}): InvitedAccount =>
  ({ isActive: true, role: 'member', hasAddress: true, canSignIn: false, keptAddress: true, ...more });

type Case = [string, Role, 'mail' | 'hand', Inviter, InvitedAccount | undefined, InvitationFlaw | undefined];

describe('an invitation', () => {
  test.each<Case>([
    ['of root, to anything', 'owner', 'hand', root, undefined, undefined],
    ['of an owner, to owner', 'owner', 'hand', person('owner'), undefined, undefined],
    ['of an admin, to admin', 'admin', 'mail', person('admin'), undefined, undefined],
    ['of an admin, to owner', 'owner', 'mail', person('admin'), undefined, 'inviter_lowered'],
    ['of who was an admin, to viewer', 'viewer', 'mail', person('member'), undefined, 'inviter_lowered'],
    ['of who has gone', 'viewer', 'mail', person('owner', { isActive: false }), undefined, 'inviter_gone'],
    ['of who does not reach the organization any more', 'viewer', 'mail', person('owner', { reaches: false }), undefined, 'inviter_gone'],
    ['by hand, to an account that nobody can use yet', 'member', 'hand', person('admin'), account(), undefined],
    ['by hand, to an account in use', 'member', 'hand', person('owner'), account({ canSignIn: true }), 'link_to_a_colleague'],
    ['by mail, to an account in use', 'member', 'mail', person('admin'), account({ canSignIn: true }), undefined],
    ['by mail, to an account in use whose address was changed', 'member', 'mail', person('owner'),
      account({ canSignIn: true, keptAddress: false }), 'link_to_a_colleague'],
    ['by mail, to an account not in use whose address was changed', 'member', 'mail', person('owner'),
      account({ keptAddress: false }), undefined],
    ['of root, by hand, to an account in use', 'member', 'hand', root, account({ canSignIn: true, keptAddress: false }), undefined],
    ['to an account that has risen above the inviter', 'member', 'mail', person('admin'), account({ role: 'owner' }), 'inviter_lowered'],
    ['to a closed account', 'member', 'mail', root, account({ isActive: false }), 'account_changed'],
    ['to an account with another address by now', 'member', 'mail', root, account({ hasAddress: false }), 'account_changed'],
  ])('%s', (_, role, delivery, inviter, invited, flaw) => {
    expect(invitationFlaw({ role, delivery }, inviter, invited)).toBe(flaw);
  });
});

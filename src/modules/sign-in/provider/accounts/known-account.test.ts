import { describe, expect, it } from '@jest/globals';
import type { Role } from '../../../../domain/access/access.js';
import type { Claims } from '../../../../domain/access/claims.js';
import { accountOf, claimsAfter } from './known-account.js';
import type { IdentityRow } from './provider-people.query.js';

const at = (seconds: number) => new Date(seconds * 1_000);
const ROW: IdentityRow = {
  organizationId: 'org_1', userId: 'usr_1', role: 'admin', status: 'active', tenantId: 'ten_1', reached: [], claimedRole: null,
  claimedRoleSince: at(100), hasSubscription: null, claimsAt: at(100),
};
const claims = (more: Partial<Claims>): Claims => ({ sub: 'ada', emailVerified: false, issuedAt: 200, ...more });

describe('the account of a provider user', () => {
  // [record, known claim, claim of the token, issued at, effective role, claimed since]
  it.each<[Role, Role | null, Role | undefined, number, Role, number | undefined]>([
    ['admin', null, undefined, 200, 'admin', undefined],
    ['admin', null, 'viewer', 200, 'viewer', 200],
    ['viewer', null, 'owner', 200, 'viewer', 200],
    ['admin', 'viewer', undefined, 200, 'viewer', 100],
    ['admin', 'viewer', 'viewer', 200, 'viewer', 100],
    ['admin', 'viewer', 'owner', 200, 'admin', 200],
    ['admin', 'viewer', 'owner', 99, 'viewer', 100],
    ['admin', 'member', 'viewer', 99, 'viewer', 100],
    ['owner', 'owner', 'member', 100, 'member', 100],
    ['admin', 'viewer', 'owner', 100, 'viewer', 100],
  ])('record %s, known %s, token %s of %d: %s', (role, claimedRole, said, issuedAt, effective, since) => {
    const account = accountOf({ ...ROW, role, claimedRole }, claims({ issuedAt, ...(said === undefined ? {} : { role: said }) }));
    expect(account).toMatchObject({ person: { role: effective } });
    expect('person' in account && account.person.claimedSince).toEqual(since === undefined ? undefined : at(since));
  });

  it('is refused where it is closed, of somebody else, or of another tenant', () => {
    expect(accountOf({ ...ROW, status: 'deleted' }, claims({}))).toEqual({ refused: 'closed' });
    expect(accountOf(ROW, claims({ userId: 'usr_2' }))).toEqual({ refused: 'another_user' });
    expect(accountOf(ROW, claims({ tenantId: 'ten_2' }))).toEqual({ refused: 'foreign_tenant' });
    expect(accountOf(ROW, claims({ userId: 'usr_1', tenantId: 'org_1' }))).toMatchObject({ person: { userId: 'usr_1' } });
  });

  it('reaches the other organizations of a tenant as an owner alone, and only while the provider leaves them that', () => {
    const owner = { ...ROW, role: 'owner', reached: ['org_1', 'org_2'] } as const;
    expect(accountOf(owner, claims({}))).toMatchObject({ reached: ['org_1', 'org_2'] });
    expect(accountOf(owner, claims({ role: 'admin' }))).toMatchObject({ reached: [] });
  });

  it('has the subscription that was claimed last', () => {
    const subscriptionAfter = (known: boolean | null, said?: boolean) => {
      const account = accountOf({ ...ROW, hasSubscription: known }, claims(said === undefined ? {} : { hasSubscription: said }));
      return 'person' in account ? account.person.hasSubscription : 'refused';
    };
    expect([subscriptionAfter(null), subscriptionAfter(false), subscriptionAfter(true, false), subscriptionAfter(false, true)])
      .toEqual([undefined, false, false, true]);
  });

  // [known of second 100, token, issued at, what counts]
  it.each<[boolean | null, boolean | undefined, number | undefined, boolean | undefined]>([
    [false, true, 99, false],
    [false, true, 100, false],
    [false, true, undefined, false],
    [false, true, 101, true],
    [false, undefined, 101, false],
    [true, false, 99, false],
    [true, false, undefined, false],
    [null, true, 99, true],
    [null, false, 99, false],
  ])('known %s, token %s of %s: subscribed %s', (hasSubscription, said, issuedAt, counts) => {
    const { issuedAt: _at, ...untimed } = claims(said === undefined ? {} : { hasSubscription: said });
    const account = accountOf({ ...ROW, hasSubscription }, issuedAt === undefined ? untimed : { ...untimed, issuedAt });
    expect('person' in account && account.person.hasSubscription).toBe(counts);
  });
});

describe('what is known after claims came', () => {
  const known = { role: 'admin' as Role | null, hasSubscription: null as boolean | null, at: at(100) };

  it('changes with what a newer credential says, and keeps what it leaves out', () => {
    expect(claimsAfter(known, claims({ role: 'viewer' }), 'credential')).toEqual({ role: 'viewer', hasSubscription: null, at: at(200) });
    expect(claimsAfter(known, claims({ hasSubscription: false }), 'credential')).toMatchObject({ role: 'admin', hasSubscription: false });
    expect(claimsAfter(known, claims({}), 'credential')).toBeUndefined();
    expect(claimsAfter(known, claims({ role: 'admin' }), 'credential')).toBeUndefined();
  });

  it('is what a sign-in says, and nothing else', () => {
    expect(claimsAfter(known, claims({}), 'sign-in')).toEqual({ role: null, hasSubscription: null, at: at(200) });
    expect(claimsAfter(known, claims({ role: 'admin' }), 'sign-in')).toEqual({ role: 'admin', hasSubscription: null, at: at(200) });
  });

  it('is not changed by what is older, of two of one second by the sign-in or by what takes away', () => {
    expect(claimsAfter(known, claims({ issuedAt: 99, role: 'viewer' }), 'credential')).toBeUndefined();
    expect(claimsAfter(known, claims({ issuedAt: 100, role: 'owner' }), 'credential')).toBeUndefined();
    expect(claimsAfter(known, claims({ issuedAt: 100, role: 'viewer' }), 'credential')).toMatchObject({ role: 'viewer' });
    expect(claimsAfter(known, claims({ issuedAt: 100, hasSubscription: true }), 'credential')).toBeUndefined();
    expect(claimsAfter(known, claims({ issuedAt: 100, hasSubscription: false }), 'credential')).toMatchObject({ hasSubscription: false });
    expect(claimsAfter(known, claims({ issuedAt: 99, role: 'viewer' }), 'sign-in')).toBeUndefined();
    expect(claimsAfter(known, claims({ issuedAt: 100, role: 'viewer' }), 'sign-in')).toMatchObject({ role: 'viewer' });
  });
});

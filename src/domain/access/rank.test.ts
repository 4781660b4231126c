import { describe, expect, test } from '@jest/globals';
import { ROLES, type Role } from './access.js';
import {
  type Account, type Actor, leavesNoOwner, lowerOf, refusalToChange, refusalToClose, refusalToMake, refusalToMakeKey, refusalToManageKeys,
} from './rank.js';

const ROOT: Actor = { kind: 'root' };
const by = (role: Role, userId = 'usr_actor'): Actor => ({ kind: 'user', userId, role });
const another = (role: Role): Account => ({ id: 'usr_other', role });
const oneself = (role: Role): Account => ({ id: 'usr_actor', role });

describe('making an account', () => {
  test.each<[Role, Role[]]>([
    ['viewer', ['viewer']],
    ['member', ['viewer', 'member']],
    ['admin', ['viewer', 'member', 'admin']],
    ['owner', ['viewer', 'member', 'admin', 'owner']],
  ])('a %s gives no role above their own', (role, allowed) => {
    expect(ROLES.filter((given) => refusalToMake(by(role), given) === undefined)).toEqual(allowed);
    expect(ROLES.filter((given) => refusalToMake(by(role), given) === 'gives_above_own')).toEqual(
      ROLES.filter((given) => !allowed.includes(given)),
    );
  });

  test('root gives any', () => {
    expect(ROLES.filter((given) => refusalToMake(ROOT, given) !== undefined)).toEqual([]);
  });
});

describe('changing an account', () => {
  test.each<[string, Actor, Account, Role | undefined, string | undefined]>([
    ['an admin edits a viewer', by('admin'), another('viewer'), undefined, undefined],
    ['an admin edits an admin', by('admin'), another('admin'), undefined, undefined],
    ['an admin does not edit an owner', by('admin'), another('owner'), undefined, 'above_own'],
    ['an admin edits themselves', by('admin'), oneself('admin'), undefined, undefined],
    ['an admin raises a viewer to their own height', by('admin'), another('viewer'), 'admin', undefined],
    ['an admin raises nobody above it', by('admin'), another('viewer'), 'owner', 'gives_above_own'],
    ['an admin lowers another admin', by('admin'), another('admin'), 'viewer', undefined],
    ['an admin does not lower an owner', by('admin'), another('owner'), 'viewer', 'above_own'],
    ['an admin does not raise themselves', by('admin'), oneself('admin'), 'owner', 'own_role'],
    ['an owner does not lower themselves', by('owner'), oneself('owner'), 'admin', 'own_role'],
    ['an owner lowers another owner', by('owner'), another('owner'), 'viewer', undefined],
    ['the role that one has is no change', by('owner'), oneself('owner'), 'owner', undefined],
    ['the role that they have is no change', by('admin'), another('admin'), 'admin', undefined],
    ['root gives any role', ROOT, another('viewer'), 'owner', undefined],
    ['root takes any role', ROOT, another('owner'), 'viewer', undefined],
  ])('%s', (_, actor, account, role, wanted) => {
    expect(refusalToChange(actor, account, role)).toBe(wanted);
  });
});

describe('closing an account', () => {
  test.each<[string, Actor, Account, string | undefined]>([
    ['an admin closes an admin', by('admin'), another('admin'), undefined],
    ['an admin does not close an owner', by('admin'), another('owner'), 'above_own'],
    ['an admin closes their own', by('admin'), oneself('admin'), undefined],
    ['an owner closes an owner', by('owner'), another('owner'), undefined],
    ['root closes an owner', ROOT, another('owner'), undefined],
  ])('%s', (_, actor, account, wanted) => {
    expect(refusalToClose(actor, account)).toBe(wanted);
  });
});

describe('keys', () => {
  test.each<[string, Actor, Account, string | undefined, string | undefined]>([
    ['root for anybody', ROOT, another('owner'), undefined, undefined],
    ['a viewer: their own', by('viewer'), oneself('viewer'), undefined, undefined],
    ['a viewer: nobody else\'s', by('viewer'), another('viewer'), 'key_of_another', 'not_own_keys'],
    ['a member: nobody else\'s', by('member'), another('viewer'), 'key_of_another', 'not_own_keys'],
    ['an admin: manages a member\'s, makes none for them', by('admin'), another('member'), 'key_of_another', undefined],
    ['an admin: another admin\'s', by('admin'), another('admin'), 'key_of_another', undefined],
    ['an admin: not an owner\'s', by('admin'), another('owner'), 'key_of_another', 'above_own'],
    ['an owner: another owner\'s', by('owner'), another('owner'), 'key_of_another', undefined],
    ['an owner: their own', by('owner'), oneself('owner'), undefined, undefined],
  ])('%s', (_, actor, account, toMake, toManage) => {
    expect(refusalToMakeKey(actor, account)).toBe(toMake);
    expect(refusalToManageKeys(actor, account)).toBe(toManage);
  });
});

test.each<[string, Role, Role | 'closed', number, boolean]>([
  ['the last owner is closed', 'owner', 'closed', 0, true],
  ['the last owner is lowered', 'owner', 'admin', 0, true],
  ['the last owner stays one', 'owner', 'owner', 0, false],
  ['one of two is closed', 'owner', 'closed', 1, false],
  ['one of two is lowered', 'owner', 'viewer', 1, false],
  ['an admin is closed where nobody owns', 'admin', 'closed', 0, false],
  ['a viewer becomes the first owner', 'viewer', 'owner', 0, false],
])('%s', (_, role, after, others, wanted) => {
  expect(leavesNoOwner(another(role), after, others)).toBe(wanted);
});

test('of two roles the lower one is the same in either order', () => {
  const pairs = ROLES.flatMap((one, i) => ROLES.slice(i).map((other) => [one, other] as const));
  expect(pairs.filter(([lower, higher]) => lowerOf(lower, higher) !== lower || lowerOf(higher, lower) !== lower)).toEqual([]);
});

import { describe, expect, test } from '@jest/globals';
import type { JsonObject, JsonValue } from '../json.js';
import { newId } from '../ids.js';
import { ROLES, type Role } from './access.js';
import { type Claims, type JudgedAccount, judgeClaims, readClaims } from './claims.js';

const USER = newId('usr');
const HOME = newId('org');
const TENANT = newId('ten');

describe('claims are read', () => {
  test('all of them', () => {
    const payload: JsonObject = {
      iss: 'https://id.example', sub: 'auth0|1', user_id: USER, email: 'Ada@example.org', email_verified: true, name: ' Ada Byron ',
      preferred_username: 'ada', tenant_id: TENANT, role: 'admin', tier: 'teams', managed: true, has_subscription: false,
      iat: 1_790_000_000, exp: 1_790_000_300, groups: ['x'],
    };
    expect(readClaims(payload)).toEqual({
      sub: 'auth0|1', userId: USER, email: 'Ada@example.org', emailVerified: true, name: 'Ada Byron', tenantId: TENANT, role: 'admin',
      tier: 'teams', managed: true, hasSubscription: false, issuedAt: 1_790_000_000,
    });
  });

  test('where the provider says nothing but who it is', () => {
    expect(readClaims({ sub: '1' })).toEqual({ sub: '1', emailVerified: false });
  });

  test.each<[JsonObject, Partial<Claims>]>([
    [{ email: 'ada@example' }, { email: 'ada@example' }],
    [{ email: 'Ada <ada@example.org>', email_verified: true }, {}],
    [{ email: 'ada\u0040ex\u00e4mple.org', email_verified: true }, {}],
    [{ email: `${'a'.repeat(250)}@x.co`, email_verified: true }, {}],
    [{ email: ['ada@example.org'], email_verified: true }, {}],
    [{ email: null }, {}],
    // Some send the text; of what is only nearly said nothing follows.
    [{ email: 'ada@example.org', email_verified: 'true' }, { email: 'ada@example.org' }],
    [{ email: 'ada@example.org', email_verified: 1 }, { email: 'ada@example.org' }],
    [{ name: '', preferred_username: 'ada' }, { name: 'ada' }],
    [{ name: 'a\nb' }, {}],
    [{ name: 'a'.repeat(201) }, {}],
    [{ name: { first: 'Ada' } }, {}],
    [{ tenant_id: HOME }, { tenantId: HOME }],
    [{ tier: 'platinum', managed: 'yes' }, {}],
    [{ tier: 'enterprise' }, { tier: 'enterprise' }],
  ])('%j', (payload, wanted) => {
    expect(readClaims({ sub: '1', ...payload })).toEqual({ sub: '1', emailVerified: false, ...wanted });
  });

  test.each<[string, JsonValue | undefined]>([
    ['sub', undefined], ['sub', ''], ['sub', 7], ['sub', 'a b'], ['sub', 'a\u0000'], ['sub', 'ü'], ['sub', 'x'.repeat(256)],
    ['user_id', ''], ['user_id', null], ['user_id', HOME], ['user_id', 'usr_1'], ['user_id', [USER]],
    ['tenant_id', ''], ['tenant_id', null], ['tenant_id', USER], ['tenant_id', 'ten_*'], ['tenant_id', [TENANT]],
    ['role', 'Owner'], ['role', 'root'], ['role', 'superadmin'], ['role', ''], ['role', null], ['role', ['owner']], ['role', 'admin '],
    ['role', 0], ['has_subscription', 'true'], ['has_subscription', null], ['has_subscription', 1],
    ['iat', '1790000000'], ['iat', 1.5], ['iat', -1], ['iat', null],
  ])('%s of %j is refused', (claim, value) => {
    const { [claim]: _, ...rest }: JsonObject = { sub: '1' };
    expect(readClaims(value === undefined ? rest : { ...rest, sub: '1', [claim]: value })).toEqual({ wrong: claim });
  });
});

describe('claims are judged', () => {
  const RECORD: JudgedAccount = { userId: USER, organizationId: HOME, tenantId: TENANT, role: 'member' };
  const says = (claims: Partial<Claims>): Claims => ({ sub: '1', emailVerified: false, ...claims });

  test.each<[Partial<Claims>, Partial<JudgedAccount>, ReturnType<typeof judgeClaims>]>([
    [{}, {}, { role: 'member' }],
    [{ userId: USER, tenantId: TENANT, role: 'member' }, {}, { role: 'member' }],
    [{ tenantId: HOME }, {}, { role: 'member' }],
    [{ tenantId: HOME }, { tenantId: null }, { role: 'member' }],
    [{ userId: newId('usr') }, {}, { refused: 'another_user' }],
    [{ userId: newId('usr'), tenantId: newId('ten') }, {}, { refused: 'another_user' }],
    [{ tenantId: newId('ten') }, {}, { refused: 'foreign_tenant' }],
    [{ tenantId: newId('org') }, {}, { refused: 'foreign_tenant' }],
    [{ tenantId: TENANT }, { tenantId: null }, { refused: 'foreign_tenant' }],
    // Never obeyed: neither gives anything.
    [{ tier: 'enterprise', managed: true, hasSubscription: true }, {}, { role: 'member' }],
  ])('%#', (claims, record, wanted) => {
    expect(judgeClaims(says(claims), { ...RECORD, ...record })).toEqual(wanted);
  });

  test('a claimed role lowers and never raises, whatever the record says', () => {
    const judged = (recorded: Role, claimed: Role) => {
      const result = judgeClaims(says({ role: claimed }), { ...RECORD, role: recorded });
      return 'role' in result ? result.role : undefined;
    };
    for (const [i, recorded] of ROLES.entries()) {
      for (const [j, claimed] of ROLES.entries()) expect(judged(recorded, claimed)).toBe(ROLES[Math.min(i, j)]);
    }
  });
});

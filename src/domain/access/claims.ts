import { isId } from '../ids.js';
import type { JsonObject, JsonValue } from '../json.js';
import { ROLES, type Role } from './access.js';
import { EMAIL_ADDRESS, EMAIL_ADDRESS_MAX } from './person.js';
import { lowerOf } from './rank.js';
import { TIERS, type Tier } from './tiers.js';

/** A provider's user: at most so many ASCII characters (OpenID Connect Core 1.0, section 2), here without spaces. */
const SUBJECT = /^[\x21-\x7e]{1,255}$/;
const NAME_MAX = 200;
/** Control characters, line breaks and halves of characters. */
const NOT_OF_NAMES = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** What a verified token of the identity provider says of a person (interface, section 5). */
export interface Claims {
  readonly sub: string;
  /** Ours: it must be that of the record. */
  readonly userId?: string;
  /** In the one form that accounts have; another is as good as none. */
  readonly email?: string;
  readonly emailVerified: boolean;
  /** `name`, else `preferred_username`: how the person is called where nobody has said it. */
  readonly name?: string;
  /** A tenant, or one of its organizations. */
  readonly tenantId?: string;
  readonly role?: Role;
  readonly hasSubscription?: boolean;
  /** Unix seconds, where the token has them: of two tokens, the later one has the newer claims. */
  readonly issuedAt?: number;
  /** Read, but of no effect: a tenant's subscription is in its record. */
  readonly tier?: Tier;
  readonly managed?: boolean;
}

/** A claim whose value is none that it can have. */
export interface WrongClaim {
  readonly wrong: string;
}

/**
 * The claims of a verified token. What decides who somebody is, or what they may, must be right where it is there: a value that nobody
 * knows is refused, not ignored, or a typo at the provider would pass for a claim that is absent.
 */
export function readClaims(payload: JsonObject): Claims | WrongClaim {
  const wrong = CHECKS.find(([claim, isRight]) => !isRight(payload[claim]))?.[0];
  if (wrong !== undefined) return { wrong };
  const email = addressIn(payload['email']);
  const name = nameIn(payload['name']) ?? nameIn(payload['preferred_username']);
  const { tier, managed } = payload;
  return {
    sub: payload['sub'] as string,
    ...given('userId', payload['user_id'] as string | undefined),
    ...given('email', email),
    emailVerified: email !== undefined && payload['email_verified'] === true,
    ...given('name', name),
    ...given('tenantId', payload['tenant_id'] as string | undefined),
    ...given('role', payload['role'] as Role | undefined),
    ...given('hasSubscription', payload['has_subscription'] as boolean | undefined),
    ...given('issuedAt', payload['iat'] as number | undefined),
    ...given('tier', TIERS.find((one) => one === tier)),
    ...given('managed', typeof managed === 'boolean' ? managed : undefined),
  };
}

type Check = (value: JsonValue | undefined) => boolean;

const orAbsent = (check: Check): Check => (value) => value === undefined || check(value);

const CHECKS: readonly (readonly [string, Check])[] = [
  ['sub', (value) => typeof value === 'string' && SUBJECT.test(value)],
  ['user_id', orAbsent((value) => isId('usr', value))],
  ['tenant_id', orAbsent((value) => isId('ten', value) || isId('org', value))],
  ['role', orAbsent((value) => ROLES.some((role) => role === value))],
  ['has_subscription', orAbsent((value) => typeof value === 'boolean')],
  ['iat', orAbsent((value) => Number.isSafeInteger(value) && (value as number) >= 0)],
];

function given<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [N in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [N in Name]?: Value };
}

function addressIn(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value.length <= EMAIL_ADDRESS_MAX && EMAIL_ADDRESS.test(value) ? value : undefined;
}

function nameIn(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string' || NOT_OF_NAMES.test(value)) return undefined;
  const name = value.trim();
  return name !== '' && name.length <= NAME_MAX ? name : undefined;
}

/** An account as claims are judged against it. */
export interface JudgedAccount {
  readonly userId: string;
  readonly organizationId: string;
  /** The tenant of its organization. */
  readonly tenantId: string | null;
  readonly role: Role;
}

/** `another_user` is a credential that does not hold (401), `foreign_tenant` one that may not come in here (403). */
export type ClaimsRefusal = 'another_user' | 'foreign_tenant';

/**
 * What a person may who comes with these claims: the lower of the record's role and the claimed one; the record's where none is
 * claimed. Claims only ever take away.
 */
export function judgeClaims(claims: Claims, record: JudgedAccount): { readonly role: Role } | { readonly refused: ClaimsRefusal } {
  if (claims.userId !== undefined && claims.userId !== record.userId) return { refused: 'another_user' };
  const { tenantId } = claims;
  if (tenantId !== undefined && tenantId !== record.tenantId && tenantId !== record.organizationId) return { refused: 'foreign_tenant' };
  return { role: claims.role === undefined ? record.role : lowerOf(record.role, claims.role) };
}

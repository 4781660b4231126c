import { type Claims, judgeClaims } from '../../../../domain/access/claims.js';
import type { Role } from '../../../../domain/access/access.js';
import { lowerOf } from '../../../../domain/access/rank.js';
import type { ClaimsFrom, ProviderAccount, RefusedAccount } from '../../ports/provider-accounts.js';
import type { KnownClaims } from './identity.store.js';
import type { IdentityRow } from './provider-people.query.js';

/** The account that an identity leads to, for one who comes with these claims. */
export function accountOf(row: IdentityRow, claims: Claims): ProviderAccount | RefusedAccount {
  const { organizationId, userId } = row;
  if (row.status !== 'active') return { refused: 'closed' };
  const judged = judgeClaims(claims, row);
  if ('refused' in judged) return judged;
  const { role: claimedRole, since } = claimedBy(row, claims);
  const role = claimedRole === undefined ? row.role : lowerOf(row.role, claimedRole);
  const hasSubscription = subscriptionBy(row, claims);
  return {
    person: {
      kind: 'user', userId, organizationId, role,
      ...(claimedRole === undefined ? {} : { claimedRole, claimedSince: since }),
      ...(hasSubscription === undefined ? {} : { hasSubscription }),
    },
    // What the provider says takes the other organizations away too.
    reached: role === 'owner' ? row.reached : [],
  };
}

/** A token may be older than what was said last, and leave out what was: so much and no more is claimed then. */
function claimedBy(row: IdentityRow, { role, issuedAt }: Claims): { readonly role: Role | undefined; readonly since: Date } {
  const known = row.claimedRole ?? undefined;
  const said = issuedAt === undefined ? undefined : new Date(issuedAt * 1_000);
  if (role === undefined || role === known) return { role: known, since: row.claimedRoleSince };
  const isNewer = known === undefined || isAfter(row, issuedAt);
  const since = said === undefined || said < row.claimedRoleSince ? row.claimedRoleSince : said;
  return { role: isNewer ? role : lowerOf(role, known), since };
}

/** By the same rule: what was taken away since comes back by what is newer, and by nothing else. */
function subscriptionBy(row: IdentityRow, { hasSubscription: said, issuedAt }: Claims): boolean | undefined {
  const known = row.hasSubscription ?? undefined;
  return known === false && said === true && !isAfter(row, issuedAt) ? known : said ?? known;
}

/** Of the same second is not after it: there what takes away counts. */
function isAfter({ claimsAt }: IdentityRow, issuedAt: number | undefined): boolean {
  return issuedAt !== undefined && issuedAt * 1_000 > claimsAt.getTime();
}

/** What is known once these claims have come, and undefined where that changes nothing. */
export function claimsAfter(known: KnownClaims, claims: Claims, from: ClaimsFrom): KnownClaims | undefined {
  const at = claims.issuedAt === undefined ? known.at : new Date(claims.issuedAt * 1_000);
  const isWhole = from === 'sign-in';
  const role = claims.role ?? (isWhole ? null : known.role);
  const hasSubscription = claims.hasSubscription ?? (isWhole ? null : known.hasSubscription);
  const changes = role !== known.role || hasSubscription !== known.hasSubscription;
  // Of two tokens of the same second nobody knows which is newer: a sign-in is the last word then, and else what takes away.
  const isNewer = at > known.at || (at.getTime() === known.at.getTime() && (isWhole || takesAway(known, role, hasSubscription)));
  if (!isNewer || (!changes && !isWhole)) return undefined;
  return { role, hasSubscription, at };
}

function takesAway(known: KnownClaims, role: Role | null, hasSubscription: boolean | null): boolean {
  const isNoHigher = role === known.role || (role !== null && (known.role === null || lowerOf(role, known.role) === role));
  return isNoHigher && (hasSubscription === known.hasSubscription || hasSubscription === false);
}

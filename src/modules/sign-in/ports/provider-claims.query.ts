import { ROLES } from '../../../domain/access/access.js';

const RANKED = `array[${ROLES.map((role) => `'${role}'`).join(', ')}]`;

/**
 * Joins to a user `u` what the provider that is set says of them, as `said`, and what that leaves them, as `may`: `role`, the lower of
 * record and claim, and `role_since`. What a provider said that is set no more counts for nothing.
 *
 * @param issuer SQL of the provider's `iss`; null where there is none
 */
export const joinProviderClaims = (u: string, issuer: string): string => `
  left join user_identities said
    on said.organization_id = ${u}.organization_id and said.user_id = ${u}.id and said.issuer = ${issuer}::text
  cross join lateral (select
    case when array_position(${RANKED}, said.claimed_role::text) < array_position(${RANKED}, ${u}.role::text)
      then said.claimed_role else ${u}.role end collate "C" as role,
    case when said.claimed_role is null then ${u}.role_since else greatest(${u}.role_since, said.claimed_role_since) end
      as role_since) may`;

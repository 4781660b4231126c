import type { AgentPrincipal } from '../../../platform/auth/access/principal.js';

/** Why an agent key, or a token that it was exchanged for, is not accepted when no live key is there. */
export const DEAD_KEY = 'unknown, deleted or expired agent key';

/**
 * Why a genuine credential of an active agent is no longer accepted, or undefined. The one comparison of a token's claims, or of a key's
 * row, with the agent's present epoch and tenant.
 *
 * @param tenantId of the agent's organization
 */
export function whyCredentialDied(principal: AgentPrincipal, epoch: number, tenantId: string | null): string | undefined {
  if (epoch !== principal.epoch) return `the ${principal.credential} was revoked`;
  return principal.tenantId === undefined || principal.tenantId === tenantId ? undefined : 'the token names another tenant';
}

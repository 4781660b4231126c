import type { AgentPrincipal } from '../../../platform/auth/access/principal.js';

/**
 * Why a genuine token of an active agent is no longer accepted, or undefined. The one comparison of a token's claims with the agent's
 * present epoch and tenant.
 *
 * @param tenantId of the agent's organization
 */
export function whyTokenDied(token: AgentPrincipal, epoch: number, tenantId: string | null): string | undefined {
  if (epoch !== token.epoch) return 'the token was revoked';
  return token.tenantId === undefined || token.tenantId === tenantId ? undefined : 'the token names another tenant';
}

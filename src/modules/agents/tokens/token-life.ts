import type { AgentPrincipal } from '../../../platform/auth/access/principal.js';

/**
 * Why a genuine token of an agent in service is good for nothing any more, if it is so: the one comparison of its claims with how things
 * stand, wherever it is judged.
 *
 * @param tenantId of the agent's organization
 */
export function whyTokenDied(token: AgentPrincipal, epoch: number, tenantId: string | null): string | undefined {
  if (epoch !== token.epoch) return 'the token was revoked';
  return token.tenantId === undefined || token.tenantId === tenantId ? undefined : 'the token names another tenant';
}

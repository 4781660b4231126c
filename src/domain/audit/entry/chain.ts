/** Names one hash chain. Entries of an agent stand in the agent's own; all others in their organization's or the platform's. */
export interface ChainRef {
  readonly organizationId: string;
  readonly chain: string;
}

export const PLATFORM_ORGANIZATION = 'org_platform';

export function agentChain(organizationId: string, agentId: string): ChainRef {
  return { organizationId, chain: agentId };
}

export function organizationChain(organizationId: string): ChainRef {
  return organizationId === PLATFORM_ORGANIZATION ? platformChain() : { organizationId, chain: `sys_${organizationId}` };
}

export function platformChain(): ChainRef {
  return { organizationId: PLATFORM_ORGANIZATION, chain: 'sys_platform' };
}

/** A chain's name among those of all organizations: a transferred agent's has a segment in several. */
export function chainKey({ organizationId, chain }: ChainRef): string {
  return `${organizationId} ${chain}`;
}

export function isAgentChain(chain: string): boolean {
  return chain.startsWith('agt_');
}

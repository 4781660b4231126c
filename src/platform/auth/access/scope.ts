declare const made: unique symbol;

/**
 * The part of the data that a caller may see. Every query of a store takes one, so a query that forgot whose data it
 * reads does not compile. Only the makers below can produce it: the brand is not exported.
 */
export interface Scope {
  readonly [made]: true;
  readonly organizations: readonly string[] | 'all';
  /** Narrows everything to one agent's own. */
  readonly agentId?: string;
}

function scope(organizations: readonly string[] | 'all', agentId?: string): Scope {
  return { organizations, ...(agentId === undefined ? {} : { agentId }) } as Scope;
}

/** Everything: for root, and for the service's own sweepers and workers. */
export function scopeOfEverything(): Scope {
  return scope('all');
}

export function scopeOfOrganization(organizationId: string): Scope {
  return scope([organizationId]);
}

/** Several organizations; the first is the caller's home, where what they make goes unless they say otherwise. */
export function scopeOfOrganizations(home: string, others: readonly string[]): Scope {
  return scope([home, ...others.filter((id) => id !== home)]);
}

export function scopeOfAgent(organizationId: string, agentId: string): Scope {
  return scope([organizationId], agentId);
}

export function covers(within: Scope, row: { organizationId: string; agentId?: string | null }): boolean {
  if (within.organizations !== 'all' && !within.organizations.includes(row.organizationId)) return false;
  return within.agentId === undefined || row.agentId === within.agentId;
}

/**
 * The SQL condition of a scope over a table's columns, and its parameters, numbered from `first`.
 *
 * @param columns names of the organization's and the agent's column, qualified as the query needs them
 */
export function scopeCondition(
  within: Scope,
  columns: { organization: string; agent?: string },
  first: number,
): { sql: string; parameters: unknown[] } {
  const conditions: string[] = [];
  const parameters: unknown[] = [];
  if (within.organizations !== 'all') {
    const [only, ...others] = within.organizations;
    const isOne = others.length === 0;
    parameters.push(isOne ? only : within.organizations);
    // A list of unknown length looks dear to the planner, so that it plans anew each time.
    conditions.push(`${columns.organization} = ${isOne ? '' : 'any '}($${first + parameters.length - 1})`);
  }
  if (within.agentId !== undefined) {
    // A table without an agent's column has nothing that is an agent's own.
    if (columns.agent === undefined) return { sql: 'false', parameters: [] };
    parameters.push(within.agentId);
    conditions.push(`${columns.agent} = $${first + parameters.length - 1}`);
  }
  return { sql: conditions.length === 0 ? 'true' : conditions.join(' and '), parameters };
}

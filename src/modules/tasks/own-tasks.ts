import { type Scope, scopeCondition } from '../../platform/auth/access/scope.js';

/** An agent's own are those that it has, and those that it has given. */
export function ownTasks({ agentId, ...rest }: Scope, first: number): { sql: string; parameters: unknown[] } {
  const within = scopeCondition(rest as Scope, { organization: 't.organization_id' }, first);
  if (agentId === undefined) return within;
  const own = `$${first + within.parameters.length}`;
  return { sql: `${within.sql} and ${own} in (t.to_agent_id, t.from_agent_id)`, parameters: [...within.parameters, agentId] };
}

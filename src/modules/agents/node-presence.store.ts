import type { NamedStatement } from '../../platform/database/statements/named-statement.js';
import type { Statements } from '../../platform/database/statements/statements.js';
import { Problem } from '../../platform/http/reply/problem.js';
import type { AgentRef } from './agent.store.js';

/** What a node says of itself with a heartbeat; what it leaves out stays. */
export interface NodeState {
  /** 0 to 1. */
  readonly load?: number | undefined;
  readonly version?: string | undefined;
}

/** For how long a node counts as fresh after it was last seen, in seconds. */
export const NODE_FRESH_SECONDS = 60;

// Polls are frequent, and none of them waits for a disk: after a crash of the database a node is as fresh as its poll before.
const SEEN: NamedStatement = {
  name: 'node-seen-2',
  text: `with at_once as materialized (select set_config('synchronous_commit', 'off', true))
    update agents
    set node_last_seen = clock_timestamp(), node_load = coalesce($3, node_load), node_version = coalesce($4, node_version)
    from at_once where organization_id = $1 and id = $2 returning node_last_seen as "nodeLastSeen"`,
};

/** Says that an agent's node is there, past any unit of work: no decision rests on it, so no revision rises and no entry is left. */
export async function saySeen(statements: Statements, { organizationId, id }: AgentRef, { load, version }: NodeState = {}): Promise<Date> {
  const [row] = await statements.run<{ nodeLastSeen: Date }>(SEEN, [organizationId, id, load ?? null, version ?? null]);
  // Moved to another organization just now: this credential is dead.
  if (!row) throw new Problem('NOT_FOUND', 'There is no such agent.');
  return row.nodeLastSeen;
}

import type { Tampering } from './place.js';

/** The rows beside the log: what they say and what was recorded must be the same. */

function row(name: string, table: string, change: string): Tampering {
  return {
    name: `row: ${name}`, kinds: ['incomplete', 'gate_wrong'], judged: true, unseen: 'a file has no rows', in: 'unswept',
    deed: async ({ run, organizationId, random, log }) => {
      const rows = await run(`select id from ${table} where organization_id = $1 order by id`, [organizationId]);
      if (rows.length === 0) return undefined;
      const { id } = random.of(rows) as { id: string };
      const changed = await run(change.includes('delete') ? `${change} where organization_id = $1 and id = $2 returning 1 as one`
        : `update ${table} set ${change} where organization_id = $1 and id = $2 returning 1 as one`, [organizationId, id]);
      return changed.length === 0 ? undefined : { at: [organizationId, ...log.chainsOf(organizationId).keys()] };
    },
  };
}

export const ROWS: readonly Tampering[] = [
  row("an execution's capability", 'executions', `capability = capability || 'x'`),
  row("an execution's status", 'executions', `status = case status when 'executed' then 'failed' else 'executed' end`),
  row("an execution's definition", 'executions', `definition = repeat('A', 43)`),
  row("an execution's last entry", 'executions', `audit_id = 'audit_00000000000000000000000000'`),
  row('an execution gone', 'executions', 'delete from executions'),
  row("a request's level", 'hitl_requests', 'escalation_level = escalation_level + 1'),
  row('who decided a request', 'hitl_requests', `decided_by = coalesce(decided_by, '') || 'x'`),
  row("a request's digest", 'hitl_requests', `digest = repeat('0', length(digest))`),
  row('a request gone', 'hitl_requests', 'delete from hitl_requests'),
  row("a grant's mode", 'capability_grants', `hitl_mode = case hitl_mode when 'auto' then 'block' else 'auto' end`),
  row("a grant's version", 'capability_grants', 'version = version + 1'),
  row('a grant gone', 'capability_grants', 'delete from capability_grants'),
];

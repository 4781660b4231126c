import type { RunStatement } from '../../platform/auth/credentials/credential-source.js';
import type { SessionRef } from '../sign-in/ports/sessions.js';

/** What a recovery would end. */
export interface OpenWork {
  readonly running: number;
  readonly openRequests: number;
  readonly approved: number;
  readonly tasks: number;
  readonly effects: number;
  readonly agents: number;
  readonly sessions: number;
  readonly invitations: number;
}

/** Whether the database is held, and how many servers run on it. */
export async function serviceState(run: RunStatement): Promise<{ readonly isHeld: boolean; readonly servers: number }> {
  const [row] = await run(
    `select exists (select from instance where held_because is not null) as held, (
       select count(*)::integer from pg_stat_activity
       where datname = current_database() and application_name = 'countersign leader') as servers`, [],
  );
  return { isHeld: row!.held === true, servers: Number(row!.servers) };
}

export interface AgentInOrganization {
  readonly organizationId: string;
  readonly agentId: string;
}

export async function openWork(run: RunStatement): Promise<OpenWork> {
  const [row] = await run(
    `select (select count(*)::integer from executions where status = 'running') as running,
       (select count(*)::integer from hitl_requests where status in ('pending', 'escalated')) as open,
       (select count(*)::integer from executions e join hitl_requests q
          on q.organization_id = e.organization_id and q.id = e.hitl_request_id
        where e.status = 'pending_hitl' and q.status = 'approved') as approved,
       (select count(*)::integer from tasks where status = 'assigned') as tasks,
       (select count(*)::integer from outbox) as effects,
       (select count(*)::integer from agents) as agents,
       (select count(*)::integer from sessions where ended_at is null) as sessions,
       (select count(*)::integer from invitations where accepted_at is null and voided_at is null) as invitations`,
    [],
  );
  return {
    running: Number(row!.running), openRequests: Number(row!.open), approved: Number(row!.approved), tasks: Number(row!.tasks),
    effects: Number(row!.effects), agents: Number(row!.agents), sessions: Number(row!.sessions), invitations: Number(row!.invitations),
  };
}

/** The next open sessions. The rights of their owners may have changed since. */
export async function openSessions(run: RunStatement, limit: number): Promise<SessionRef[]> {
  return (await run(
    `select organization_id as "organizationId", id from sessions where ended_at is null order by organization_id, id limit $1`, [limit],
  )) as unknown as SessionRef[];
}

/** The next open invitations. Their inviters may have lost the right to invite since. */
export async function openInvitations(run: RunStatement, limit: number): Promise<SessionRef[]> {
  return (await run(
    `select organization_id as "organizationId", id from invitations where accepted_at is null and voided_at is null
     order by organization_id, id limit $1`,
    [limit],
  )) as unknown as SessionRef[];
}

/** The next agents that have something open, by organization and id. */
export async function agentsWithWork(run: RunStatement, after: AgentInOrganization, limit: number): Promise<AgentInOrganization[]> {
  return (await run(
    `select organization_id as "organizationId", agent_id as "agentId" from (
       select organization_id, agent_id from executions where status in ('running', 'pending_hitl')
       union select organization_id, agent_id from hitl_requests where status in ('pending', 'escalated')
       union select organization_id, to_agent_id from tasks where status = 'assigned') open
     where (organization_id, agent_id) > ($1 collate "C", $2 collate "C") order by organization_id, agent_id limit $3`,
    [after.organizationId, after.agentId, limit],
  )) as unknown as AgentInOrganization[];
}

/** The next agents whose epoch is of before a time, by organization and id. */
export async function agentsBefore(
  run: RunStatement, since: Date, after: AgentInOrganization, limit: number,
): Promise<AgentInOrganization[]> {
  return (await run(
    `select organization_id as "organizationId", id as "agentId" from agents
     where epoch < floor(extract(epoch from $1::timestamptz)) and (organization_id, id) > ($2 collate "C", $3 collate "C")
     order by organization_id, id limit $4`,
    [since, after.organizationId, after.agentId, limit],
  )) as unknown as AgentInOrganization[];
}

/** Organizations whose recovery is not recorded since a time. */
export async function organizationsToRecord(run: RunStatement, since: Date): Promise<string[]> {
  const rows = await run(
    `select o.id from organizations o where not exists (
       select from audit_entries e
       where hashtextextended((e.organization_id || ' ' || e.event) collate "C", 0)
               = hashtextextended((o.id || ' admin.recovered') collate "C", 0)
         and e.organization_id = o.id and e.event = 'admin.recovered' and e."timestamp" >= $1)
     order by o.id`,
    [since.toISOString()],
  );
  return rows.map(({ id }) => String(id));
}

/** What was ended in an organization since a time: in maintenance mode nothing else ends anything. */
export async function endedSince(
  run: RunStatement, organizationId: string, since: Date,
): Promise<{ executions: number; requests: number; tasks: number; agents: number }> {
  const [row] = await run(
    `select (select count(*)::integer from executions where organization_id = $1 and status in ('indeterminate', 'cancelled')
               and closed_at >= $2) as executions,
       (select count(*)::integer from hitl_requests where organization_id = $1 and status = 'cancelled' and decided_at >= $2) as requests,
       (select count(*)::integer from tasks where organization_id = $1 and status = 'cancelled' and ended_at >= $2) as tasks,
       (select count(*)::integer from agents
        where organization_id = $1 and epoch >= floor(extract(epoch from $2::timestamptz))) as agents`,
    [organizationId, since],
  );
  return { executions: Number(row!.executions), requests: Number(row!.requests), tasks: Number(row!.tasks), agents: Number(row!.agents) };
}

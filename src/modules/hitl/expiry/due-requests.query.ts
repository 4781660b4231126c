import { Injectable } from '@nestjs/common';
import type { TimeoutAction } from '../../../domain/gate/vocabulary.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import type { RequestRef } from '../requests/hitl-request.store.js';

export interface DueRequest extends RequestRef {
  timeoutAction: TimeoutAction;
}

/** What is due: the end of a window, or a reminder within one. */
export type DueKind = 'window' | 'reminder';

/** What a search leaves out because it was tried in vain a moment ago. */
export interface RecentFailures {
  readonly agents: readonly string[];
  readonly requests: readonly string[];
}

const COLUMNS: Record<DueKind, string> = { window: 'expires_at', reminder: 'remind_at' };
const MORE: Record<DueKind, string> = {
  window: '',
  // After the window's end nobody can act upon a reminder.
  reminder: 'and r.remind_at is not null and r.expires_at > statement_timestamp()',
};

/** Finds due requests, without locks: each is checked again under its agent's head, by the clock of that moment. */
@Injectable()
export class DueRequestsQuery {
  /**
   * Open requests that are due, taken from one organization after the other, the earliest first, so that one organization's request does
   * not wait behind another's thousands. Without stopped requests, whose deadlines are paused. `statement_timestamp()`, since an
   * index is not asked by a clock that moves.
   */
  async find(scope: Scope, kind: DueKind, limit: number, failures: RecentFailures, run: RunStatement): Promise<DueRequest[]> {
    const within = scopeCondition(scope, { organization: 'o.id', agent: 'q."agentId"' }, 4);
    const due = `r.${COLUMNS[kind]}`;
    const rows = await run(
      `with stopped as materialized (select organization_id, agent_id from stops where lifted_at is null)
       select q.* from organizations o
       cross join lateral (
         select d.*, row_number() over (order by d."dueAt") as round from (
           select r.organization_id as "organizationId", r.agent_id as "agentId", r.id, r.execution_id as "executionId",
             r.timeout_action as "timeoutAction", ${due} as "dueAt"
           from hitl_requests r
           where r.organization_id = o.id and r.status in ('pending', 'escalated') and ${due} <= statement_timestamp() ${MORE[kind]}
             and r.agent_id <> all ($2) and r.id <> all ($3)
             and not exists (select from stopped s where s.organization_id in (o.id, 'org_platform') and s.agent_id = r.agent_id)
           order by ${due} limit $1) d) q
       where not exists (select from stopped s where s.organization_id in (o.id, 'org_platform') and s.agent_id is null) and ${within.sql}
       order by q.round, q."dueAt" limit $1`,
      [limit, failures.agents, failures.requests, ...within.parameters],
    );
    return rows as unknown as DueRequest[];
  }
}

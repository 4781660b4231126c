import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { ActiveStops } from '../../organizations/stops/active-stops.query.js';
import type { HitlRequestEntity } from '../requests/hitl-request.entity.js';

/** Whose requests were paused: one agent's, an organization's, or everyone's. */
export interface PausedScope {
  organizationId: string | null;
  agentId: string | null;
}

// Parameters 1 and 2 in every statement here: organization and agent, or null for all of them.
const OPEN_IN_SCOPE = `q.status in ('pending', 'escalated')
  and ($1::text is null or q.organization_id = $1) and ($2::text is null or q.agent_id = $2)`;

// Since when a request's present window is paused: not before it opened, when it was asked or escalated, and not before the time that
// was credited already. A stop whose `made_at` lies before the end of another may have committed after it, unseen; their times are one.
const PAUSED_AT = 'greatest(paused.since, q.created_at, q.escalated_at, q.clock_credited_to)';

/** The windows of open requests are paused while a stop is in force for their agent, and go on when the last one is lifted. */
@Injectable()
export class PausedDeadlineStore {
  /**
   * Credits each open request in the scope that is no longer stopped with the time during which at least one stop was in force. A window
   * that had run out before stays over. Two stops may be lifted at once: the paused time ends with the later one, whichever of them is
   * processed last.
   *
   * @param now when the stop was lifted, as its row says
   */
  async resume(tx: Tx, { organizationId, agentId }: PausedScope, now: Date): Promise<void> {
    // Without a time limit: a stop that cannot be lifted would be worse than one that takes long to lift.
    await tx.query('set local statement_timeout = 0');
    await tx.query(
      `select count(*) from (
         select from hitl_requests q where ${OPEN_IN_SCOPE} order by q.organization_id, q.id for update) locked`,
      [organizationId, agentId],
    );
    await tx.query(
      `update hitl_requests q set expires_at = q.expires_at + (paused.until - ${PAUSED_AT}),
         remind_at = q.remind_at + (paused.until - ${PAUSED_AT}), clock_credited_to = paused.until
       from (
         select a.organization_id, a.agent_id, lower(times.paused) as since, upper(times.paused) as until
         from (select distinct q.organization_id, q.agent_id from hitl_requests q where ${OPEN_IN_SCOPE}) a
         cross join lateral (
           select unnest(range_agg(tstzrange(s.made_at, coalesce(s.lifted_at, 'infinity')))) as paused from stops s
           where s.organization_id in (a.organization_id, 'org_platform') and (s.agent_id is null or s.agent_id = a.agent_id)) times
         where lower(times.paused) <= $3 and upper(times.paused) >= $3 and upper(times.paused) <> 'infinity') paused
       where ${OPEN_IN_SCOPE} and q.organization_id = paused.organization_id and q.agent_id = paused.agent_id
         and q.expires_at > ${PAUSED_AT} and paused.until > ${PAUSED_AT}`,
      [organizationId, agentId, now],
    );
  }
}

type PausedDeadline = Pick<HitlRequestEntity, 'createdAt' | 'escalatedAt' | 'clockCreditedTo' | 'expiresAt'>;

/** When a paused request's window would end if the stop were lifted now. */
export function resumedEnd(request: PausedDeadline, { since }: ActiveStops, now: Date): Date {
  const opened = [request.createdAt, request.escalatedAt, request.clockCreditedTo].map((at) => at?.getTime() ?? 0);
  const pausedAt = Math.max(since.getTime(), ...opened);
  if (request.expiresAt.getTime() <= pausedAt) return request.expiresAt;
  return new Date(request.expiresAt.getTime() + Math.max(0, now.getTime() - pausedAt));
}

import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { ActiveStops } from '../../organizations/stops/active-stops.query.js';
import type { HitlRequestEntity } from '../requests/hitl-request.entity.js';

/** Whose requests were held: one agent's, an organization's, everyone's. */
export interface PausedScope {
  organizationId: string | null;
  agentId: string | null;
}

// Parameters 1 and 2 in every statement here: organization and agent, or null for all of them.
const OPEN_IN_SCOPE = `q.status in ('pending', 'escalated')
  and ($1::text is null or q.organization_id = $1) and ($2::text is null or q.agent_id = $2)`;

// Since when a request's present window has stood still. Not before it opened, when it was asked or escalated; and not what was
// given back: a stop whose `made_at` lies before the end of another may have committed after it, unseen, and their times are one.
const FROZEN_AT = 'greatest(held.since, q.created_at, q.escalated_at, q.clock_credited_to)';

/** The windows of open requests stand still while a stop holds their agent, and go on when the last one is lifted. */
@Injectable()
export class PausedDeadlineStore {
  /**
   * Moves the end of each open request in the scope by the time during which at least one stop has held it, where none does
   * any more. A window that had run out before stays over. Two stops may be lifted side by side: the time ends with the later
   * one, whichever of them comes here last.
   *
   * @param now when the stop was lifted, as its row says
   */
  async resume(tx: Tx, { organizationId, agentId }: PausedScope, now: Date): Promise<void> {
    // However many they are: a stop that cannot be lifted would be worse than one that takes its time.
    await tx.query('set local statement_timeout = 0');
    await tx.query(
      `select count(*) from (
         select from hitl_requests q where ${OPEN_IN_SCOPE} order by q.organization_id, q.id for update) locked`,
      [organizationId, agentId],
    );
    await tx.query(
      `update hitl_requests q set expires_at = q.expires_at + (held.until - ${FROZEN_AT}),
         remind_at = q.remind_at + (held.until - ${FROZEN_AT}), clock_credited_to = held.until
       from (
         select a.organization_id, a.agent_id, lower(times.held) as since, upper(times.held) as until
         from (select distinct q.organization_id, q.agent_id from hitl_requests q where ${OPEN_IN_SCOPE}) a
         cross join lateral (
           select unnest(range_agg(tstzrange(s.made_at, coalesce(s.lifted_at, 'infinity')))) as held from stops s
           where s.organization_id in (a.organization_id, 'org_platform') and (s.agent_id is null or s.agent_id = a.agent_id)) times
         where lower(times.held) <= $3 and upper(times.held) >= $3 and upper(times.held) <> 'infinity') held
       where ${OPEN_IN_SCOPE} and q.organization_id = held.organization_id and q.agent_id = held.agent_id
         and q.expires_at > ${FROZEN_AT} and held.until > ${FROZEN_AT}`,
      [organizationId, agentId, now],
    );
  }
}

type HeldClock = Pick<HitlRequestEntity, 'createdAt' | 'escalatedAt' | 'clockCreditedTo' | 'expiresAt'>;

/** When a held request's window would end if the stop were lifted now. */
export function resumedEnd(request: HeldClock, { since }: ActiveStops, now: Date): Date {
  const opened = [request.createdAt, request.escalatedAt, request.clockCreditedTo].map((at) => at?.getTime() ?? 0);
  const frozenAt = Math.max(since.getTime(), ...opened);
  if (request.expiresAt.getTime() <= frozenAt) return request.expiresAt;
  return new Date(request.expiresAt.getTime() + Math.max(0, now.getTime() - frozenAt));
}

import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { ExternalChannel, NotificationEvent, Priority } from '../../../domain/notifications/events.js';
import { cleanupStep, Janitor } from '../../../platform/database/janitor.service.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';

/** Where deliveries go: the receivers of an organization's channel. */
export interface Target {
  readonly organizationId: string;
  readonly channel: ExternalChannel;
}

export interface NewDelivery extends Target {
  readonly id: string;
  readonly eventId: string;
  readonly event: NotificationEvent;
  /** The user whom a mail is for; of the other channels empty. */
  readonly target: string;
  readonly priority: Priority;
  readonly hitlRequestId: string | null;
  readonly executionId: string | null;
  readonly traceparent: string | null;
  readonly occurredAt: Date;
}

/** A delivery that this worker has claimed; `attempts` is the claim's number, by which one that was lost is known. */
export interface ClaimedDelivery extends NewDelivery {
  readonly attempts: number;
  readonly createdAt: Date;
}

/** What became of a claimed delivery. `again`: after so many milliseconds; `untried`: the claim is given back as if it were not made. */
export type Settled = { readonly delivery: ClaimedDelivery; readonly code?: string } & (
  | { readonly state: 'delivered'; readonly receipt?: string }
  | { readonly state: 'superseded' | 'dead' }
  | { readonly state: 'again'; readonly afterMs: number; readonly untried?: true; readonly isOfAddressee?: true });

/** A claim holds this long; a worker that dies with it gives it back. */
export const LEASE_SECONDS = 60;
/** Ended deliveries stay to be looked at for so long. */
const KEPT_AFTER_END = '30 days';

const COLUMNS = `d.organization_id as "organizationId", d.id, d.event_id as "eventId", d.event, d.channel, d.target, d.priority,
  d.hitl_request_id as "hitlRequestId", d.execution_id as "executionId", d.traceparent, d.occurred_at as "occurredAt", d.attempts,
  d.created_at as "createdAt"`;

const ADD = `
  insert into notification_deliveries (organization_id, id, event_id, event, channel, target, priority, hitl_request_id, execution_id,
    traceparent, occurred_at, state, available_at, created_at)
  select n."organizationId", n.id, n."eventId", n.event, n.channel, n.target, n.priority, n."hitlRequestId", n."executionId",
    n.traceparent, n."occurredAt", 'waiting', now(), now()
  from json_to_recordset($1) as n("organizationId" text, id text, "eventId" bigint, event text, channel text, target text, priority text,
    "hitlRequestId" text, "executionId" text, traceparent text, "occurredAt" timestamptz)
  on conflict do nothing`;

// Steps from target to target through the index: however many deliveries wait for one, they are not read.
const DUE_TARGETS = `
  with recursive targets as (
    (select organization_id, channel from notification_deliveries where state = 'waiting' order by organization_id, channel limit 1)
    union all
    select next.organization_id, next.channel from targets t cross join lateral (
      select organization_id, channel from notification_deliveries
      where state = 'waiting' and (organization_id, channel) > (t.organization_id, t.channel)
      order by organization_id, channel limit 1) next)
  select t.organization_id as "organizationId", t.channel from targets t
  where exists (select from notification_deliveries d where d.organization_id = t.organization_id and d.channel = t.channel
    and d.state = 'waiting' and d.available_at <= statement_timestamp())`;

const CLAIM = `
  update notification_deliveries d set available_at = clock_timestamp() + make_interval(secs => $3), attempts = d.attempts + 1
  from (select organization_id, id from notification_deliveries
        where organization_id = $1 and channel = $2 and state = 'waiting' and available_at <= statement_timestamp()
        order by available_at limit $4 for update skip locked) due
  where d.organization_id = due.organization_id and d.id = due.id
  returning ${COLUMNS}`;

// A worker that was frozen past its lease changes nothing about a delivery that another one has claimed since.
const SETTLE = `
  update notification_deliveries d set state = s.state, code = s.code, receipt = s.receipt,
    attempts = d.attempts - case when s.untried then 1 else 0 end,
    available_at = clock_timestamp() + make_interval(secs => s.after),
    ended_at = case when s.state = 'waiting' then null else clock_timestamp() end
  from json_to_recordset($1) as s(organization_id text, id text, attempts integer, state text, code text, receipt text, after float8,
    untried boolean)
  where d.organization_id = s.organization_id and d.id = s.id and d.attempts = s.attempts and d.state = 'waiting'`;

/** The rows of deliveries, for whoever records them and for the worker, which is outside of any unit of work. */
@Injectable()
export class DeliveryStore {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    janitor: Janitor,
  ) {
    janitor.register(cleanupStep(`delete from notification_deliveries where (organization_id, id) in
      (select organization_id, id from notification_deliveries
       where ended_at < clock_timestamp() - interval '${KEPT_AFTER_END}' limit $1)`));
  }

  async add(tx: Tx, deliveries: readonly NewDelivery[]): Promise<void> {
    if (deliveries.length > 0) await tx.query(ADD, [JSON.stringify(deliveries)]);
  }

  /** Targets that something is due for, of the organizations in their order. */
  async dueTargets(): Promise<Target[]> {
    return this.dataSource.query<Target[]>(DUE_TARGETS);
  }

  /** The earliest for a target. Planned anew each time, since how many wait changes by orders of magnitude. */
  async claim({ organizationId, channel }: Target, limit: number): Promise<ClaimedDelivery[]> {
    const [rows] = await this.dataSource.query<[ClaimedDelivery[], number]>(CLAIM, [organizationId, channel, LEASE_SECONDS, limit]);
    return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async settle(settled: readonly Settled[]): Promise<void> {
    if (settled.length === 0) return;
    await this.dataSource.query(SETTLE, [JSON.stringify(settled.map((one) => {
      const { delivery: { organizationId, id, attempts }, code = null } = one;
      return {
        organization_id: organizationId, id, attempts, code, state: one.state === 'again' ? 'waiting' : one.state,
        receipt: one.state === 'delivered' ? one.receipt ?? null : null, after: one.state === 'again' ? one.afterMs / 1_000 : 0,
        untried: one.state === 'again' && one.untried === true,
      };
    }))]);
  }

  /** Makes one that was given up wait again, as if it were new. @returns whether there was one */
  async retry(tx: Tx, organizationId: string, id: string): Promise<boolean> {
    const rows = await tx.query(
      `update notification_deliveries set state = 'waiting', attempts = 0, code = null, ended_at = null, available_at = clock_timestamp(),
         created_at = clock_timestamp() where organization_id = $1 and id = $2 and state = 'dead' returning id`, [organizationId, id],
    );
    return rows.length > 0;
  }
}

import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import { Janitor, cleanupStep } from '../../../platform/database/janitor.service.js';
import { type EventPosition, frameOf, type HitlEvent } from './hitl-event.js';

/** Older events are deleted; a client that was away for longer loads its list anew. */
const KEPT = '24 hours';

interface EventRow {
  txid: string;
  n: string;
  at: Date;
  event: string;
  organizationId: string;
  requestId: string;
  agentId: string;
  capability: string;
  status: string;
  escalationLevel: number;
  escalatedTo: string | null;
  expiresAt: Date;
  executionId: string;
  executionStatus: string | null;
}

/** One page of events, and up to where it is complete. */
export interface EventPage {
  readonly events: readonly HitlEvent[];
  /** Everything before this position has been read, if the page was not full. */
  readonly settled: EventPosition;
  /** Whether further events are there, and wait until an older transaction has ended. */
  readonly isIncomplete: boolean;
}

/** The extent of the events that can be read. */
export interface EventRange {
  /** The first that is left, where others before it have been deleted. */
  readonly keptFrom: EventPosition | undefined;
  /** No transaction has come this far yet. */
  readonly ahead: EventPosition;
}

const COLUMNS = `e.txid::text as txid, e.n::text as n, e.at, e.event, e.organization_id as "organizationId", e.request_id as "requestId",
  e.agent_id as "agentId", e.capability, e.status, e.escalation_level as "escalationLevel", e.escalated_to as "escalatedTo",
  e.expires_at as "expiresAt", e.execution_id as "executionId", e.execution_status as "executionStatus"`;
const COLUMNS_OF_SCOPE = { organization: 'e.organization_id', agent: 'e.agent_id' };

/**
 * Reads events in the order of their positions. An event is not read while an older transaction is open: that transaction may still
 * add an event before it, which a reader who had passed that position would miss.
 */
@Injectable()
export class HitlEventsQuery {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    janitor: Janitor,
  ) {
    janitor.register(forgetOld);
  }

  /** The position from which on nothing has been readable yet. */
  async now(): Promise<EventPosition> {
    const [row] = await this.dataSource.query<[{ open: string }]>('select pg_snapshot_xmin(pg_current_snapshot())::text as open');
    return { txid: BigInt(row.open), n: 0n };
  }

  async read(scope: Scope, after: EventPosition, limit: number): Promise<EventPage> {
    const within = scopeCondition(scope, COLUMNS_OF_SCOPE, 4);
    const rows = await this.dataSource.query<({ open: string; isIncomplete: boolean } & EventRow)[]>(
      `select now.open::text as open, exists (select from hitl_events h where h.txid >= now.open) as "isIncomplete", page.*
       from (select pg_snapshot_xmin(pg_current_snapshot()) as open) now
       left join lateral (
         select ${COLUMNS} from hitl_events e
         where (e.txid, e.n) > ($1::xid8, $2::bigint) and e.txid < now.open and ${within.sql}
         order by e.txid, e.n limit $3
       ) page on true`,
      [String(after.txid), String(after.n), limit, ...within.parameters],
    );
    const { open, isIncomplete } = rows[0]!;
    return { events: rows.filter(({ txid }) => txid !== null).map(eventOf), settled: { txid: BigInt(open), n: 0n }, isIncomplete };
  }

  /** Events behind the one position and not behind the other; nothing before that other one can come any more. */
  async between(scope: Scope, after: EventPosition, upTo: EventPosition, limit: number): Promise<HitlEvent[]> {
    const within = scopeCondition(scope, COLUMNS_OF_SCOPE, 6);
    const rows = await this.dataSource.query<EventRow[]>(
      `select ${COLUMNS} from hitl_events e
       where (e.txid, e.n) > ($1::xid8, $2::bigint) and (e.txid, e.n) <= ($3::xid8, $4::bigint) and ${within.sql}
       order by e.txid, e.n limit $5`,
      [String(after.txid), String(after.n), String(upTo.txid), String(upTo.n), limit, ...within.parameters],
    );
    return rows.map(eventOf);
  }

  async range(): Promise<EventRange> {
    const [row] = await this.dataSource.query<[{ ahead: string; txid: string | null; n: string | null }]>(
      `select pg_snapshot_xmax(pg_current_snapshot())::text as ahead, first.txid::text as txid, first.n::text as n
       from (select 1) one
       left join lateral (select * from hitl_events e order by e.txid, e.n limit 1) first
         on first.at < clock_timestamp() - interval '${KEPT}'`,
    );
    return {
      keptFrom: row.txid === null ? undefined : { txid: BigInt(row.txid), n: BigInt(row.n!) },
      ahead: { txid: BigInt(row.ahead), n: 0n },
    };
  }
}

function eventOf(row: EventRow): HitlEvent {
  const { organizationId, requestId, agentId, capability, status, escalationLevel, escalatedTo, expiresAt, executionId } = row;
  const position = { txid: BigInt(row.txid), n: BigInt(row.n) };
  const data = {
    id: requestId, organizationId, agentId, capability, status, escalationLevel, escalatedTo,
    expiresAt: expiresAt.toISOString(), executionId,
    ...(row.executionStatus === null ? {} : { executionStatus: row.executionStatus }),
    at: row.at.toISOString(),
  };
  return { position, organizationId, agentId, frame: frameOf(position, row.event, data) };
}

/**
 * Deletes from the oldest event on, without a gap, and never the last of the expired ones: as long as that row exists, a reader can
 * see that the events before it are gone.
 */
const forgetOld = cleanupStep(
  `delete from hitl_events e using (
     select oldest.txid, oldest.n from (select txid, n, at from hitl_events order by txid, n limit $1 + 1) oldest
     where oldest.at < clock_timestamp() - interval '${KEPT}'
     order by oldest.txid desc, oldest.n desc limit 1) last
   where (e.txid, e.n) < (last.txid, last.n)`,
);

import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { ReservedPool } from '../database/reserved-pool.js';
import { Statements } from '../database/statements/statements.js';
import type { EffectKind } from './effects.js';
import type { OutboxRow } from './outbox-row.js';

/**
 * Claims and ends need not be on the disk when they are answered: what a crash of the database takes back is delivered again, which
 * handlers bear, and what a handler itself commits takes its claim to the disk along. Said in RETURNING, so that it is said in
 * the very transaction, and without another way to the database.
 */
const UNHURRIED = `set_config('synchronous_commit', 'off', true)`;

/** A claim holds this long; a worker that dies with it gives it back. */
const CLAIM_SECONDS = 30;
const LONGEST_PAUSE_SECONDS = 300;
const MOST_COUNTED = 10_000;

/**
 * The outbox's rows, for workers: outside of the work that wrote them. Claims skip what another worker has. What becomes of a row is
 * for whoever holds it: a worker that was frozen past its claim changes nothing about a row that another has claimed since.
 */
@Injectable()
export class OutboxStore {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly statements: Statements,
    private readonly reserve: ReservedPool,
  ) {}

  /**
   * The earliest of each kind, so many of it and so many of all together, straight from the index: however many are due, no more are read
   * than are taken. Planned anew each time, since a plan from when the outbox was empty would read a full one from end to end.
   */
  async claim(kinds: ReadonlyMap<EffectKind, number>, limit: number): Promise<OutboxRow[]> {
    const [rows] = await this.dataSource.query<[OutboxRow[], number]>(
      `update outbox o set available_at = clock_timestamp() + make_interval(secs => $2), attempts = o.attempts + 1
       from (select first.organization_id, first.id from unnest($1::text[], $4::integer[]) as k(kind, room) cross join lateral (
               select organization_id, id from outbox where kind = k.kind and available_at <= statement_timestamp()
               order by available_at limit k.room for update skip locked) first limit $3) due
       where o.organization_id = due.organization_id and o.id = due.id
       returning o.organization_id as "organizationId", o.id, o.kind, o.payload, o.attempts, o.created_at as "createdAt",
         ${UNHURRIED}`,
      [[...kinds.keys()], CLAIM_SECONDS, limit, [...kinds.values()]],
    );
    return rows;
  }

  async done({ organizationId, id, attempts }: OutboxRow): Promise<void> {
    const claimed = [organizationId, id, attempts];
    await this.statements.byKey(
      `delete from outbox where organization_id = $1 and id = $2 and attempts = $3 returning ${UNHURRIED}`, claimed,
    );
  }

  /** Planned anew each time, by how many there are. */
  async allDone(rows: readonly OutboxRow[]): Promise<void> {
    await this.dataSource.query(
      `delete from outbox o using unnest($1::text[], $2::bigint[], $3::integer[]) as d(organization_id, id, attempts)
       where o.organization_id = d.organization_id and o.id = d.id and o.attempts = d.attempts returning ${UNHURRIED}`,
      [rows.map(({ organizationId }) => organizationId), rows.map(({ id }) => id), rows.map(({ attempts }) => attempts)],
    );
  }

  /** Tried again later, and later each time. */
  async later({ organizationId, id, attempts }: OutboxRow): Promise<void> {
    const pause = Math.min(LONGEST_PAUSE_SECONDS, 2 ** Math.min(attempts, 10));
    await this.statements.byKey(
      `update outbox set available_at = clock_timestamp() + make_interval(secs => $4)
       where organization_id = $1 and id = $2 and attempts = $3`,
      [organizationId, id, attempts, pause],
    );
  }

  /** Not tried any more until somebody asks for it. */
  async park({ organizationId, id, attempts }: OutboxRow): Promise<void> {
    await this.statements.byKey(
      `update outbox set available_at = 'infinity' where organization_id = $1 and id = $2 and attempts = $3`,
      [organizationId, id, attempts],
    );
  }

  /** For how many seconds the earliest effect of each kind that is due has waited; 0 where none is due. On the reserve. */
  async lags(kinds: EffectKind[]): Promise<{ kind: EffectKind; seconds: number }[]> {
    const rows = await this.reserve.run(
      `select k.kind, coalesce(extract(epoch from statement_timestamp() - first.available_at), 0)::float8 as seconds
       from unnest($1::text[]) as k(kind) left join lateral (
         select available_at from outbox where kind = k.kind and available_at <= statement_timestamp()
         order by available_at limit 1) first on true`,
      [kinds],
    );
    return rows as { kind: EffectKind; seconds: number }[];
  }

  /**
   * How many effects wait for a handler that is none of these, or were given up; 10,000 stands for more, for anybody may ask and
   * often. For readiness, hence on the reserve.
   */
  async parked(handled: EffectKind[]): Promise<number> {
    const [row] = await this.reserve.run(
      `select count(*)::integer as parked from (
         select from outbox where kind <> all ($1) or available_at = 'infinity' limit $2) counted`,
      [handled, MOST_COUNTED],
    );
    return row!.parked as number;
  }
}

import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { JsonObject } from '../../domain/json.js';
import { Reserve } from '../database/reserve.js';
import type { EffectKind } from './effects.js';

export interface OutboxRow {
  organizationId: string;
  id: string;
  kind: EffectKind;
  payload: JsonObject;
  attempts: number;
}

/** A claim holds this long; a worker that dies with it gives it back. */
const CLAIM_SECONDS = 30;
const LONGEST_PAUSE_SECONDS = 300;

/** The outbox's rows, for workers: outside of the work that wrote them. Claims skip what another worker has. */
@Injectable()
export class OutboxStore {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly reserve: Reserve,
  ) {}

  async claim(kinds: EffectKind[], limit: number): Promise<OutboxRow[]> {
    const [rows] = await this.dataSource.query<[OutboxRow[], number]>(
      `update outbox o set available_at = clock_timestamp() + make_interval(secs => $2), attempts = o.attempts + 1
       from (select organization_id, id from outbox where kind = any ($1) and available_at <= clock_timestamp()
             order by available_at limit $3 for update skip locked) due
       where o.organization_id = due.organization_id and o.id = due.id
       returning o.organization_id as "organizationId", o.id, o.kind, o.payload, o.attempts`,
      [kinds, CLAIM_SECONDS, limit],
    );
    return rows;
  }

  async done({ organizationId, id }: OutboxRow): Promise<void> {
    await this.dataSource.query('delete from outbox where organization_id = $1 and id = $2', [organizationId, id]);
  }

  /** Tried again later, and later each time. */
  async later({ organizationId, id, attempts }: OutboxRow): Promise<void> {
    const pause = Math.min(LONGEST_PAUSE_SECONDS, 2 ** Math.min(attempts, 10));
    await this.dataSource.query(
      'update outbox set available_at = clock_timestamp() + make_interval(secs => $3) where organization_id = $1 and id = $2',
      [organizationId, id, pause],
    );
  }

  /** How many effects wait for a handler that is none of these. For readiness, hence on the reserve. */
  async parked(handled: EffectKind[]): Promise<number> {
    const [row] = await this.reserve.run('select count(*)::integer as parked from outbox where kind <> all ($1)', [handled]);
    return row!.parked as number;
  }
}

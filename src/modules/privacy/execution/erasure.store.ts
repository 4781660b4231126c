import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { ERASURE_COLUMNS } from '../requests/erasures.query.js';
import type { ChainRange, Erasure, ErasureCounts, ErasureKey, ErasureCursor, ErasureState } from './erasure.js';

const COLUMNS = `${ERASURE_COLUMNS}, e.texts, e.place::text as "cursorText"`;

/** Ranges at once: an organization may have more agents than one statement should look through. */
export const RANGES_AT_ONCE = 50;

export interface ErasureStep {
  readonly cursor: ErasureCursor;
  readonly counts: ErasureCounts;
  readonly texts?: Buffer;
}

/** Erasures and their cursors. A step compares the cursor before the cursor moves, so that no step is counted twice. */
@Injectable()
export class ErasureStore {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** @throws Problem NOT_FOUND, also for an erasure of another organization */
  async findKey(scope: Scope, id: string): Promise<ErasureKey> {
    const within = scopeCondition(scope, { organization: 'e.organization_id' }, 2);
    const [row] = (await this.dataSource.query(
      `select e.organization_id as "organizationId", e.id from erasures e where e.id = $1 and ${within.sql}`, [id, ...within.parameters],
    )) as ErasureKey[];
    if (!row) throw new Problem('NOT_FOUND', 'There is no such erasure.');
    return row;
  }

  /** Erasures that run, oldest first. */
  async running(scope: Scope, limit: number): Promise<ErasureKey[]> {
    const within = scopeCondition(scope, { organization: 'e.organization_id' }, 2);
    return this.dataSource.query(
      `select e.organization_id as "organizationId", e.id from erasures e
       where e.state = 'running' and ${within.sql} order by e.asked_at, e.id limit $1`,
      [limit, ...within.parameters],
    );
  }

  async find(tx: Tx, { organizationId, id }: ErasureKey, lock = false): Promise<Erasure | undefined> {
    const [row] = await tx.query<Erasure & Record<string, unknown>>(
      `select ${COLUMNS} from erasures e where e.organization_id = $1 and e.id = $2 ${lock ? 'for update' : ''}`, [organizationId, id],
    );
    return row;
  }

  /** Of these organizations, those in which an erasure of this user has been asked for. */
  async askedFor(tx: Tx, userId: string, organizations: readonly string[]): Promise<string[]> {
    const rows = await tx.query<{ organizationId: string }>(
      `select distinct organization_id as "organizationId" from erasures where user_id = $1 and organization_id = any ($2)`,
      [userId, organizations],
    );
    return rows.map(({ organizationId }) => organizationId);
  }

  async insert(tx: Tx, erasure: Omit<Erasure, 'cursorText' | 'endedAt' | 'confirmedBy'>): Promise<void> {
    const { organizationId, id, kind, userId, texts, reason, state, askedBy, cursor, counts, askedAt } = erasure;
    await tx.query(
      `insert into erasures (organization_id, id, kind, user_id, texts, reason, state, asked_by, place, counts, asked_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [organizationId, id, kind, userId, texts, reason, state, askedBy, JSON.stringify(cursor), JSON.stringify(counts), askedAt],
    );
  }

  /** Moves the cursor. @returns false where somebody else has moved the cursor meanwhile */
  async advance(tx: Tx, { organizationId, id, cursorText }: Erasure, { cursor, counts, texts }: ErasureStep): Promise<boolean> {
    const moved = await tx.query(
      `update erasures set place = $4, counts = $5, texts = coalesce($6, texts)
       where organization_id = $1 and id = $2 and state = 'running' and place::text = $3 returning id`,
      [organizationId, id, cursorText, JSON.stringify(cursor), JSON.stringify(counts), texts ?? null],
    );
    return moved.length > 0;
  }

  /**
   * Committed values that the same person has had erased by texts in an organization within a day, by other erasures that nobody
   * confirmed. Erasures of users by themselves count for everybody.
   */
  async erasedAlone(tx: Tx, { organizationId, id, askedBy }: Pick<Erasure, 'organizationId' | 'id' | 'askedBy'>): Promise<number> {
    const [row] = await tx.query<{ values: string }>(
      `select coalesce(sum((counts ->> 'byText')::bigint), 0) as values from erasures
       where organization_id = $1 and id <> $2 and (asked_by = $3 or asked_by = user_id) and confirmed_by is null
         and asked_at > clock_timestamp() - interval '1 day'`,
      [organizationId, id, askedBy],
    );
    return Number(row!.values);
  }

  /** Sets the positions that the present round searches up to: those of the chains now. */
  async setScope(tx: Tx, { organizationId, id }: ErasureKey): Promise<void> {
    await tx.query(
      `update erasures set target = coalesce(
         (select json_object_agg(chain, seq) from audit_heads where organization_id = $1 and seq > 0), '{}')
       where organization_id = $1 and id = $2`,
      [organizationId, id],
    );
  }

  /** Marks the scope of the round as searched; or nothing, where there are more texts to search for. */
  async markSearched(tx: Tx, { organizationId, id }: ErasureKey, what: 'scope' | 'nothing'): Promise<void> {
    await tx.query(
      `update erasures set covered = case when $3 then target else '{}' end where organization_id = $1 and id = $2`,
      [organizationId, id, what === 'scope'],
    );
  }

  /** Parts of chains that the present round has not searched yet, from a chain on. */
  async unsearched(tx: Tx, { organizationId, id }: ErasureKey, from = ''): Promise<ChainRange[]> {
    return ranged(await tx.query(
      `select t.key as chain, coalesce(c.value::bigint, 0)::text as low, t.value as high
       from erasures e cross join lateral json_each_text(e.target) t left join lateral json_each_text(e.covered) c on c.key = t.key
       where e.organization_id = $1 and e.id = $2 and t.key collate "C" >= $3 and t.value::bigint > coalesce(c.value::bigint, 0)
       order by t.key collate "C" limit ${RANGES_AT_ONCE}`,
      [organizationId, id, from],
    ));
  }

  /** Parts of chains that came after what was searched, from a chain on. */
  async newEntries(tx: Tx, { organizationId, id }: ErasureKey, from = ''): Promise<ChainRange[]> {
    return ranged(await tx.query(
      `with covered as (select c.key, c.value::bigint as seq from erasures e cross join lateral json_each_text(e.covered) c
                        where e.organization_id = $1 and e.id = $2)
       select h.chain, coalesce(c.seq, 0)::text as low, h.seq::text as high
       from audit_heads h left join covered c on c.key = h.chain
       where h.organization_id = $1 and h.chain > $3 and h.seq > coalesce(c.seq, 0) order by h.chain limit ${RANGES_AT_ONCE}`,
      [organizationId, id, from],
    ));
  }

  async setState(tx: Tx, { organizationId, id }: ErasureKey, state: ErasureState, confirmedBy?: string): Promise<void> {
    await tx.query(
      `update erasures set state = $3, confirmed_by = coalesce($4, confirmed_by) where organization_id = $1 and id = $2`,
      [organizationId, id, state, confirmedBy ?? null],
    );
  }

  /** Replaces disclosures. @returns how many entries still had the disclosures that were read */
  async blank(tx: Tx, organizationId: string, changes: readonly { id: string; before: string; after: string }[]): Promise<number> {
    const [row] = await tx.query<{ count: number }>('select erase_disclosures_v1($1, $2, $3, $4) as count', [
      organizationId, changes.map(({ id }) => id), changes.map(({ before }) => before), changes.map(({ after }) => after),
    ]);
    return row!.count;
  }

  /** Ends the erasure and forgets its texts. */
  async end(tx: Tx, { organizationId, id }: ErasureKey): Promise<void> {
    await tx.query(
      `update erasures set state = 'done', texts = null, covered = '{}', target = '{}', ended_at = clock_timestamp()
       where organization_id = $1 and id = $2`,
      [organizationId, id],
    );
  }

  /** Declines erasures that nobody has confirmed in time, and forgets their texts. */
  async decline(scope: Scope, days: number): Promise<void> {
    const within = scopeCondition(scope, { organization: 'organization_id' }, 2);
    await this.dataSource.query(
      `update erasures set state = 'declined', texts = null, reason = null, ended_at = clock_timestamp()
       where state = 'unconfirmed' and asked_at < clock_timestamp() - make_interval(days => $1) and ${within.sql}`,
      [days, ...within.parameters],
    );
  }
}

function ranged(rows: { chain?: unknown; low?: unknown; high?: unknown }[]): ChainRange[] {
  return rows.map(({ chain, low, high }) => ({ chain: String(chain), low: Number(low), high: Number(high) }));
}

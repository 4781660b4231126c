import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { PLATFORM_ORGANIZATION } from '../../../domain/audit/entry/chain.js';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { pageOf } from '../../../platform/database/statements/paged.js';
import type { Page, PageRequest } from '../../../platform/http/fields/pagination.js';
import type { ErasureListQuery } from '../erasures.dto.js';
import type { Erasure, ErasureKey } from '../execution/erasure.js';

/** An erasure without its texts. */
export type ErasureRow = Omit<Erasure, 'texts' | 'cursorText'>;

export const ERASURE_COLUMNS = `e.organization_id as "organizationId", e.id, e.kind, e.user_id as "userId", e.reason, e.state,
  e.asked_by as "askedBy", e.confirmed_by as "confirmedBy", e.place as cursor, e.counts, e.asked_at as "askedAt", e.ended_at as "endedAt"`;

@Injectable()
export class ErasuresQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async list(scope: Scope, { state, userId, organizationId }: ErasureListQuery, page: PageRequest): Promise<Page<ErasureRow>> {
    const within = scopeCondition(scope, { organization: 'e.organization_id' }, 4);
    const where = `($1::text is null or e.state = $1) and ($2::text is null or e.user_id = $2)
      and ($3::text is null or e.organization_id = $3) and ${within.sql}`;
    const parameters = [state ?? null, userId ?? null, organizationId ?? null, ...within.parameters];
    return pageOf<ErasureRow>(this.dataSource, { columns: ERASURE_COLUMNS, from: 'erasures e', where, parameters, id: 'e.id' }, page);
  }

  /** Erasures that were asked for together. */
  async these(scope: Scope, keys: readonly ErasureKey[]): Promise<ErasureRow[]> {
    const within = scopeCondition(scope, { organization: 'e.organization_id' }, 2);
    return this.dataSource.query(`select ${ERASURE_COLUMNS} from erasures e where e.id = any ($1) and ${within.sql} order by e.id`, [
      keys.map(({ id }) => id), ...within.parameters,
    ]);
  }

  /** Organizations of the scope whose log names the user; the platform's own among them where the scope is everything. */
  async organizationsNaming(tx: Tx, scope: Scope, userId: string): Promise<string[]> {
    const within = scopeCondition(scope, { organization: 'o.id' }, 3);
    const rows = await tx.query<{ id: string }>(
      `select o.id from (select id from organizations union all select $2) o
       where ${within.sql} and exists (select from audit_subjects s where s.organization_id = o.id and s.user_id = $1) order by o.id`,
      [userId, PLATFORM_ORGANIZATION, ...within.parameters],
    );
    return rows.map(({ id }) => id);
  }
}

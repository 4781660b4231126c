import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { StopRole, StopScope } from '../../../domain/access/stops.js';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';

export interface Stop {
  /** The platform's own for a stop of everything. */
  organizationId: string;
  id: string;
  scope: StopScope;
  agentId: string | null;
  reason: string;
  madeBy: string;
  madeByRole: StopRole;
  madeAt: Date;
  liftedBy: string | null;
  liftedAt: Date | null;
}

export type StopRef = Pick<Stop, 'organizationId' | 'id' | 'scope' | 'agentId'>;

export const STOP_COLUMNS = `s.organization_id as "organizationId", s.id, s.scope, s.agent_id as "agentId", s.reason, s.made_by as "madeBy",
  s.made_by_role as "madeByRole", s.made_at as "madeAt", s.lifted_by as "liftedBy", s.lifted_at as "liftedAt"`;

/** A stop of everything holds the caller's agents too, so that everyone who may read stops reads it. */
export function stopsWithin(scope: Scope, first: number): { sql: string; parameters: unknown[] } {
  const within = scopeCondition(scope, { organization: 's.organization_id', agent: 's.agent_id' }, first);
  return { ...within, sql: `(s.scope = 'all' or ${within.sql})` };
}

@Injectable()
export class StopStore {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** @throws Problem NOT_FOUND, also for a stop of another organization */
  async findRef(scope: Scope, id: string): Promise<StopRef> {
    const within = stopsWithin(scope, 2);
    const [row] = await this.dataSource.query<StopRef[]>(
      `select s.organization_id as "organizationId", s.id, s.scope, s.agent_id as "agentId" from stops s where s.id = $1 and ${within.sql}`,
      [id, ...within.parameters],
    );
    if (!row) throw new Problem('NOT_FOUND', 'There is no such stop.');
    return row;
  }

  /** The row, locked until this work ends. */
  async read(tx: Tx, { organizationId, id }: StopRef): Promise<Stop> {
    const [row] = await tx.query<Stop & Record<string, unknown>>(
      `select ${STOP_COLUMNS} from stops s where s.organization_id = $1 and s.id = $2 for update`,
      [organizationId, id],
    );
    return row!;
  }

  async insert(tx: Tx, stop: Stop): Promise<void> {
    await tx.query(
      `insert into stops (organization_id, id, scope, agent_id, reason, made_by, made_by_role, made_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [stop.organizationId, stop.id, stop.scope, stop.agentId, stop.reason, stop.madeBy, stop.madeByRole, stop.madeAt],
    );
  }

  /** Whether all of the organization is stopped for this reason now. */
  async isStoppedFor(tx: Tx, organizationId: string, reason: string): Promise<boolean> {
    const rows = await tx.query(
      `select 1 from stops where organization_id = $1 and scope = 'organization' and reason = $2 and lifted_at is null`,
      [organizationId, reason],
    );
    return rows.length > 0;
  }

  async lift(tx: Tx, { organizationId, id, liftedBy, liftedAt }: Stop): Promise<void> {
    await tx.query('update stops set lifted_by = $3, lifted_at = $4 where organization_id = $1 and id = $2', [
      organizationId, id, liftedBy, liftedAt,
    ]);
  }
}

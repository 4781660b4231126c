import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Scope, scopeCondition } from '../../platform/auth/access/scope.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { Problem } from '../../platform/http/reply/problem.js';

/** The key of a team: enough to lock its organization's chain before anything of it is read. */
export interface TeamRef {
  organizationId: string;
  id: string;
}

export interface Team extends TeamRef {
  name: string;
  description: string | null;
  createdAt: Date;
  updatedAt: Date;
}

const COLUMNS = `organization_id as "organizationId", id, name, description,
  created_at as "createdAt", updated_at as "updatedAt"`;

/**
 * Rows of teams. A change of a team locks the head of its organization's chain; an agent that joins locks the head of its own
 * chain only, so joining and the team's removal are ordered by the lock of the team's row.
 */
@Injectable()
export class TeamStore {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** @throws Problem NOT_FOUND, also for a team of another organization */
  async findRef(scope: Scope, id: string): Promise<TeamRef> {
    const within = scopeCondition(scope, { organization: 't.organization_id' }, 2);
    const [row] = (await this.dataSource.query(
      `select t.organization_id as "organizationId", t.id from teams t where t.id = $1 and ${within.sql}`,
      [id, ...within.parameters],
    )) as TeamRef[];
    if (!row) throw absent();
    return row;
  }

  /** Reads the team under the lock of its organization's head. @throws Problem NOT_FOUND once it is removed */
  async read(tx: Tx, { organizationId, id }: TeamRef): Promise<Team> {
    const [team] = await tx.query<Team>(`select ${COLUMNS} from teams where organization_id = $1 and id = $2`, [
      organizationId, id,
    ]);
    if (!team) throw absent();
    return team;
  }

  /** Keeps the team from being removed until this unit of work ends; agents may still join it. @throws Problem NOT_FOUND */
  async lock(tx: Tx, { organizationId, id }: TeamRef): Promise<void> {
    const rows = await tx.query('select id from teams where organization_id = $1 and id = $2 for key share', [
      organizationId, id,
    ]);
    if (rows.length === 0) throw absent();
  }

  /** Which of these are no teams of the organization. */
  async missing(tx: Tx, organizationId: string, ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    const rows = await tx.query<{ id: string }>('select id from teams where organization_id = $1 and id = any ($2)', [organizationId, ids]);
    const found = new Set(rows.map(({ id }) => id));
    return ids.filter((id) => !found.has(id));
  }

  /** Locks the team against agents that join, after those that are joining have committed: then its agents can be counted. */
  async lockToRemove(tx: Tx, { organizationId, id }: TeamRef): Promise<void> {
    const rows = await tx.query('select id from teams where organization_id = $1 and id = $2 for update', [organizationId, id]);
    if (rows.length === 0) throw absent();
  }

  async insert(tx: Tx, team: Team): Promise<void> {
    await tx.query(
      `insert into teams (organization_id, id, name, description, created_at, updated_at) values ($1, $2, $3, $4, $5, $6)`,
      [team.organizationId, team.id, team.name, team.description, team.createdAt, team.updatedAt],
    );
  }

  async update(tx: Tx, { organizationId, id, name, description, updatedAt }: Team): Promise<void> {
    await tx.query(`update teams set name = $3, description = $4, updated_at = $5 where organization_id = $1 and id = $2`, [
      organizationId, id, name, description, updatedAt,
    ]);
  }

  /** With its memberships. */
  async remove(tx: Tx, { organizationId, id }: TeamRef): Promise<void> {
    await tx.query('delete from team_members where organization_id = $1 and team_id = $2', [organizationId, id]);
    await tx.query('delete from teams where organization_id = $1 and id = $2', [organizationId, id]);
  }
}

function absent(): Problem {
  return new Problem('NOT_FOUND', 'There is no such team.');
}

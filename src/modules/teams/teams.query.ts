import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Scope, scopeCondition } from '../../platform/auth/access/scope.js';
import { pageOf } from '../../platform/database/statements/paged.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import type { Page, PageRequest } from '../../platform/http/fields/pagination.js';
import type { TeamRole } from './member.store.js';
import type { Team, TeamRef } from './team.store.js';

export interface TeamRow extends Team {
  memberCount: number;
}

export interface MemberRow {
  userId: string;
  name: string | null;
  email: string | null;
  role: TeamRole;
  /** As JSON has it. */
  since: string;
}

export interface TeamWithMembers extends Team {
  members: MemberRow[];
}

const TEAM = `t.organization_id as "organizationId", t.id, t.name, t.description,
  t.created_at as "createdAt", t.updated_at as "updatedAt"`;

// A closed account is no member of anything, though its row may still exist.
const MEMBERS = `team_members m join users u on u.organization_id = m.organization_id and u.id = m.user_id and u.status = 'active'
  where m.organization_id = t.organization_id and m.team_id = t.id`;

const WITH_COUNT = `${TEAM}, (select count(*)::integer from ${MEMBERS}) as "memberCount"`;

const WITH_MEMBERS = `${TEAM}, (
  select coalesce(json_agg(json_build_object('userId', u.id, 'name', u.name, 'email', u.email, 'role', m.role, 'since', m.since)
    order by m.since, m.user_id), '[]')
  from ${MEMBERS}) as members`;

@Injectable()
export class TeamsQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async find(scope: Scope, id: string): Promise<TeamWithMembers | undefined> {
    const within = scopeCondition(scope, { organization: 't.organization_id' }, 2);
    const [row] = (await this.dataSource.query(`select ${WITH_MEMBERS} from teams t where t.id = $1 and ${within.sql}`, [
      id, ...within.parameters,
    ])) as TeamWithMembers[];
    return row;
  }

  /** The same within a unit of work that has changed it. */
  async readWithin(tx: Tx, { organizationId, id }: TeamRef): Promise<TeamWithMembers> {
    const [row] = await tx.query<TeamWithMembers>(
      `select ${WITH_MEMBERS} from teams t where t.organization_id = $1 and t.id = $2`,
      [organizationId, id],
    );
    return row!;
  }

  /** Newest first: ids sort by the time they were made. */
  async list(scope: Scope, filter: { organizationId?: string }, page: PageRequest): Promise<Page<TeamRow>> {
    const within = scopeCondition(scope, { organization: 't.organization_id' }, 2);
    const where = `($1::text is null or t.organization_id = $1) and ${within.sql}`;
    const parameters = [filter.organizationId ?? null, ...within.parameters];
    return pageOf(this.dataSource, { columns: WITH_COUNT, from: 'teams t', where, parameters, id: 't.id' }, page);
  }
}

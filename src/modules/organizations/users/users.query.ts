import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { Role } from '../../../domain/access/access.js';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import { pageOf } from '../../../platform/database/statements/paged.js';
import type { Page, PageRequest } from '../../../platform/http/fields/pagination.js';
import { foldedEmail } from './make-account.js';
import type { UserStatus } from './user.entity.js';

export interface UserRow {
  readonly id: string;
  readonly organizationId: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly avatarUrl: string | null;
  readonly role: Role;
  readonly status: UserStatus;
  readonly createdAt: Date;
}

export interface UserFilter {
  readonly role?: string;
  readonly status?: string;
  readonly organizationId?: string;
}

const COLUMNS = `u.id, u.organization_id as "organizationId", u.email, u.name, u.avatar_url as "avatarUrl", u.role, u.status,
  u.created_at as "createdAt"`;

@Injectable()
export class UsersQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async find(scope: Scope, id: string): Promise<UserRow | undefined> {
    const within = scopeCondition(scope, { organization: 'u.organization_id' }, 2);
    const [row] = (await this.dataSource.query(`select ${COLUMNS} from users u where u.id = $1 and ${within.sql}`, [
      id, ...within.parameters,
    ])) as UserRow[];
    return row;
  }

  /** Ids of the accounts, closed ones too, that have this address; an organization has one active account of an address at most. */
  async idsOfAddress(scope: Scope, email: string, organizationId?: string): Promise<string[]> {
    const within = scopeCondition(scope, { organization: 'u.organization_id' }, 3);
    const rows = (await this.dataSource.query(
      `select u.id from users u where u.email_folded = $1 and ($2::text is null or u.organization_id = $2) and ${within.sql}
       order by u.id desc limit 2`,
      [foldedEmail(email), organizationId ?? null, ...within.parameters],
    )) as { id: string }[];
    return rows.map(({ id }) => id);
  }

  /** Newest first: ids sort by the time they were made. Without a status: the active ones. */
  async list(scope: Scope, filter: UserFilter, page: PageRequest): Promise<Page<UserRow>> {
    const within = scopeCondition(scope, { organization: 'u.organization_id' }, 4);
    const where = `u.status = $1 and ($2::text is null or u.role = $2) and ($3::text is null or u.organization_id = $3) and ${within.sql}`;
    const parameters = [filter.status ?? 'active', filter.role ?? null, filter.organizationId ?? null, ...within.parameters];
    return pageOf<UserRow>(this.dataSource, { columns: COLUMNS, from: 'users u', where, parameters, id: 'u.id' }, page);
  }
}

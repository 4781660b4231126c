import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import { pageOf } from '../../../platform/database/statements/paged.js';
import type { Page, PageRequest } from '../../../platform/http/fields/pagination.js';

export interface PersonalKeyRow {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

const COLUMNS = `k.id, k.name, k.created_at as "createdAt", k.expires_at as "expiresAt"`;

@Injectable()
export class PersonalKeysQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** Newest first, without those that were revoked; one that has expired shows when it did. */
  async list(scope: Scope, userId: string, page: PageRequest): Promise<Page<PersonalKeyRow>> {
    const within = scopeCondition(scope, { organization: 'k.organization_id' }, 2);
    const where = `k.user_id = $1 and k.revoked_at is null and ${within.sql}`;
    const source = { columns: COLUMNS, from: 'personal_keys k', where, parameters: [userId, ...within.parameters], id: 'k.id' };
    return pageOf<PersonalKeyRow>(this.dataSource, source, page);
  }
}

import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Scope, scopeCondition } from '../../../../platform/auth/access/scope.js';

@Injectable()
export class LocalWaysQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async hasPassword(scope: Scope, userId: string): Promise<boolean> {
    const within = scopeCondition(scope, { organization: 'p.organization_id' }, 2);
    const rows = (await this.dataSource.query(
      `select 1 as one from passwords p where p.user_id = $1 and ${within.sql}`, [userId, ...within.parameters],
    )) as unknown[];
    return rows.length > 0;
  }
}

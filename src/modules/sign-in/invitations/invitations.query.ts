import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import { pageOf } from '../../../platform/database/statements/paged.js';
import type { Page, PageRequest } from '../../../platform/http/fields/pagination.js';
import type { Invitation } from './invitation.js';
import { INVITATION_COLUMNS } from './invitation.store.js';

@Injectable()
export class InvitationsQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** Newest first, until a month after they have ended. */
  list(scope: Scope, organizationId: string | undefined, page: PageRequest): Promise<Page<Invitation>> {
    const within = scopeCondition(scope, { organization: 'i.organization_id' }, 2);
    const where = `($1::text is null or i.organization_id = $1) and ${within.sql}`;
    const source = {
      columns: INVITATION_COLUMNS, from: 'invitations i', where, parameters: [organizationId ?? null, ...within.parameters], id: 'i.id',
    };
    return pageOf<Invitation>(this.dataSource, source, page);
  }
}

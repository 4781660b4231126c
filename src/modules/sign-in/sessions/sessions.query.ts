import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { Tier } from '../../../domain/access/tiers.js';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import { pageOf } from '../../../platform/database/statements/paged.js';
import type { Page, PageRequest } from '../../../platform/http/fields/pagination.js';
import type { SessionMethod, SessionRef } from '../ports/sessions.js';

export interface SessionRow {
  readonly id: string;
  readonly method: SessionMethod;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
  readonly userAgent: string | null;
  readonly address: string | null;
}

/** Where somebody is at home. */
export interface HomeRow {
  readonly id: string;
  readonly name: string;
  readonly tenantId: string | null;
  readonly tier: Tier | null;
  readonly subscriptionActive: boolean | null;
}

/** A session whose time is over, though nobody has ended it. */
export interface DueSession extends SessionRef {
  readonly idleUntil: Date;
}

const COLUMNS = `s.id, s.method, s.created_at as "createdAt", s.last_used_at as "lastUsedAt", s.expires_at as "expiresAt",
  s.user_agent as "userAgent", s.address`;
const IS_OPEN = 's.ended_at is null and s.idle_until > clock_timestamp()';

@Injectable()
export class SessionsQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** Somebody's sessions that would let them in now, newest first. */
  async list(scope: Scope, userId: string, page: PageRequest): Promise<Page<SessionRow>> {
    const within = scopeCondition(scope, { organization: 's.organization_id' }, 2);
    const where = `s.user_id = $1 and ${IS_OPEN} and ${within.sql}`;
    const source = { columns: COLUMNS, from: 'sessions s', where, parameters: [userId, ...within.parameters], id: 's.id' };
    return pageOf<SessionRow>(this.dataSource, source, page);
  }

  async find(scope: Scope, { organizationId, id }: SessionRef): Promise<SessionRow | undefined> {
    const within = scopeCondition(scope, { organization: 's.organization_id' }, 3);
    const rows = (await this.dataSource.query(
      `select ${COLUMNS} from sessions s where s.organization_id = $1 and s.id = $2 and ${IS_OPEN} and ${within.sql}`,
      [organizationId, id, ...within.parameters],
    )) as SessionRow[];
    return rows[0];
  }

  /** An organization, and what its tenant has subscribed to where it belongs to one. */
  async home(scope: Scope, organizationId: string): Promise<HomeRow | undefined> {
    const within = scopeCondition(scope, { organization: 'o.id' }, 2);
    const rows = (await this.dataSource.query(
      `select o.id, o.name, t.id as "tenantId", t.tier, t.subscription_active as "subscriptionActive"
       from organizations o left join tenants t on t.id = o.tenant_id where o.id = $1 and ${within.sql}`,
      [organizationId, ...within.parameters],
    )) as HomeRow[];
    return rows[0];
  }

  /** The next sessions whose time is over, those that have waited longest first. */
  async due(scope: Scope, after: DueSession | undefined, limit: number): Promise<DueSession[]> {
    const within = scopeCondition(scope, { organization: 's.organization_id' }, 5);
    return this.dataSource.query(
      `select s.organization_id as "organizationId", s.id, s.idle_until as "idleUntil" from sessions s
       where s.ended_at is null and s.idle_until <= clock_timestamp()
         and ($1::timestamptz is null or (s.idle_until, s.organization_id, s.id) > ($1, $2, $3)) and ${within.sql}
       order by s.idle_until, s.organization_id, s.id limit $4`,
      [after?.idleUntil ?? null, after?.organizationId ?? null, after?.id ?? null, limit, ...within.parameters],
    );
  }
}

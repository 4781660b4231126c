import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { Scope } from '../../../../platform/auth/access/scope.js';
import { organizationsHolding } from '../source/log-header.query.js';
import type { House } from './verification-places.js';

/** What is known of a part of the log before anything is begun for it. */
export abstract class VerifiedParts {
  abstract houseOf(scope: Scope): Promise<House>;
  /** Whether the agent has a chain in the part: one look into an index. */
  abstract hasChain(scope: Scope, agentId: string): Promise<boolean>;
  /** Whether anything in the part tells of the agent, were its chain's head gone. Reads the names of all leaves. */
  abstract hasTrace(scope: Scope, agentId: string): Promise<boolean>;
}

/** Who sees everything. No id looks like it. */
const EVERYTHING: House = ['everything'];

@Injectable()
export class VerifiedPartsStore extends VerifiedParts {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {
    super();
  }

  async houseOf({ organizations }: Scope): Promise<House> {
    if (organizations === 'all') return EVERYTHING;
    const rows = await this.dataSource.query<{ house: string }[]>(
      `select distinct coalesce(o.tenant_id, wanted.id) as house
       from unnest($1::text[]) as wanted(id) left join organizations o on o.id = wanted.id`,
      [organizations],
    );
    return rows.map(({ house }) => house);
  }

  async hasChain({ organizations }: Scope, agentId: string): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>(
      'select 1 from audit_heads h where h.chain = $1 and ($2::text[] is null or h.organization_id = any ($2)) limit 1',
      [agentId, organizations === 'all' ? null : organizations],
    );
    return rows.length > 0;
  }

  async hasTrace({ organizations }: Scope, agentId: string): Promise<boolean> {
    const run = (sql: string, parameters: readonly unknown[]) => this.dataSource.query<unknown[]>(sql, [...parameters]);
    return (await organizationsHolding(run, organizations === 'all' ? null : organizations, agentId)).length > 0;
  }
}

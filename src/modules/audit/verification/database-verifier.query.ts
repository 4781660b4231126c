import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { RecordKeepers } from '../../../platform/audit/record-keepers.js';
import type { Scope } from '../../../platform/auth/access/scope.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { AnchorComparison } from '../anchors/anchor-comparison.service.js';
import { isChainNamed } from './source/log-header.query.js';
import type { Verification } from './verification-result.js';
import { verifyInThread } from './verify-in-thread.js';
import { LogVerifier } from './verify-log.service.js';

/** Verifies this installation's own database: in threads of their own, by connections beside the pool. */
@Injectable()
export class DatabaseVerifier extends LogVerifier {
  constructor(
    @Inject(CONFIG) private readonly config: CompleteConfig,
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly anchors: AnchorComparison,
    private readonly keepers: RecordKeepers,
  ) {
    super();
  }

  isNamed({ organizations }: Scope, agentId: string): Promise<boolean> {
    const run = (sql: string, parameters: readonly unknown[]) => this.dataSource.query<unknown[]>(sql, [...parameters]);
    return isChainNamed(run, organizations === 'all' ? null : organizations, agentId);
  }

  async verify({ organizations }: Scope, agentId: string | undefined): Promise<Verification> {
    const { databaseUrl, auditSigningKey: seed } = this.config;
    // Before the moment at which the log is read: what an anchor has, the database must have had.
    const anchors = await this.anchors.newest();
    const keepers = this.keepers.all().map(({ definedIn }) => definedIn);
    return verifyInThread({ databaseUrl, organizations, agentId, seed, anchors, keepers });
  }
}

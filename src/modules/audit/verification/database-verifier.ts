import { Inject, Injectable } from '@nestjs/common';
import { RecordKeepers } from '../../../platform/audit/record-keepers.js';
import type { Scope } from '../../../platform/auth/access/scope.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import type { Verification } from './verification-result.js';
import { Anchors } from '../anchors/anchors.js';
import { logChecksOf } from './log-checks.js';
import { LogVerifier } from './verify-log.service.js';
import { verifyDatabase } from './verify-database.js';

/** Both cores of a small machine; more would only wait for the database. */
const THREADS = 2;
/** Calls go first. */
const NICENESS = 10;

/** Verifies this installation's own database, by connections beside the pool. */
@Injectable()
export class DatabaseVerifier extends LogVerifier {
  constructor(
    @Inject(CONFIG) private readonly config: CompleteConfig,
    private readonly anchors: Anchors,
    private readonly keepers: RecordKeepers,
  ) {
    super();
  }

  verify(scope: Scope, agentId: string | undefined, onProgress: (entries: number) => void): Promise<Verification> {
    const { organizations } = scope;
    return verifyDatabase({
      databaseUrl: this.config.databaseUrl,
      organizations,
      seed: this.config.auditSigningKey,
      ...(agentId === undefined ? {} : { agentId }),
      anchors: () => this.anchors.newest(),
      judges: (run, source) => logChecksOf(run, source, this.keepers.all(), { organizations, agentId }),
      threads: THREADS,
      niceness: NICENESS,
      onProgress,
    });
  }
}

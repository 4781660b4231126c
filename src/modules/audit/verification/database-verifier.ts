import { Inject, Injectable } from '@nestjs/common';
import type { Scope } from '../../../platform/auth/scope.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import type { Verification } from '../verification.js';
import { Anchors } from '../anchors/anchors.js';
import { LogVerifier } from '../verify-log.service.js';
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
  ) {
    super();
  }

  verify(scope: Scope, agentId: string | undefined, onProgress: (entries: number) => void): Promise<Verification> {
    return verifyDatabase({
      databaseUrl: this.config.databaseUrl,
      organizations: scope.organizations,
      ...(agentId === undefined ? {} : { agentId }),
      anchors: () => this.anchors.newest(),
      threads: THREADS,
      niceness: NICENESS,
      onProgress,
    });
  }
}

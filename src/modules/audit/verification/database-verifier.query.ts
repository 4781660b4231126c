import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { RecordKeepers } from '../../../platform/audit/record-keepers.js';
import type { Scope } from '../../../platform/auth/access/scope.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { threadPool } from '../../../platform/threads/thread-pool.js';
import { AnchorComparison } from '../anchors/anchor-comparison.service.js';
import type { AskedAnchors } from '../anchors/ask-anchors.js';
import { isChainNamed } from './source/log-header.query.js';
import type { Verification } from './verification-result.js';

export interface VerificationOrder {
  readonly databaseUrl: string;
  readonly organizations: readonly string[] | 'all';
  readonly agentId: string | undefined;
  /** Base64 of the server's own Ed25519 seed. */
  readonly seed: string;
  readonly anchors: AskedAnchors;
  /** Addresses of the modules that export a record keeper. */
  readonly keepers: readonly string[];
}

/** An error does not keep its code on the way between threads. */
export type VerificationAnswer =
  | { readonly found: Verification }
  | { readonly failed: { readonly message: string; readonly code?: string } };

/** Verifies this installation's own database: in threads of their own, by connections beside the pool. */
@Injectable()
export class DatabaseVerifier {
  constructor(
    @Inject(CONFIG) private readonly config: CompleteConfig,
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly anchors: AnchorComparison,
    private readonly keepers: RecordKeepers,
  ) {}

  /** Whether anything in these organizations names the agent: a chain's head, or a leaf of a tree. */
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

/** Verifies in a thread of its own, so that no call waits while entries and rows are compared. */
async function verifyInThread(order: VerificationOrder): Promise<Verification> {
  const thread = threadPool(new URL('./verification-thread.js', import.meta.url), { minThreads: 1, maxThreads: 1, atomics: 'disabled' });
  const answer = await (thread.run(order) as Promise<VerificationAnswer>).finally(() => thread.destroy());
  if ('found' in answer) return answer.found;
  throw Object.assign(new Error(answer.failed.message), { code: answer.failed.code });
}

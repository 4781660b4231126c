import { Global, Module } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { Hold } from '../audit/hold.js';
import { CredentialSources } from '../auth/credential-source.js';
import { CONFIG, type CompleteConfig } from '../config/config.js';
import { OutboxBell } from '../outbox/outbox-bell.js';
import { dataSourceOptions } from './data-source.js';
import { IdempotencyKeys } from './idempotency.js';
import { Janitor } from './janitor.service.js';
import { NewConnections } from './new-connections.js';
import { Leadership, LeadershipByLock } from './leadership.js';
import { Reserve } from './reserve.js';
import { StatementsOnPool } from './statements-on-pool.js';
import { Statements } from './statements.js';
import { UnitOfWork } from './unit-of-work.js';

/** Above every limit that the server side keeps for itself: past it nobody is there. */
const ANSWER_TIMEOUT_MS = 8_000;

const shared = [
  { provide: CredentialSources, useFactory: () => new CredentialSources() },
  {
    provide: Reserve,
    inject: [getDataSourceToken(), CredentialSources, IdempotencyKeys, OutboxBell, Hold],
    useFactory: (pool: DataSource, ...parts: [CredentialSources, IdempotencyKeys, OutboxBell, Hold]) =>
      Reserve.beside(pool, (reserved) => new UnitOfWork(reserved, ...parts)),
  },
  { provide: Leadership, useClass: LeadershipByLock },
  NewConnections,
  IdempotencyKeys, Janitor, OutboxBell, Statements, StatementsOnPool, UnitOfWork,
];

/** The database, and the units of work on it. Credential sources stand here because every unit of work asks them again. */
@Global()
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [CONFIG, NewConnections],
      useFactory: (config: CompleteConfig, fresh: NewConnections) => ({
        ...dataSourceOptions({
          url: config.databaseUrl, poolSize: config.databasePoolSize, answerTimeoutMs: ANSWER_TIMEOUT_MS, verify: fresh.verify,
        }),
        autoLoadEntities: true,
        // A database that is away at start is said at once; retrying in silence looks like a hang.
        retryAttempts: 0,
      }),
    }),
  ],
  providers: shared,
  exports: shared,
})
export class DatabaseModule {}

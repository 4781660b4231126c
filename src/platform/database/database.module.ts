import { Global, Logger, Module } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { MaintenanceMode } from '../audit/maintenance-mode.js';
import { CredentialSources } from '../auth/credentials/credential-source.js';
import { CONFIG, type CompleteConfig } from '../config/config.js';
import { OutboxSignal } from '../outbox/outbox-signal.js';
import { connected } from './connected.js';
import { DatabaseReadings } from './database-readings.js';
import { dataSourceOptions } from './data-source.js';
import { DatabaseFaults } from './faults/database-faults.js';
import { Heartbeat } from './faults/heartbeat.service.js';
import { IdempotencyKeys } from './transaction/idempotency.js';
import { Janitor } from './janitor.service.js';
import { NewConnections } from './new-connections.js';
import { Leadership, LeadershipByLock } from './leadership/leadership.js';
import { ReservedPool } from './reserved-pool.js';
import { StatementsOnPool } from './statements/statements-on-pool.js';
import { Statements } from './statements/statements.js';
import { UnitOfWork } from './transaction/unit-of-work.js';

/** Above every limit that the server side keeps for itself: past it nobody is there. */
const ANSWER_TIMEOUT_MS = 8_000;

const sayAtStart = (line: string): void => new Logger('Database').warn(line);

const shared = [
  { provide: CredentialSources, useFactory: () => new CredentialSources() },
  {
    provide: ReservedPool,
    inject: [getDataSourceToken(), CredentialSources, IdempotencyKeys, OutboxSignal, MaintenanceMode],
    useFactory: (pool: DataSource, ...parts: [CredentialSources, IdempotencyKeys, OutboxSignal, MaintenanceMode]) =>
      ReservedPool.beside(pool, (reserved) => new UnitOfWork(reserved, ...parts), sayAtStart),
  },
  { provide: Leadership, useClass: LeadershipByLock },
  NewConnections, DatabaseFaults, Heartbeat,
  IdempotencyKeys, Janitor, OutboxSignal, Statements, StatementsOnPool, UnitOfWork,
];

/** The database, and the units of work on it. Credential sources stand here because every unit of work asks them again. */
@Global()
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [CONFIG, NewConnections, DatabaseFaults],
      useFactory: (config: CompleteConfig, fresh: NewConnections, faults: DatabaseFaults) => ({
        ...dataSourceOptions({
          url: config.databaseUrl, poolSize: config.databasePoolSize, answerTimeoutMs: ANSWER_TIMEOUT_MS, verify: fresh.verify,
          onError: faults.note,
        }),
        autoLoadEntities: true,
        // The factory below does it, and says so once.
        retryAttempts: 0,
      }),
      dataSourceFactory: (options) => connected(() => new DataSource(options!), sayAtStart),
    }),
  ],
  providers: [...shared, DatabaseReadings],
  exports: shared,
})
export class DatabaseModule {}

import type { OnApplicationShutdown } from '@nestjs/common';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { RunStatement } from '../auth/credentials/credential-source.js';
import { connected } from './connected.js';
import type { UnitOfWork } from './transaction/unit-of-work.js';

/** Two for the sweeper, one for readiness. */
const CONNECTIONS = 3;

/** Where work is done: units of work, and single statements beside them, on the same connections. */
export interface WorkConnections {
  readonly work: UnitOfWork;
  readonly run: RunStatement;
}

/**
 * Connections that no call can use up: time still ends what it has to, and whoever asks is told how things are, while calls wait
 * for the pool.
 */
export class ReservedPool implements WorkConnections, OnApplicationShutdown {
  private constructor(
    readonly dataSource: DataSource,
    readonly work: UnitOfWork,
  ) {}

  /** @param pool of the calls: the same database, sessions and entities; `say` is called where the database has to be waited for */
  static async beside(
    pool: DataSource, workOn: (dataSource: DataSource) => UnitOfWork, say: (line: string) => void,
  ): Promise<ReservedPool> {
    // Whoever finds out whether this is the right database asks here, also while calls are refused their connections.
    const extra = { ...(pool.options.extra as object), verify: undefined };
    const options = { ...pool.options, extra, poolSize: CONNECTIONS } as DataSourceOptions;
    const dataSource = await connected(() => new DataSource(options), say);
    return new ReservedPool(dataSource, workOn(dataSource));
  }

  readonly run: RunStatement = (sql, parameters) => this.dataSource.query(sql, [...parameters]);

  /** The clock by which everything is decided. */
  async now(): Promise<Date> {
    const [row] = await this.run('select clock_timestamp() as now', []);
    return row!.now as Date;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.dataSource.destroy();
  }
}

import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { SNAPSHOT } from '../verification/source/log-source.query.js';

/** Reads the log of every organization, for a sweep. */
@Injectable()
export class RetentionSnapshot {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  readonly run: ReadStatement = (sql, parameters) => this.dataSource.query(sql, [...parameters]);

  /** Reads as of one moment, for as long as it takes, on a connection of its own. */
  async read<Result>(read: (run: ReadStatement) => Promise<Result>): Promise<Result> {
    const runner = this.dataSource.createQueryRunner();
    await runner.connect();
    try {
      await runner.startTransaction();
      for (const statement of SNAPSHOT) await runner.query(statement);
      return await read((sql, parameters) => runner.query(sql, [...parameters]) as Promise<unknown[]>);
    } finally {
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      await runner.release();
    }
  }
}

import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import type { Scope } from '../../../platform/auth/access/scope.js';

/** Reads the trees as they stand at one moment. */
@Injectable()
export class TreeSnapshots {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** @param _scope of the caller; whoever reads keeps to the organizations in it */
  async reading<Result>(_scope: Scope, read: (run: ReadStatement) => Promise<Result>): Promise<Result> {
    const runner = this.dataSource.createQueryRunner();
    await runner.connect();
    try {
      await runner.query('start transaction isolation level repeatable read, read only');
      const result = await read((sql, parameters) => runner.query(sql, [...parameters]) as Promise<unknown[]>);
      await runner.query('commit');
      return result;
    } catch (error) {
      await runner.query('rollback').catch(() => undefined);
      throw error;
    } finally {
      await runner.release();
    }
  }
}

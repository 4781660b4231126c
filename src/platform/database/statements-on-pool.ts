import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { RunStatement } from '../auth/credential-source.js';

/** Single statements outside of any transaction, for looking credentials up before a scope exists. */
@Injectable()
export class StatementsOnPool {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  readonly run: RunStatement = (sql, parameters) => this.dataSource.query(sql, parameters);
}

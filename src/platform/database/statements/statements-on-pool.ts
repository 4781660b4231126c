import { Injectable } from '@nestjs/common';
import type { RunStatement } from '../../auth/credentials/credential-source.js';
import { Statements } from './statements.js';

/** Single statements outside of any transaction, for looking credentials up before a scope exists. */
@Injectable()
export class StatementsOnPool {
  constructor(readonly statements: Statements) {}

  readonly run: RunStatement = (sql, parameters) => this.statements.byKey(sql, parameters);
}

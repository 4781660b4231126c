import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import type { RunStatement } from '../auth/credentials/credential-source.js';

/** Asks of each new connection of the calls' pool whether the database behind it is still the right one, before it is used. */
@Injectable()
export class NewConnections {
  private check: (run: RunStatement) => Promise<void> = () => Promise.resolve();

  /** @param check throws for a connection that must not be used */
  onNew(check: (run: RunStatement) => Promise<void>): void {
    this.check = check;
  }

  /** For the pool. */
  readonly verify = (client: PoolClient, done: (error?: Error) => void): void => {
    const run: RunStatement = async (sql, parameters) => (await client.query<Record<string, unknown>>(sql, [...parameters])).rows;
    this.check(run).then(() => done(), (error: unknown) => done(error instanceof Error ? error : new Error(String(error))));
  };
}

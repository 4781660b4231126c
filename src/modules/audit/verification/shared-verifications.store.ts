import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Janitor, sweepBy } from '../../../platform/database/janitor.service.js';
import type { Verification } from '../verification.js';

/** A verification that has told nothing for so long has gone with its replica. */
const SILENT_SECONDS = 15;

/** What became of a verification that another replica runs: still running, its outcome, or nothing. */
export type SharedState = { readonly running: true } | { readonly outcome: Verification } | 'gone';

/** One verification of each scope at a time, over all replicas. */
export abstract class SharedVerifications {
  /** @returns whether it is the caller's to run; else when the one that runs was begun */
  abstract begin(scope: string, by: string): Promise<'ours' | { readonly begunAt: string }>;
  abstract tell(scope: string, by: string, entries: number): Promise<void>;
  /** @param outcome undefined where it could not be done */
  abstract end(scope: string, by: string, outcome: Verification | undefined): Promise<void>;
  abstract look(scope: string, begunAt: string): Promise<SharedState>;
}

@Injectable()
export class SharedVerificationsStore extends SharedVerifications {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    janitor: Janitor,
  ) {
    super();
    janitor.register(sweepBy(
      `delete from audit_verifications where scope in
         (select scope from audit_verifications where begun_at < clock_timestamp() - interval '1 day' limit $1)`,
    ));
  }

  async begin(scope: string, by: string): Promise<'ours' | { readonly begunAt: string }> {
    for (;;) {
      const ours = await this.dataSource.query<unknown[]>(BEGIN, [scope, by, SILENT_SECONDS]);
      if (ours.length > 0) return 'ours';
      const [row] = await this.dataSource.query<{ begunAt: string }[]>(
        'select begun_at::text as "begunAt" from audit_verifications where scope = $1 and ended_at is null', [scope],
      );
      if (row) return row;
    }
  }

  async tell(scope: string, by: string, entries: number): Promise<void> {
    await this.dataSource.query(
      `update audit_verifications set progress = json_build_object('at', clock_timestamp(), 'entries', $3::bigint)
       where scope = $1 and by = $2 and ended_at is null`,
      [scope, by, entries],
    );
  }

  async end(scope: string, by: string, outcome: Verification | undefined): Promise<void> {
    await this.dataSource.query(
      `update audit_verifications set outcome = $3::json, ended_at = clock_timestamp() where scope = $1 and by = $2 and ended_at is null`,
      [scope, by, outcome === undefined ? null : JSON.stringify(outcome)],
    );
  }

  async look(scope: string, begunAt: string): Promise<SharedState> {
    const [row] = await this.dataSource.query<{ running: boolean; outcome: Verification | null }[]>(
      `select outcome, ended_at is null and ${HEARD} > clock_timestamp() - make_interval(secs => $3) as running
       from audit_verifications where scope = $1 and begun_at = $2::timestamptz`,
      [scope, begunAt, SILENT_SECONDS],
    );
    if (row?.outcome) return { outcome: row.outcome };
    return row?.running ? { running: true } : 'gone';
  }
}

/** When it last said that it goes on. */
const HEARD = `coalesce((progress->>'at')::timestamptz, begun_at)`;

const BEGIN = `
  insert into audit_verifications (scope, begun_at, by) values ($1, clock_timestamp(), $2)
  on conflict (scope) do update set begun_at = clock_timestamp(), by = $2, progress = null, outcome = null, ended_at = null
    where audit_verifications.ended_at is not null
      or ${HEARD.replaceAll('progress', 'audit_verifications.progress').replace('begun_at', 'audit_verifications.begun_at')}
         <= clock_timestamp() - make_interval(secs => $3)
  returning scope`;

import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { RunStatement } from '../../../../platform/auth/credentials/credential-source.js';
import { Janitor, cleanupStep } from '../../../../platform/database/janitor.service.js';
import type { Problem } from '../../../../platform/http/reply/problem.js';
import { SealedBox } from '../../../../platform/secrets/sealed-box.js';
import type { Verification } from '../verification-result.js';

/** A verification that has told nothing for so long has gone with its replica. */
const SILENT_SECONDS = 15;
/** Nobody has told anything in the future: by so much clocks may differ, in milliseconds. */
const SKEW_MS = 5_000;

/** What became of a verification that another replica runs: still running, its outcome, nothing, or something that no replica has told. */
export type SharedState = { readonly running: true } | { readonly outcome: Verification } | 'gone' | 'doubtful';

/** Whether the caller runs it; else when the one that runs was begun, or why the caller may begin none. */
export type Begun = 'ours' | { readonly begunAt: string } | { readonly refused: Problem };

/** Takes the caller's turn in the transaction that begins. @returns why not, where the turn is not the caller's */
export type TakeTurn = (run: RunStatement) => Promise<Problem | undefined>;

interface Told {
  readonly endedAt: number;
  readonly outcome: Verification;
}

/**
 * One verification of each scope at a time, over all replicas. What they tell one another goes through the very database that is under
 * suspicion, so it is sealed: whoever owns that cannot say that all is well.
 */
export abstract class SharedVerifications {
  /** To join one that runs takes no turn. Without a turn nothing is begun, and what was told last stays. */
  abstract begin(scope: string, by: string, takeTurn: TakeTurn): Promise<Begun>;
  abstract tell(scope: string, by: string, entries: number): Promise<void>;
  /** @param outcome undefined where it could not be done */
  abstract end(scope: string, by: string, outcome: Verification | undefined): Promise<void>;
  /** @param since an outcome that had come before is an old one */
  abstract look(scope: string, begunAt: string, since: number): Promise<SharedState>;
}

@Injectable()
export class SharedVerificationsStore extends SharedVerifications {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly box: SealedBox,
    janitor: Janitor,
  ) {
    super();
    janitor.register(cleanupStep(
      `delete from audit_verifications where scope in
         (select scope from audit_verifications where begun_at < clock_timestamp() - interval '1 day' limit $1)`,
    ));
  }

  async begin(scope: string, by: string, takeTurn: TakeTurn): Promise<Begun> {
    for (;;) {
      const begun = await this.beginInTurn(scope, by, takeTurn);
      if (begun !== undefined) return begun;
      const [row] = await this.dataSource.query<{ begunAt: string }[]>(
        'select begun_at::text as "begunAt" from audit_verifications where scope = $1 and ended_at is null', [scope],
      );
      if (row) return row;
    }
  }

  /** Both or neither: whoever asks at the same time waits for the row, and then sees it run or sees it as it was. */
  private async beginInTurn(scope: string, by: string, takeTurn: TakeTurn): Promise<'ours' | { refused: Problem } | undefined> {
    const runner = this.dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      const run: RunStatement = (sql, parameters) => runner.query(sql, parameters) as ReturnType<RunStatement>;
      const isOurs = (await run(BEGIN, [scope, by, SILENT_SECONDS])).length > 0;
      const refused = isOurs ? await takeTurn(run) : undefined;
      if (isOurs && !refused) {
        await runner.commitTransaction();
        return 'ours';
      }
      await runner.rollbackTransaction();
      return refused && { refused };
    } catch (error) {
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    } finally {
      await runner.release();
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
      [scope, by, outcome === undefined ? null : JSON.stringify(this.sealed(scope, outcome))],
    );
  }

  async look(scope: string, begunAt: string, since: number): Promise<SharedState> {
    const [row] = await this.dataSource.query<{ running: boolean; outcome: unknown }[]>(
      `select outcome, ended_at is null and not ${silent('')} as running
       from audit_verifications where scope = $1 and begun_at = $2::timestamptz`,
      [scope, begunAt, SILENT_SECONDS],
    );
    if (row?.outcome) return this.opened(scope, row.outcome, since);
    return row?.running ? { running: true } : 'gone';
  }

  private sealed(scope: string, outcome: Verification): string {
    const told: Told = { endedAt: Date.now(), outcome };
    return this.box.seal('verifications', scope, Buffer.from(JSON.stringify(told))).toString('base64');
  }

  private opened(scope: string, sealed: unknown, since: number): SharedState {
    const bytes = typeof sealed === 'string' ? this.box.open('verifications', scope, Buffer.from(sealed, 'base64')) : undefined;
    if (bytes === undefined) return 'doubtful';
    const { endedAt, outcome } = JSON.parse(bytes.toString()) as Told;
    return endedAt < since - SKEW_MS || endedAt > Date.now() + SKEW_MS ? 'doubtful' : { outcome };
  }
}

/** Has not said for long that it goes on, or has said it in the future. @param table with its dot, where there are two */
function silent(table: string): string {
  const heard = `coalesce((${table}progress->>'at')::timestamptz, ${table}begun_at)`;
  return `(${heard} <= clock_timestamp() - make_interval(secs => $3) or ${heard} > clock_timestamp() + interval '1 minute')`;
}

const BEGIN = `
  insert into audit_verifications (scope, begun_at, by) values ($1, clock_timestamp(), $2)
  on conflict (scope) do update set begun_at = clock_timestamp(), by = $2, progress = null, outcome = null, ended_at = null
    where audit_verifications.ended_at is not null or ${silent('audit_verifications.')}
  returning scope`;

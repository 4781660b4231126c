import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Janitor, cleanupStep } from '../../../platform/database/janitor.service.js';

/** One verification a minute for each credential (interface, section 8). */
export const VERIFICATION_INTERVAL_SECONDS = 60;

/** When each credential last had the log verified. By the database's clock, so that replicas agree. */
@Injectable()
export class VerificationRateLimitStore {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    janitor: Janitor,
  ) {
    janitor.register(cleanupStep(
      `delete from audit_verification_rate_limits where credential in
         (select credential from audit_verification_rate_limits where begun_at < clock_timestamp() - interval '1 hour' limit $1)`,
    ));
  }

  /** @returns 0 where the credential's minute begins now, else the seconds until its last one ends */
  async take(credential: string): Promise<number> {
    const rows = await this.dataSource.query<unknown[]>(
      `insert into audit_verification_rate_limits as t (credential, begun_at) values ($1, clock_timestamp())
       on conflict (credential) do update set begun_at = clock_timestamp()
         where t.begun_at <= clock_timestamp() - make_interval(secs => $2)
       returning credential`,
      [credential, VERIFICATION_INTERVAL_SECONDS],
    );
    if (rows.length > 0) return 0;
    const [row] = await this.dataSource.query<{ seconds: number }[]>(
      `select ceil($2 - extract(epoch from clock_timestamp() - begun_at))::integer as seconds
       from audit_verification_rate_limits where credential = $1`,
      [credential, VERIFICATION_INTERVAL_SECONDS],
    );
    return Math.max(1, row?.seconds ?? 1);
  }

  /** A verification that could not be done, or found nothing to verify, counts as none. */
  async giveBack(credential: string): Promise<void> {
    await this.dataSource.query('delete from audit_verification_rate_limits where credential = $1', [credential]);
  }
}

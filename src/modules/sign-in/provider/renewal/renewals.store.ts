import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../../platform/database/transaction/tx.js';
import type { SessionRef } from '../../ports/sessions.js';

/** Seconds for which a renewal is one replica's: longer than the provider is waited for, by far. */
const LEASE_SECONDS = 30;

/** A session whose tokens this replica renews, and nobody else until the lease is over. */
export interface LeasedRenewal extends SessionRef {
  readonly userId: string;
  readonly issuer: string;
  /** Sealed. */
  readonly tokens: Buffer;
  /** Distinguishes this lease from a later one. */
  readonly lease: Date;
  /** How often in a row it has failed. */
  readonly failures: number;
}

const OF_LEASE = 'organization_id = $1 and id = $2 and renewing_until = $3 and ended_at is null';

/** Leases of renewals: a refresh token is good once, so only one server may use it. */
@Injectable()
export class RenewalsStore {
  /** @returns undefined where the renewal is not due, or another server has leased it */
  async lease(tx: Tx, { organizationId, id }: SessionRef): Promise<LeasedRenewal | undefined> {
    const [row] = await tx.query<Omit<LeasedRenewal, keyof SessionRef>>(
      `update sessions set renewing_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
       where organization_id = $1 and id = $2 and ended_at is null and idle_until > clock_timestamp()
         and provider_tokens is not null and renew_at <= clock_timestamp()
         and (renewing_until is null or renewing_until <= clock_timestamp())
       returning user_id as "userId", issuer, provider_tokens as tokens, renewing_until as lease, renew_failures as failures`,
      [organizationId, id],
    );
    return row === undefined ? undefined : { organizationId, id, ...row };
  }

  /**
   * Whether the session still waits for what this lease brings; if so, it stays as it is until this work has ended.
   */
  async isMine(tx: Tx, { organizationId, id, lease }: LeasedRenewal): Promise<boolean> {
    const rows = await tx.query(`select 1 from sessions where ${OF_LEASE} for update`, [organizationId, id, lease]);
    return rows.length > 0;
  }

  /** @param inSeconds until the next renewal; null where there can be none */
  async keep(tx: Tx, { organizationId, id, lease }: LeasedRenewal, tokens: Buffer, inSeconds: number | null): Promise<void> {
    await tx.query(
      `update sessions set provider_tokens = $4, renew_failures = 0, renewing_until = null,
         renew_at = clock_timestamp() + make_interval(secs => $5)
       where ${OF_LEASE}`,
      [organizationId, id, lease, tokens, inSeconds],
    );
  }

  async putOff(tx: Tx, { organizationId, id, lease }: LeasedRenewal, failures: number, inSeconds: number): Promise<void> {
    await tx.query(
      `update sessions set renew_failures = $4, renewing_until = null, renew_at = clock_timestamp() + make_interval(secs => $5)
       where ${OF_LEASE}`,
      [organizationId, id, lease, Math.min(failures, 30_000), inSeconds],
    );
  }
}

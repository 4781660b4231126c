import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { drainBarriers } from '../../../platform/database/transaction/locks.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { UserRef } from '../../organizations/users/user.store.js';
import type { SessionEndReason, SessionMethod, SessionRef } from '../ports/sessions.js';

export interface NewSession extends SessionRef {
  readonly userId: string;
  readonly tokenHash: string;
  readonly method: SessionMethod;
  /** Seconds. */
  readonly idle: number;
  readonly max: number;
  readonly agent: string | null;
  readonly address: string | null;
  readonly issuer: string | null;
  readonly providerSid: string | null;
  readonly providerTokens: Buffer | null;
  readonly renewAt: Date | null;
}

/** A session that ended just now, and whose it was. */
export interface EndedSession extends SessionRef {
  readonly userId: string;
}

/** One that has not been ended, though its time may be over. */
export interface OpenSession extends SessionRef {
  readonly userId: string;
  readonly providerTokens: Buffer | null;
}

const REFS = 'select * from unnest($1::text[], $2::text[])';

/** Rows of sessions. All times are the database's. */
@Injectable()
export class SessionStore {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** @returns whether there is such an account to begin one for: a closed one has none any more */
  async insert(tx: Tx, session: NewSession): Promise<boolean> {
    const { organizationId, id, userId, tokenHash, method, idle, max, agent, address, issuer, providerSid } = session;
    const rows = await tx.query(
      `insert into sessions (organization_id, id, user_id, token_hash, method, created_at, last_used_at, idle_until, expires_at,
         user_agent, address, issuer, provider_sid, provider_tokens, renew_at)
       select u.organization_id, $3, u.id, $4, $5, n.at, n.at, n.at + make_interval(secs => $6), n.at + make_interval(secs => $7),
         $8, $9, $10, $11, $12, $13
       from users u, (select clock_timestamp()::timestamptz(3) as at) n
       where u.organization_id = $1 and u.id = $2 and u.status = 'active' returning id`,
      [
        organizationId, userId, id, tokenHash, method, idle, max, agent, address, issuer, providerSid, session.providerTokens,
        session.renewAt,
      ],
    );
    return rows.length > 0;
  }

  /** Those that had not ended yet, and forgets what only they had use for. */
  async end(tx: Tx, refs: readonly SessionRef[], reason: SessionEndReason, by: string): Promise<EndedSession[]> {
    if (refs.length === 0) return [];
    return tx.query<EndedSession>(
      `with open as materialized (
         select organization_id, id from sessions where (organization_id, id) in (${REFS}) and ended_at is null
         order by organization_id, id for update)
       update sessions s set ended_at = clock_timestamp(), end_reason = $3, ended_by = $4, provider_tokens = null, renew_at = null,
         renewing_until = null
       from open where s.organization_id = open.organization_id and s.id = open.id
       returning s.organization_id as "organizationId", s.id, s.user_id as "userId"`,
      [refs.map(({ organizationId }) => organizationId), refs.map(({ id }) => id), reason, by],
    );
  }

  /** The sessions of an account that have not been ended, those that were used last first. */
  async openOf(tx: Tx, { organizationId, id }: UserRef, beyond = 0): Promise<SessionRef[]> {
    return tx.query<SessionRef>(
      `select organization_id as "organizationId", id from sessions
       where organization_id = $1 and user_id = $2 and ended_at is null order by last_used_at desc, id desc offset $3`,
      [organizationId, id, beyond],
    );
  }

  /** One session that has not been ended. */
  async readOpen(tx: Tx, { organizationId, id }: SessionRef): Promise<OpenSession | undefined> {
    const [row] = await tx.query<OpenSession>(
      `select organization_id as "organizationId", id, user_id as "userId", provider_tokens as "providerTokens" from sessions
       where organization_id = $1 and id = $2 and ended_at is null`,
      [organizationId, id],
    );
    return row;
  }

  /** Of these, those whose time is over and that nobody has ended, by what ended them. */
  async over(tx: Tx, refs: readonly SessionRef[]): Promise<{ readonly idle: SessionRef[]; readonly expired: SessionRef[] }> {
    const rows = await tx.query<SessionRef & { isExpired: boolean }>(
      `select organization_id as "organizationId", id, expires_at <= clock_timestamp() as "isExpired" from sessions
       where (organization_id, id) in (${REFS}) and ended_at is null and idle_until <= clock_timestamp()`,
      [refs.map(({ organizationId }) => organizationId), refs.map(({ id }) => id)],
    );
    return { idle: rows.filter((row) => !row.isExpired), expired: rows.filter((row) => row.isExpired) };
  }

  /** Returns when everything has ended that people of this organization had begun: a session that ended meanwhile among it. */
  async passEnded(organizationId: string): Promise<void> {
    await drainBarriers(this.dataSource, [organizationId]);
  }
}

/**
 * Says that a session was used, past any unit of work: nobody waits for it. Where another says the same just now, or ends it, this says
 * nothing; and of a session whose time is over no use makes another.
 *
 * @param idle SESSION_IDLE, in seconds
 */
export async function sayUsed(run: RunStatement, { organizationId, id }: SessionRef, idle: number): Promise<void> {
  await run(
    `update sessions s
     set last_used_at = clock_timestamp(), idle_until = least(clock_timestamp() + make_interval(secs => $3), s.expires_at)
     from (select organization_id, id from sessions where organization_id = $1 and id = $2 and ended_at is null
           and idle_until > clock_timestamp() for no key update skip locked) used
     where s.organization_id = used.organization_id and s.id = used.id`,
    [organizationId, id, idle],
  );
}

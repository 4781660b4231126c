import { Injectable } from '@nestjs/common';
import type { Role } from '../../../../domain/access/access.js';
import type { Claims } from '../../../../domain/access/claims.js';
import type { Tx } from '../../../../platform/database/transaction/tx.js';
import type { UserRef } from '../../../organizations/users/user.store.js';
import { SpentOnceStore } from '../../ports/spent-once.store.js';
import type { ProviderUser } from './account-deletions.js';

/** The first of the two numbers that an advisory lock on a provider's user is made of. */
const SUBJECT_LOCK = 4713;
/** No token is good for so long. */
const DAYS_OF_A_TOKEN = 30;
const DAY_MS = 86_400_000;

/** What the provider has said of somebody last. */
export interface KnownClaims {
  readonly role: Role | null;
  readonly hasSubscription: boolean | null;
  /** When the provider said it. */
  readonly at: Date;
}

export interface BoundAccount extends UserRef {
  readonly isActive: boolean;
}

/** Who of the provider's users has which account. */
@Injectable()
export class IdentityStore {
  constructor(private readonly spent: SpentOnceStore) {}

  /**
   * For a work that holds its heads: of two that would give the same user an account, in whatever organizations, the second waits here
   * until the first has ended.
   */
  async lockSubject(tx: Tx, issuer: string, subject: string): Promise<void> {
    await tx.query('select pg_advisory_xact_lock(hashtextextended($1, $2))', [`${issuer} ${subject}`, SUBJECT_LOCK]);
  }

  /** The account that the user comes in by, or came in by until it was closed. */
  async boundTo(tx: Tx, issuer: string, subject: string): Promise<BoundAccount | undefined> {
    const [row] = await tx.query<BoundAccount>(
      `select i.organization_id as "organizationId", i.user_id as id, u.status = 'active' as "isActive" from user_identities i
       join users u on u.organization_id = i.organization_id and u.id = i.user_id where i.subject = $1 and i.issuer = $2`,
      [subject, issuer],
    );
    return row;
  }

  async isAddressTaken(tx: Tx, organizationId: string, emailFolded: string): Promise<boolean> {
    const rows = await tx.query(
      `select 1 from users where organization_id = $1 and email_folded = $2 and status = 'active'`, [organizationId, emailFolded]);
    return rows.length > 0;
  }

  /**
   * Lets the user in by this account.
   *
   * @returns whether another of the provider's users came in by it until now
   */
  async bind(tx: Tx, { organizationId, id }: UserRef, issuer: string, claims: Claims): Promise<boolean> {
    const isReplaced = await this.unbind(tx, { organizationId, id }, issuer);
    await tx.query(
      `insert into user_identities (organization_id, user_id, issuer, subject, claimed_role, claimed_role_since, has_subscription,
         claims_at, bound_at)
       values ($1, $2, $3, $4, $5, clock_timestamp(), $6, coalesce(to_timestamp($7), clock_timestamp()), clock_timestamp())`,
      [organizationId, id, issuer, claims.sub, claims.role ?? null, claims.hasSubscription ?? null, claims.issuedAt ?? null],
    );
    return isReplaced;
  }

  /** @returns whether somebody came in by this account until now */
  async unbind(tx: Tx, { organizationId, id }: UserRef, issuer: string): Promise<boolean> {
    const before = await tx.query(
      'delete from user_identities where organization_id = $1 and user_id = $2 and issuer = $3 returning 1 as one',
      [organizationId, id, issuer],
    );
    return before.length > 0;
  }

  /**
   * Whoever came in by this account comes in by it no more, and gets no other one by what the provider has said of them until now.
   *
   * @returns who that was
   */
  async forget(tx: Tx, { organizationId, id }: UserRef): Promise<ProviderUser[]> {
    const users = await tx.query<ProviderUser>(
      'delete from user_identities where organization_id = $1 and user_id = $2 returning issuer, subject', [organizationId, id],
    );
    const until = new Date((await tx.now()).getTime() + DAYS_OF_A_TOKEN * DAY_MS);
    for (const { issuer, subject } of users) await this.spent.note(tx, 'provider-user', JSON.stringify([issuer, subject]), until);
    return users;
  }

  /** When this user's last account was erased, should that be lately. */
  async forgottenAt(tx: Tx, issuer: string, subject: string): Promise<Date | undefined> {
    const until = await this.spent.knownUntil(tx, 'provider-user', JSON.stringify([issuer, subject]));
    return until && new Date(until.getTime() - DAYS_OF_A_TOKEN * DAY_MS);
  }

  /** What was said last, where it stays so until this work ends. */
  async lockClaims(tx: Tx, { organizationId, id }: UserRef, issuer: string): Promise<KnownClaims | undefined> {
    const [known] = await tx.query<KnownClaims>(
      `select claimed_role as role, has_subscription as "hasSubscription", claims_at as at from user_identities
       where organization_id = $1 and user_id = $2 and issuer = $3 for update`,
      [organizationId, id, issuer],
    );
    return known;
  }

  async keepClaims(tx: Tx, { organizationId, id }: UserRef, issuer: string, said: KnownClaims): Promise<void> {
    await tx.query(
      `update user_identities set
         claimed_role_since = case when claimed_role is distinct from $4 then clock_timestamp() else claimed_role_since end,
         claimed_role = $4, has_subscription = $5, claims_at = $6
       where organization_id = $1 and user_id = $2 and issuer = $3`,
      [organizationId, id, issuer, said.role, said.hasSubscription, said.at],
    );
  }
}

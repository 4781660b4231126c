import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { addressNetwork } from '../../../platform/rate-limit/subjects.js';
import type { UserRef } from '../../organizations/users/user.store.js';
import type { SessionRef } from '../ports/sessions.js';

/** Whose address has accounts in more organizations than these may have to name theirs. */
const MOST_ACCOUNTS = 5;
const ADDRESSES_READ = 200;

/** An account that an e-mail address may mean. */
export interface Candidate extends UserRef {
  readonly organizationName: string;
  readonly hash: string;
  /** Whether its owner has signed in of late from where the attempt comes from. */
  readonly isKnown: boolean;
  /** Whether it is in the organization that was named, if one was. */
  readonly isMeant: boolean;
}

/** Rows of passwords, of which each account has one at most. */
@Injectable()
export class PasswordStore {
  /**
   * Accounts with a password: those that are meant, then those that have been signed in to from this network address, then the oldest,
   * so that whoever makes new ones elsewhere pushes none aside.
   *
   * @param organization id or name; an id comes first, for anybody can give an organization any name
   */
  candidates(
    tx: Tx, emailFolded: string, { organization, address }: { organization: string | undefined; address: string | undefined },
  ): Promise<Candidate[]> {
    return tx.query<Candidate>(
      `select u.organization_id as "organizationId", u.id, o.name as "organizationName", p.hash,
         $2::text is null or u.organization_id = $2 or lower(o.name) = lower($2) as "isMeant",
         coalesce($3::inet >>= any(
           array(select s.address::inet from sessions s
                 where s.organization_id = u.organization_id and s.user_id = u.id and s.address is not null
                   and s.created_at > clock_timestamp() - interval '30 days'
                 order by s.id desc limit ${ADDRESSES_READ})), false) as "isKnown"
       from users u
         join passwords p on p.organization_id = u.organization_id and p.user_id = u.id
         join organizations o on o.id = u.organization_id
       where u.email_folded = $1 and u.status = 'active'
       order by u.organization_id = $2 desc, "isMeant" desc, "isKnown" desc, u.created_at, u.id limit ${MOST_ACCOUNTS}`,
      [emailFolded, organization ?? null, address === undefined ? null : addressNetwork(address)],
    );
  }

  async read(tx: Tx, { organizationId, id }: UserRef): Promise<string | undefined> {
    const [row] = await tx.query<{ hash: string }>(
      'select hash from passwords where organization_id = $1 and user_id = $2', [organizationId, id],
    );
    return row?.hash;
  }

  /** @returns whether there was one before */
  async put(tx: Tx, { organizationId, id }: UserRef, hash: string): Promise<boolean> {
    const replaced = await tx.query(
      `update passwords set hash = $3, changed_at = clock_timestamp() where organization_id = $1 and user_id = $2 returning user_id`,
      [organizationId, id, hash],
    );
    if (replaced.length > 0) return true;
    await tx.query(
      'insert into passwords (organization_id, user_id, hash, changed_at) values ($1, $2, $3, clock_timestamp())',
      [organizationId, id, hash],
    );
    return false;
  }

  /** The same password, kept at another cost. */
  async rehash(tx: Tx, { organizationId, id }: UserRef, hash: string): Promise<void> {
    await tx.query('update passwords set hash = $3 where organization_id = $1 and user_id = $2', [organizationId, id, hash]);
  }

  /** Sessions of an account that have not ended, but for one. */
  openSessions(tx: Tx, { organizationId, id }: UserRef, but: string | undefined): Promise<SessionRef[]> {
    return tx.query<SessionRef>(
      `select organization_id as "organizationId", id from sessions
       where organization_id = $1 and user_id = $2 and ended_at is null and id is distinct from $3`,
      [organizationId, id, but ?? null],
    );
  }
}

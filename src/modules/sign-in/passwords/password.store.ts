import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/tx.js';
import type { UserPlace } from '../../organizations/user.store.js';
import type { SessionPlace } from '../seams/sessions.js';

/** Who shows the same address in this many organizations names the organization. */
const MOST_ACCOUNTS = 5;
const ADDRESSES_READ = 200;

/** An account that an e-mail address may mean. */
export interface Candidate extends UserPlace {
  readonly organizationName: string;
  readonly hash: string;
  /** Where its owner has signed in of late: network addresses. */
  readonly addresses: readonly string[];
}

/** Rows of passwords, of which each account has one at most. */
@Injectable()
export class PasswordStore {
  /** Accounts with a password, the oldest first, so that whoever makes new ones elsewhere pushes none aside. */
  candidates(tx: Tx, emailFolded: string, organizationId: string | undefined): Promise<Candidate[]> {
    return tx.query<Candidate>(
      `select u.organization_id as "organizationId", u.id, o.name as "organizationName", p.hash,
         array(select s.address from sessions s
               where s.organization_id = u.organization_id and s.user_id = u.id and s.address is not null
                 and s.created_at > clock_timestamp() - interval '30 days'
               order by s.id desc limit ${ADDRESSES_READ}) as addresses
       from users u
         join passwords p on p.organization_id = u.organization_id and p.user_id = u.id
         join organizations o on o.id = u.organization_id
       where u.email_folded = $1 and u.status = 'active' and ($2::text is null or u.organization_id = $2)
       order by u.created_at, u.id limit ${MOST_ACCOUNTS}`,
      [emailFolded, organizationId ?? null],
    );
  }

  async read(tx: Tx, { organizationId, id }: UserPlace): Promise<string | undefined> {
    const [row] = await tx.query<{ hash: string }>(
      'select hash from passwords where organization_id = $1 and user_id = $2', [organizationId, id],
    );
    return row?.hash;
  }

  /** @returns whether there was one before */
  async put(tx: Tx, { organizationId, id }: UserPlace, hash: string): Promise<boolean> {
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
  async rehash(tx: Tx, { organizationId, id }: UserPlace, hash: string): Promise<void> {
    await tx.query('update passwords set hash = $3 where organization_id = $1 and user_id = $2', [organizationId, id, hash]);
  }

  /** Sessions of an account that have not ended, but for one. */
  openSessions(tx: Tx, { organizationId, id }: UserPlace, but: string | undefined): Promise<SessionPlace[]> {
    return tx.query<SessionPlace>(
      `select organization_id as "organizationId", id from sessions
       where organization_id = $1 and user_id = $2 and ended_at is null and id is distinct from $3`,
      [organizationId, id, but ?? null],
    );
  }
}

import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../domain/audit/entry/chain.js';
import type { JsonObject } from '../../domain/json.js';
import {
  type ErasedSoFar, type ErasureTarget, type PersonalData, PersonalDataHolders,
} from '../../platform/audit/personal-data/personal-data-holders.js';
import { type Erasable, PersonalRows } from '../../platform/audit/personal-data/personal-rows.store.js';
import { type FoundPerson, listAbout } from '../../platform/audit/personal-data/personal-records.js';
import { classesOf, code, type Columns, digest, free, id, personal, secret } from '../../platform/audit/personal-data/personal-table.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { voidInvitations } from './invitations/void-invitations.store.js';

/** Where erasing goes on: at what is somebody's own, or behind it, at the rows that others wrote. */
const MORE_OF_OWN = 'own';
const OWN_GONE = 'own gone';

/** Tables of which each row is of one person alone. */
const OWN: readonly { readonly from: string; readonly columns: Columns }[] = [
  {
    from: 'passwords', columns: { organization_id: id, user_id: id, hash: secret },
  },
];

/** What deletes at most `$3` rows of a person, by the kind in the counts. Of all but passwords, others' are searched. */
const DELETE_OWN = {
  sessions: `delete from sessions where organization_id = $1 and id in
    (select id from sessions where organization_id = $1 and user_id = $2 limit $3) returning 1 as one`,
  passkeys: `delete from passkeys where organization_id = $1 and id in
    (select id from passkeys where organization_id = $1 and user_id = $2 limit $3) returning 1 as one`,
  passwords: `delete from passwords where organization_id = $1 and user_id in
    (select user_id from passwords where organization_id = $1 and user_id = $2 limit $3) returning 1 as one`,
  identities: `delete from user_identities where organization_id = $1 and user_id = $2 and issuer in
    (select issuer from user_identities where organization_id = $1 and user_id = $2 limit $3) returning 1 as one`,
} as const;

/** Whoever accepts or voids an invitation holds the organization's head. */
const SEARCHED: readonly Erasable[] = [
  {
    kind: 'sessions', from: 'sessions', key: { id: 'text' },
    columns: {
      organization_id: id, id, user_id: id, token_hash: secret, method: code, user_agent: free('text', { owner: 'user_id' }),
      address: free('text', { owner: 'user_id' }), issuer: code, provider_sid: digest, provider_tokens: secret, end_reason: code,
      ended_by: id,
    },
  },
  {
    kind: 'passkeys', from: 'passkeys', key: { id: 'text' },
    columns: {
      organization_id: id, id, user_id: id, credential_id: secret, public_key: secret, transports: code, device_type: code,
      name: free('text', { owner: 'user_id' }),
    },
  },
  {
    // A provider may know its people by their addresses; without it nobody would come to their account.
    kind: 'identities', from: 'user_identities', key: { user_id: 'text', issuer: 'text' },
    columns: { organization_id: id, user_id: id, issuer: code, subject: personal('user_id', { reportOnly: true }), claimed_role: code },
  },
  {
    kind: 'invitations', from: 'invitations', key: { id: 'text' }, head: organizationChain,
    columns: {
      organization_id: id, id, email: free('text', { owner: 'user_id' }), email_folded: free('text', { owner: 'user_id' }),
      name: free('text', { owner: 'user_id' }), role: code, user_id: id, token_hash: secret, delivery: code, invited_by: id,
      accepted_by: id,
    },
    // To whom it went nobody knows any more: nobody comes in by it.
    after: async (tx, { organizationId }, changed) => {
      await voidInvitations(tx, changed.map(({ row }) => ({ organizationId, id: row['id'] as string })), 'system');
      return {};
    },
  },
];

/** What this module holds of people: how they come in. What is somebody's own is deleted; it is of no use to anybody else. */
@Injectable()
export class SignInPersonalData implements PersonalData {
  readonly name = 'sign-in';
  readonly tables = {
    ...classesOf([...OWN, ...SEARCHED]), sign_in_slowdowns: { subject: digest.class }, spent_once: { digest: digest.class },
  };

  constructor(
    holders: PersonalDataHolders,
    private readonly rows: PersonalRows,
  ) {
    holders.register(this);
  }

  async *about(person: FoundPerson): AsyncGenerator<JsonObject> {
    for (const [name, sql] of Object.entries(LISTS)) yield* listAbout(person, name, sql);
  }

  async erase(tx: Tx, what: ErasureTarget, limit: number, after?: string): Promise<ErasedSoFar> {
    const { organizationId, userId } = what;
    const isOwnNext = after === undefined || after === MORE_OF_OWN;
    if (isOwnNext && userId !== undefined) {
      const { counts, next } = await this.eraseOwn(tx, organizationId, userId, limit);
      // Heads are taken before rows are locked, so what others wrote has a work of its own.
      if (next !== undefined) return { counts, next };
    }
    return this.rows.erase(tx, SEARCHED, what, limit, isOwnNext || after === OWN_GONE ? undefined : after);
  }

  private async eraseOwn(tx: Tx, organizationId: string, userId: string, limit: number): Promise<ErasedSoFar> {
    const counts: Record<string, number> = {};
    let left = limit;
    for (const [kind, statement] of Object.entries(DELETE_OWN)) {
      const count = (await tx.query(statement, [organizationId, userId, left])).length;
      if (count > 0) counts[kind] = count;
      left -= count;
      if (left === 0) return { counts, next: MORE_OF_OWN };
    }
    return left < limit ? { counts, next: OWN_GONE } : { counts };
  }
}

/** What a copy lists. */
const LISTS = {
  sessions: `
    select json_build_object('id', s.id, 'method', s.method, 'createdAt', s.created_at, 'lastUsedAt', s.last_used_at,
      'expiresAt', s.expires_at, 'userAgent', s.user_agent, 'address', s.address, 'endedAt', s.ended_at) as row
    from sessions s where s.organization_id = any ($2) and s.user_id = $1 order by s.id`,
  passkeys: `
    select json_build_object('id', p.id, 'name', p.name, 'createdAt', p.created_at, 'lastUsedAt', p.last_used_at) as row
    from passkeys p where p.organization_id = any ($2) and p.user_id = $1 order by p.id`,
  identities: `
    select json_build_object('issuer', i.issuer, 'subject', i.subject, 'boundAt', i.bound_at) as row
    from user_identities i where i.organization_id = any ($2) and i.user_id = $1 order by i.issuer`,
  passwords: `
    select json_build_object('changedAt', p.changed_at) as row
    from passwords p where p.organization_id = any ($2) and p.user_id = $1`,
  invitations: `
    select json_build_object('id', i.id, 'email', i.email, 'name', i.name, 'role', i.role, 'createdAt', i.created_at,
      'expiresAt', i.expires_at, 'acceptedAt', i.accepted_at) as row
    from invitations i where i.organization_id = any ($2) and i.user_id = $1 order by i.id`,
} as const;

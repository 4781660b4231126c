import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../domain/audit/entry/chain.js';
import type { JsonObject } from '../../domain/json.js';
import {
  type ErasedSoFar, type ErasureTarget, type PersonalData, PersonalDataHolders,
} from '../../platform/audit/personal-data/personal-data-holders.js';
import { type Erasable, PersonalRows } from '../../platform/audit/personal-data/personal-rows.store.js';
import { type FoundPerson, listAbout } from '../../platform/audit/personal-data/personal-records.js';
import { classesOf, code, digest, free, id, personal, policy, secret } from '../../platform/audit/personal-data/personal-table.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { PersonalKeyStore } from './personal-keys/personal-key.store.js';

/** Whoever changes an account, or the organization, holds its head. */
const head = organizationChain;

/** What this module holds of people: their accounts and keys, and what they wrote about organizations and stops. */
@Injectable()
export class OrganizationsPersonalData implements PersonalData {
  readonly name = 'organizations';
  private readonly erasable: readonly Erasable[] = [
    {
      kind: 'profiles', from: 'users', key: { id: 'text' }, head,
      columns: {
        organization_id: id, id, email: personal('id', { replacement: null, reportOnly: true }),
        email_folded: personal('id', { replacement: null }), name: personal('id', { replacement: null, reportOnly: true }),
        avatar_url: personal('id', { replacement: null, reportOnly: true }), role: code, status: code, vouched_by: id,
      },
      ends: `status = 'erased', ended_at = coalesce(t.ended_at, clock_timestamp()), updated_at = clock_timestamp()`,
      // Whoever is nobody any more holds nothing that lets them in.
      after: async (tx, { organizationId }, changed) => {
        for (const { row } of changed) await this.keys.revokeAll(tx, { organizationId, id: row['id'] as string }, 'system');
        return {};
      },
    },
    {
      kind: 'keys', from: 'personal_keys', key: { id: 'text' },
      columns: {
        organization_id: id, id, user_id: id, name: free('text', { owner: 'user_id' }), key_hash: secret, created_by: id,
        revoked_by: id,
      },
    },
    {
      kind: 'stops', from: 'stops', key: { id: 'text' },
      columns: {
        organization_id: id, id, scope: code, agent_id: id, reason: free(), made_by: id, made_by_role: code, lifted_by: id,
      },
    },
    {
      kind: 'organizations', from: 'organizations', scopeSql: 't.id = $1', key: { id: 'text' }, head,
      columns: { id, name: free(), tenant_id: id, separation_of_duties: code, scan_pii: code, pii: policy() },
    },
    {
      kind: 'tenants', from: 'tenants', scopeSql: 't.id = (select o.tenant_id from organizations o where o.id = $1)', key: { id: 'text' },
      columns: { id, name: free(), tier: code, status: code, first_organization_id: id },
    },
  ];
  readonly tables = {
    ...classesOf(this.erasable),
    instance: {
      name: id.class, first_organization_id: id.class, root_key_hash: secret.class, secret_fingerprints: digest.class,
      mark_key: secret.class, held_because: code.class,
      recovered_note: code.class,
    },
  };

  constructor(
    holders: PersonalDataHolders,
    private readonly rows: PersonalRows,
    private readonly keys: PersonalKeyStore,
  ) {
    holders.register(this);
  }

  async *about(person: FoundPerson): AsyncGenerator<JsonObject> {
    for (const { account } of (await person.run(ACCOUNT, [person.id])) as { account: JsonObject }[]) yield { account };
    yield* listAbout(person, 'keys', KEYS);
    yield* listAbout(person, 'stops', STOPS);
  }

  erase(tx: Tx, what: ErasureTarget, limit: number, after?: string): Promise<ErasedSoFar> {
    return this.rows.erase(tx, this.erasable, what, limit, after);
  }
}

const ACCOUNT = `
  select json_build_object('id', u.id, 'organizationId', u.organization_id, 'email', u.email, 'name', u.name, 'avatarUrl', u.avatar_url,
    'role', u.role, 'status', u.status, 'createdAt', u.created_at, 'endedAt', u.ended_at) as account
  from users u where u.id = $1`;

const KEYS = `
  select json_build_object('id', k.id, 'name', k.name, 'createdAt', k.created_at, 'expiresAt', k.expires_at, 'revokedAt', k.revoked_at)
    as row
  from personal_keys k where k.organization_id = any ($2) and k.user_id = $1 order by k.id`;

const STOPS = `
  select json_build_object('id', s.id, 'reason', s.reason, 'madeAt', s.made_at) as row
  from stops s where s.organization_id = any ($2) and s.made_by = $1 order by s.id`;

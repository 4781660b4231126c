import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../domain/audit/entry/chain.js';
import type { JsonObject } from '../../domain/json.js';
import {
  type ErasedSoFar, type ErasureTarget, type PersonalData, PersonalDataHolders,
} from '../../platform/audit/personal-data/personal-data-holders.js';
import { type Erasable, PersonalRows } from '../../platform/audit/personal-data/personal-rows.store.js';
import { type FoundPerson, listAbout } from '../../platform/audit/personal-data/personal-records.js';
import { classesOf, code, digest, free, id, policy, secret } from '../../platform/audit/personal-data/personal-table.js';
import type { Tx } from '../../platform/database/transaction/tx.js';

/**
 * An erasure never rewrites what a definition or an active grant decides by: a condition without a name would let through what it
 * was made to stop. A text found there is reported as left, until an administrator has changed it. A revoked grant decides nothing
 * and cannot be changed any more, so its texts are erased.
 */
const TABLES: readonly Erasable[] = [
  {
    kind: 'capabilities', from: 'capability_definitions', key: { name: 'text' }, head: organizationChain,
    columns: {
      organization_id: id, name: code, category: free(), description: free(), default_hitl_mode: code, input_schema: policy(),
      connector: policy(), digest,
    },
  },
  {
    kind: 'grants', from: 'capability_grants', key: { id: 'text' },
    columns: {
      organization_id: id, id, agent_id: id, team_id: id, capability: code, hitl_mode: code, timeout_action: code,
      conditions: policy(), limits: policy(), quorum: code, reminders: code, granted_by: id, revoked_by: id,
    },
    extraColumns: { is_revoked: 't.revoked_at is not null' },
    inForce: (row) => row['is_revoked'] !== true,
  },
  {
    // Origins are sealed with the value: another text there would leave a secret that does not open.
    kind: 'secrets', from: 'secrets', key: { name: 'text' }, head: organizationChain,
    columns: { organization_id: id, name: code, origins: policy('list'), sealed: secret },
  },
];

/** What this module holds of people: what was written into definitions and grants, and who granted. */
@Injectable()
export class CapabilitiesPersonalData implements PersonalData {
  readonly name = 'capabilities';
  readonly tables = {
    ...classesOf(TABLES),
    grant_usage: { organization_id: id.class, grant_id: id.class },
    grant_uses: { organization_id: id.class, grant_id: id.class, measure: code.class, execution_id: id.class },
    grant_totals: { organization_id: id.class, grant_id: id.class, measure: code.class },
  };

  constructor(
    holders: PersonalDataHolders,
    private readonly rows: PersonalRows,
  ) {
    holders.register(this);
  }

  async *about(person: FoundPerson): AsyncGenerator<JsonObject> {
    yield* listAbout(person, 'grants', OWN_GRANTS);
  }

  erase(tx: Tx, what: ErasureTarget, limit: number, after?: string): Promise<ErasedSoFar> {
    return this.rows.erase(tx, TABLES, what, limit, after);
  }
}

const OWN_GRANTS = `
  select json_build_object('id', g.id, 'capability', g.capability, 'granted', g.granted_by = $1, 'grantedAt', g.granted_at,
    'revoked', coalesce(g.revoked_by = $1, false), 'revokedAt', g.revoked_at) as row
  from capability_grants g where g.organization_id = any ($2) and (g.granted_by = $1 or g.revoked_by = $1) order by g.id`;

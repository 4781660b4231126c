import { Injectable } from '@nestjs/common';
import { agentChain } from '../../domain/audit/entry/chain.js';
import type { JsonObject } from '../../domain/json.js';
import {
  type ErasedSoFar, type ErasureTarget, type PersonalData, PersonalDataHolders,
} from '../../platform/audit/personal-data/personal-data-holders.js';
import { type Erasable, PersonalRows } from '../../platform/audit/personal-data/personal-rows.store.js';
import { type FoundPerson, listAbout } from '../../platform/audit/personal-data/personal-records.js';
import { classesOf, code, digest, free, id, secret } from '../../platform/audit/personal-data/personal-table.js';
import type { Tx } from '../../platform/database/transaction/tx.js';

const TABLES: readonly Erasable[] = [
  {
    kind: 'agents', from: 'agents', key: { id: 'text' },
    columns: {
      organization_id: id, id, name: free(), description: free(), risk_level: code, status: code, tags: free('list'),
      metadata: free('json'), registered_by: id, owner_id: id, team_id: id, node_version: free(),
    },
    head: (organizationId, row) => agentChain(organizationId, row['id'] as string),
    // Conditions read the tags.
    changesFacts: true,
  },
  {
    kind: 'agentKeys', from: 'agent_keys', key: { id: 'text' },
    columns: { organization_id: id, id, agent_id: id, name: free(), secret_hash: secret, created_by: id },
  },
  {
    kind: 'nodes', from: 'setup_tokens', key: { id: 'text' },
    columns: { organization_id: id, id, agent_id: id, token_hash: secret, issued_by: id, node_id: free() },
  },
];

/** What this module holds of people: whose the agents are, and what was written about these. */
@Injectable()
export class AgentsPersonalData implements PersonalData {
  readonly name = 'agents';
  readonly tables = {
    ...classesOf(TABLES),
    refreshed_tokens: { organization_id: id.class, agent_id: id.class, jti: digest.class },
  };

  constructor(
    holders: PersonalDataHolders,
    private readonly rows: PersonalRows,
  ) {
    holders.register(this);
  }

  async *about(person: FoundPerson): AsyncGenerator<JsonObject> {
    yield* listAbout(person, 'agents', OWN_AGENTS);
    yield* listAbout(person, 'agentKeys', AGENT_KEYS);
    yield* listAbout(person, 'setupTokens', SETUP_TOKENS);
  }

  erase(tx: Tx, what: ErasureTarget, limit: number, after?: string): Promise<ErasedSoFar> {
    return this.rows.erase(tx, TABLES, what, limit, after);
  }
}

const OWN_AGENTS = `
  select json_build_object('id', a.id, 'name', a.name, 'owned', coalesce(a.owner_id = $1, false), 'registered', a.registered_by = $1,
    'createdAt', a.created_at) as row
  from agents a where a.organization_id = any ($2) and (a.owner_id = $1 or a.registered_by = $1) order by a.id`;

const AGENT_KEYS = `
  select json_build_object('id', k.id, 'agentId', k.agent_id, 'name', k.name, 'createdAt', k.created_at, 'expiresAt', k.expires_at) as row
  from agent_keys k where k.organization_id = any ($2) and k.created_by = $1 order by k.id`;

const SETUP_TOKENS = `
  select json_build_object('id', s.id, 'agentId', s.agent_id, 'issuedAt', s.issued_at) as row
  from setup_tokens s where s.organization_id = any ($2) and s.issued_by = $1 order by s.id`;

import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../domain/audit/entry/chain.js';
import type { JsonObject } from '../../domain/json.js';
import {
  type ErasedSoFar, type ErasureTarget, type PersonalData, PersonalDataHolders,
} from '../../platform/audit/personal-data/personal-data-holders.js';
import { type Erasable, PersonalRows } from '../../platform/audit/personal-data/personal-rows.store.js';
import { type FoundPerson, listAbout } from '../../platform/audit/personal-data/personal-records.js';
import { classesOf, code, free, id } from '../../platform/audit/personal-data/personal-table.js';
import type { Tx } from '../../platform/database/transaction/tx.js';

const TABLES: readonly Erasable[] = [
  {
    // Every change of a team locks the head of its organization's chain.
    kind: 'teams', from: 'teams', key: { id: 'text' }, head: organizationChain,
    columns: { organization_id: id, id, name: free(), description: free() },
  },
];

/** What this module holds of people: who belongs to which team, and what teams are called. */
@Injectable()
export class TeamsPersonalData implements PersonalData {
  readonly name = 'teams';
  readonly tables = {
    ...classesOf(TABLES),
    team_members: { organization_id: id.class, team_id: id.class, user_id: id.class, role: code.class },
  };

  constructor(
    holders: PersonalDataHolders,
    private readonly rows: PersonalRows,
  ) {
    holders.register(this);
  }

  async *about(person: FoundPerson): AsyncGenerator<JsonObject> {
    yield* listAbout(person, 'memberships', MEMBERSHIPS);
  }

  erase(tx: Tx, what: ErasureTarget, limit: number, after?: string): Promise<ErasedSoFar> {
    return this.rows.erase(tx, TABLES, what, limit, after);
  }
}

const MEMBERSHIPS = `
  select json_build_object('teamId', m.team_id, 'team', t.name, 'role', m.role, 'since', m.since) as row from team_members m
  join teams t on t.organization_id = m.organization_id and t.id = m.team_id
  where m.organization_id = any ($2) and m.user_id = $1 order by m.team_id`;

import { FirstSchema } from './shared/first-schema.js';

/**
 * Why: what connectors show to the systems that they call. The value is sealed, with organization, name and origins as authenticated
 * data: a row that is moved, or whose origins are changed by SQL, does not open.
 */
export class CreateSecrets20261121000800 extends FirstSchema {
  readonly name = 'CreateSecrets20261121000800';
  protected readonly statements = [
    `create table secrets (
      organization_id text collate "C" not null references organizations (id),
      name            text collate "C" not null check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
      origins         text[] not null check (cardinality(origins) between 1 and 10),
      sealed          bytea not null,
      created_at      timestamptz(3) not null,
      updated_at      timestamptz(3) not null,
      primary key (organization_id, name)
    )`,
  ];
}

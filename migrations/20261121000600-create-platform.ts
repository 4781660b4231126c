import { HEADS } from './platform/heads.js';
import { HEARTBEATS } from './platform/heartbeats.js';
import { QUOTAS } from './platform/quotas.js';
import { FirstSchema } from './shared/first-schema.js';

/**
 * Why: what belongs to no module: the installation's one row, the outbox of effects, quotas of the request rate, signs of life of its
 * servers, and the functions by which every unit of work begins and ends.
 */
export class CreatePlatform20261121000600 extends FirstSchema {
  readonly name = 'CreatePlatform20261121000600';
  protected readonly statements = [...INSTALLATION, ...OUTBOX, ...QUOTAS, ...HEARTBEATS, ...HEADS];
}

const INSTALLATION = [
  // A server forgets what it has seen of its database when that was recovered. The owner of the database could say so; hence
  // `recovered_note` is signed by the key that signs checkpoints.
  `create table instance (
    only_row              boolean primary key default true check (only_row),
    name                  text not null,
    first_organization_id text collate "C" not null,
    root_key_hash         text not null check (root_key_hash ~ '^[0-9a-f]{64}$'),
    root_key_created_at   timestamptz(3) not null default now(),
    secret_fingerprints   json not null,
    held_because          text,
    held_at               timestamptz(3),
    recovered_at          timestamptz(3),
    recovered_note        text
  )`,
];

const OUTBOX = [
  `create table outbox (
    organization_id text collate "C" not null,
    id              bigint generated always as identity,
    kind            text not null,
    payload         json not null,
    created_at      timestamptz(3) not null default clock_timestamp(),
    available_at    timestamptz(3) not null default clock_timestamp(),
    attempts        integer not null default 0,
    primary key (organization_id, id)
  )`,
  `create index outbox_due on outbox (kind, available_at)`,
];

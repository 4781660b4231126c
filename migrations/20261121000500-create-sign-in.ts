import { FirstSchema } from './shared/first-schema.js';

const OF_ORGANIZATION = 'organization_id text collate "C" not null';
const ROLE = `in ('viewer', 'member', 'admin', 'owner')`;
const HASH = `text collate "C" not null check (token_hash ~ '^[0-9a-f]{64}$')`;

/**
 * Why: people sign in through the identity provider, or by what is kept here (passkeys, passwords, invitations); either way a session
 * lets them in, which ends by itself.
 */
export class CreateSignIn20261121000500 extends FirstSchema {
  readonly name = 'CreateSignIn20261121000500';
  protected readonly statements = [...IDENTITIES, ...SESSIONS, ...LOCAL_WAYS, ...INVITATIONS, ...GUARDS];
}

/**
 * A role of null: the provider names none, the record's holds. That a subject has one account in all organizations is kept by a lock,
 * since unique keys open with the organization.
 */
const IDENTITIES = [
  `create table user_identities (
    ${OF_ORGANIZATION},
    user_id text collate "C" not null,
    issuer text collate "C" not null,
    subject text collate "C" not null,
    claimed_role text check (claimed_role ${ROLE}),
    claimed_role_since timestamptz(3) not null,
    has_subscription boolean,
    claims_at timestamptz(3) not null,
    bound_at timestamptz(3) not null,
    primary key (organization_id, user_id, issuer)
  )`,
  `create index user_identities_by_subject on user_identities (subject, issuer)`,
];

/** Ended ones are found by their token too: the cookie of an ended session is no attack. */
const SESSIONS = [
  `create table sessions (
    ${OF_ORGANIZATION},
    id text collate "C" not null,
    user_id text collate "C" not null,
    token_hash ${HASH},
    method text not null check (method in ('provider', 'passkey', 'password')),
    created_at timestamptz(3) not null,
    last_used_at timestamptz(3) not null,
    idle_until timestamptz(3) not null,
    expires_at timestamptz(3) not null check (idle_until <= expires_at),
    user_agent text,
    address text,
    issuer text,
    provider_sid text,
    provider_tokens bytea,
    renew_at timestamptz(3),
    renewing_until timestamptz(3),
    renew_failures smallint not null default 0,
    ended_at timestamptz(3),
    end_reason text,
    ended_by text collate "C",
    primary key (organization_id, id),
    check ((ended_at is null) = (end_reason is null)),
    check (ended_at is null or provider_tokens is null)
  ) with (fillfactor = 70)`,
  `create index sessions_by_token on sessions (token_hash)`,
  `create index sessions_of_user on sessions (organization_id, user_id, id)`,
  `create index sessions_to_end on sessions (idle_until) where ended_at is null`,
  `create index sessions_by_sid on sessions (provider_sid) where provider_sid is not null and ended_at is null`,
];

const LOCAL_WAYS = [
  `create table passkeys (
    ${OF_ORGANIZATION},
    id text collate "C" not null,
    user_id text collate "C" not null,
    credential_id text collate "C" not null,
    public_key bytea not null,
    counter bigint not null,
    transports text[] not null,
    device_type text not null,
    backed_up boolean not null,
    name text not null,
    created_at timestamptz(3) not null,
    last_used_at timestamptz(3),
    primary key (organization_id, id)
  )`,
  `create index passkeys_by_credential on passkeys (credential_id)`,
  `create index passkeys_of_user on passkeys (organization_id, user_id)`,
  `create table passwords (
    ${OF_ORGANIZATION},
    user_id text collate "C" not null,
    hash text not null check (hash like 'scrypt$%'),
    changed_at timestamptz(3) not null,
    primary key (organization_id, user_id)
  )`,
];

/** With a user: of an account that is there already. */
const INVITATIONS = [
  `create table invitations (
    ${OF_ORGANIZATION},
    id text collate "C" not null,
    email text not null,
    email_folded text not null,
    name text,
    role text not null check (role ${ROLE}),
    user_id text collate "C",
    token_hash ${HASH},
    delivery text not null check (delivery in ('mail', 'hand')),
    invited_by text collate "C" not null,
    created_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    accepted_at timestamptz(3),
    accepted_by text collate "C",
    voided_at timestamptz(3),
    primary key (organization_id, id)
  )`,
  `create index invitations_by_token on invitations (token_hash)`,
  `create index invitations_open on invitations (email_folded) where accepted_at is null and voided_at is null`,
];

/** A row names its subject by a digest alone. A value that is good once gets its row when it is used, so that handing it out costs none. */
const GUARDS = [
  `create table sign_in_slowdowns (
    subject text collate "C" primary key,
    failures integer not null,
    next_at timestamptz(3) not null,
    until timestamptz(3) not null
  )`,
  `create index sign_in_slowdowns_age on sign_in_slowdowns (until)`,
  `create table spent_once (digest text collate "C" primary key, until timestamptz(3) not null)`,
  `create index spent_once_age on spent_once (until)`,
];

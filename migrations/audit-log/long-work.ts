/**
 * Why: sweeps, erasures and verifications take long, on whichever server, and go on after a crash: how far each has come is a row.
 * The owner of the database can append the entry of a sweep or an erasure that nobody ordered and take away what that entry names;
 * so the server signs a note for each such entry, and without its note the entry is tampering.
 */
export const LONG_WORK = [
  // `notes`: signed, one for each entry of the sweep, by the entry's id.
  `create table audit_sweeps (
    organization_id text collate "C" not null,
    id              text collate "C" not null,
    state           text not null check (state in ('writing', 'verified', 'recorded', 'done')),
    before          timestamptz(3) not null,
    cuts            json not null,
    checkpoint      json not null,
    skeleton        text,
    disclosures     text,
    entry_id        text collate "C",
    made_at         timestamptz(3) not null,
    notes           json not null default '{}',
    primary key (organization_id, id)
  )`,
  // A rotation of the key replaces the notes, and a sweep takes the notes of the entries that it has archived.
  `create table audit_erasure_notes (
    organization_id text collate "C" not null,
    entry_id        text collate "C" not null,
    note            text not null,
    primary key (organization_id, entry_id)
  )`,
  // The log is verified once a minute for each credential (interface, section 8), on all servers together.
  `create table audit_verification_rate_limits (
    credential text collate "C" primary key,
    begun_at   timestamptz(3) not null
  )`,
  // `texts` are encrypted (AES-256-GCM with ENCRYPTION_KEY, the id authenticated beside them) and null once the work is done; `place`
  // says how far each step has come. The log grows meanwhile: up to which position of each chain it has been searched (`covered`), and
  // up to which the present round goes (`target`), is written once a round, `place` with each step.
  `create table erasures (
    organization_id text collate "C" not null,
    id              text collate "C" not null,
    kind            text not null check (kind in ('user', 'values')),
    user_id         text collate "C",
    texts           bytea,
    reason          text,
    state           text not null check (state in ('unconfirmed', 'running', 'done', 'declined')),
    asked_by        text collate "C" not null,
    confirmed_by    text collate "C",
    place           json not null default '{}',
    counts          json not null default '{}',
    asked_at        timestamptz(3) not null,
    ended_at        timestamptz(3),
    covered         json not null default '{}',
    target          json not null default '{}',
    primary key (organization_id, id)
  )`,
  `create index erasures_open on erasures (asked_at) where state in ('unconfirmed', 'running')`,
  `create index erasures_of_user on erasures (user_id) where user_id is not null`,
];

/**
 * Why: a database may answer and be unable to write. Each server writes a row of its own every two seconds; where a write found no room,
 * its next one needs new pages, as `room`, which is kept outside of the row and uncompressed.
 */
export const HEARTBEATS = [
  // Of the installation's servers, not of an organization.
  `create table server_heartbeats (
    replica uuid primary key,
    version text not null,
    beat_at timestamptz(3) not null,
    room    bytea
  ) with (fillfactor = 50)`,
  'alter table server_heartbeats alter column room set storage external',
];

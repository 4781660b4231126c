import type { TestServer } from '../servers/server.js';

/** An event for the channels as a commit left it in the outbox, from where a worker takes it a moment later. */
export interface KeptEvent {
  readonly event: string;
  readonly hitlRequestId?: string;
  readonly executionId?: string;
  readonly [member: string]: unknown;
}

/** From now on the database keeps each event for the channels that is written into the outbox. Call it once, before the first. */
export async function keepEvents({ sql }: TestServer): Promise<void> {
  await sql('create table if not exists kept_events (n bigint generated always as identity, payload json not null)');
  await sql(`create or replace function keep_event() returns trigger language plpgsql as $$
    begin insert into kept_events (payload) values (new.payload); return null; end $$`);
  await sql(`create or replace trigger keep_event after insert on outbox for each row
    when (new.kind = 'notification.send') execute function keep_event()`);
}

/** The kept events about a request or an execution, in the order in which they were written. */
export async function keptEvents({ sql }: TestServer, about: string): Promise<KeptEvent[]> {
  const rows = await sql<{ payload: KeptEvent }>(
    `select payload from kept_events where $1 in (payload ->> 'hitlRequestId', payload ->> 'executionId') order by n`, [about]);
  return rows.map(({ payload }) => payload);
}

import type { SessionStart } from '../../../src/modules/sign-in/ports/sessions.js';
import { asRoot } from '../http/actors.js';
import type { AuditEntry } from '../log/entries.js';
import type { TestDatabase } from '../servers/database.js';
import type { BuiltPerson } from '../builders/people.js';
import { startProduct } from '../servers/product-process.js';
import type { TestServer } from '../servers/server.js';

export interface SessionMaker {
  /** Begins a session as every way of signing in does. @returns its id and the line `Set-Cookie` */
  begin(person: Pick<BuiltPerson, 'id' | 'organizationId'>, start: SessionStart): Promise<{ readonly id: string; readonly cookie: string }>;
  end(session: { readonly organizationId: string; readonly id: string }, reason: string, by: string): Promise<number>;
  close(): Promise<void>;
}

/** Sessions without a way of signing in around them. */
export async function aSessionMaker(database: TestDatabase): Promise<SessionMaker> {
  const { ask, close } = await startProduct('sign-in/session-maker.mjs', database);
  return {
    begin: ({ id, organizationId }, start) => ask('begin', { id, organizationId }, start),
    end: (session, reason, by) => ask('end', session, reason, by),
    close,
  };
}

export interface SessionEntry {
  readonly event: string;
  readonly actor: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** What the log says of an organization's sessions, by their ids: the oldest first. */
export async function entriesOfSessions(server: TestServer, organizationId: string): Promise<ReadonlyMap<unknown, SessionEntry[]>> {
  const recorded = new Map<unknown, SessionEntry[]>();
  for (const event of ['auth.login', 'auth.logout']) {
    const query = { event, organizationId, limit: 500 };
    const entries = (await asRoot(server).get('/api/v1/audit', { query })).expect(200).list('entries') as AuditEntry[];
    for (const { actorId, metadata = {} } of entries.reverse()) {
      const id = metadata['sessionId'];
      recorded.set(id, [...(recorded.get(id) ?? []), { event, actor: actorId, metadata }]);
    }
  }
  return recorded;
}

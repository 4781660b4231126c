import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Client } from '../http/actors.js';
import { firstOrganization } from '../builders/people.js';
import { startServer, type TestServer } from '../servers/server.js';
import { aSessionMaker, entriesOfSessions, type SessionMaker } from './sessions.js';

export const ME = '/api/v1/auth/me';
export const SESSIONS = '/api/v1/auth/sessions';
export const LOGOUT = '/api/v1/auth/logout';
export let server: TestServer;
export let maker: SessionMaker;
export let organizationId: string;

export const recorded = async (id: string) => (await entriesOfSessions(server, organizationId)).get(id);

export interface SessionRow {
  readonly last_used_at: Date;
  readonly idle_until: Date;
  readonly expires_at: Date;
  readonly ended_at: Date | null;
  readonly end_reason: string | null;
  readonly provider_tokens: Buffer | null;
  readonly token_hash: string;
}

export async function rowOf(id: string): Promise<SessionRow> {
  const [row] = await server.sql<SessionRow>('select * from sessions where id = $1', [id]);
  return row!;
}

/** Refused for good: with a word on why, and the cookie goes. */
export async function gone(client: Client, why: RegExp): Promise<void> {
  const answer = (await client.get(ME)).expect(401, 'UNAUTHENTICATED');
  expect(answer.text('detail')).toMatch(why);
  expect(answer.headers.get('set-cookie')).toMatch(/^countersign=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/);
}

export function startSessions(): void {
  beforeAll(async () => {
    server = await startServer();
    [maker, organizationId] = await Promise.all([aSessionMaker(server.database), firstOrganization(server)]);
  });
  afterAll(async () => {
    await maker.close();
    await server.stop();
  });
}

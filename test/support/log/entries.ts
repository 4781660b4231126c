import { asRoot } from '../http/actors.js';
import type { TestServer } from '../servers/server.js';

export interface AuditEntry {
  readonly id: string;
  readonly event: string;
  readonly agentId?: string;
  readonly actorId: string;
  readonly capability?: string;
  readonly outcome?: string;
  readonly timestamp: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly prevHash?: string;
  readonly hash: string;
}

/** Every entry of an agent's chain as the API tells them, oldest first. */
export async function auditOf(server: TestServer, agentId: string): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for (let offset = 0; ; offset += 500) {
    const page = await asRoot(server).get('/api/v1/audit', { query: { agentId, limit: 500, offset } });
    const found = page.expect(200).list('entries') as AuditEntry[];
    entries.push(...found);
    if (found.length < 500) return entries.reverse();
  }
}

/** The names of an agent's events, oldest first. */
export async function eventsOf(server: TestServer, agentId: string): Promise<string[]> {
  return (await auditOf(server, agentId)).map(({ event }) => event);
}

/** What is recorded of a team in its organization's chain, oldest first. */
export async function teamEntriesOf(server: TestServer, teamId: string): Promise<AuditEntry[]> {
  const page = (await asRoot(server).get('/api/v1/audit', { query: { limit: 500 } })).expect(200);
  return (page.list('entries') as AuditEntry[]).filter(({ metadata }) => metadata.teamId === teamId).reverse();
}

/** The newest entries of an event, of one organization or of all, newest first. */
export async function entriesOf(server: TestServer, event: string, organizationId?: string): Promise<AuditEntry[]> {
  const query = { event, limit: 500, ...(organizationId === undefined ? {} : { organizationId }) };
  return (await asRoot(server).get('/api/v1/audit', { query })).expect(200).list('entries') as AuditEntry[];
}

import type { AuditEvent } from '../../../src/domain/audit/catalogue/audit-events.js';
import { organizationChain } from '../../../src/domain/audit/entry/chain.js';
import { newId } from '../../../src/domain/ids.js';
import { forge } from '../log/forged-entry.js';
import type { TestServer } from '../servers/server.js';

/** Lets the log tell of people and teams that were put into the database past the API: whoever approves has to be known to it. */
export async function recordPeople(server: TestServer): Promise<void> {
  const users = await server.sql<{ organization_id: string; id: string; role: string; created_at: Date }>(
    `select organization_id, id, role, created_at from users u where not exists (
       select from audit_subjects s where s.organization_id = u.organization_id and s.user_id = u.id and s.pointer = '/metadata/userId')`);
  const members = await server.sql<{ organization_id: string; team_id: string; user_id: string; role: string; since: Date }>(
    'select organization_id, team_id, user_id, role, since from team_members');
  const recorded = [
    ...users.map(({ organization_id, id, role, created_at }) => entry(organization_id, created_at,
      { type: 'admin.user_created', metadata: { userId: id, role } })),
    ...members.map(({ organization_id, team_id, user_id, role, since }) => entry(organization_id, since,
      { type: 'admin.team_changed', metadata: { teamId: team_id, change: 'member_added', userId: user_id, role } })),
  ];
  if (recorded.length > 0) await forge(server.database, ...recorded);
}

function entry(organizationId: string, timestamp: Date, event: AuditEvent) {
  return [{ ...event, chain: organizationChain(organizationId) }, { id: newId('audit'), actorId: 'root', timestamp }] as const;
}

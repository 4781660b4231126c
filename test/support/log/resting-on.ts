import type { AuditEvent } from '../../../src/domain/audit/catalogue/audit-events.js';
import type { Basis, DeciderRecord } from '../../../src/domain/audit/catalogue/basis.js';
import { DEFAULT_WINDOW_SECONDS } from '../../../src/domain/hitl/window.js';

type Run = (sql: string, parameters: unknown[]) => Promise<readonly object[]>;

const DECISIONS = ['execution.started', 'execution.retried', 'execution.blocked', 'hitl.created'];
const STEPS = ['hitl.approved', 'hitl.rejected', 'hitl.voted', 'hitl.edited', 'hitl.escalated'];

/** An event with what a decision that is made now rests on, and who decides by the rights that the database has: as a server says it. */
export async function restingOnNow(run: Run, organizationId: string, event: AuditEvent, by: string): Promise<AuditEvent> {
  if (![...DECISIONS, ...STEPS].includes(event.type)) return event;
  // A window is counted from the instant that was seen.
  const at = event.type === 'hitl.created' ? Date.parse(event.metadata.expiresAt) - DEFAULT_WINDOW_SECONDS * 1_000 : Date.now();
  const basis = { ...(await basisNow(run, organizationId)), at: new Date(at).toISOString() };
  const decider = STEPS.includes(event.type) && by !== 'system' ? { decider: await deciderNow(run, organizationId, by) } : {};
  return { ...event, metadata: { basis, ...decider, ...event.metadata } } as AuditEvent;
}

export async function basisNow(run: Run, organizationId: string): Promise<Basis> {
  const rows = (await run('select organization_id as id, seq from audit_heads where chain = any ($1)',
    [['sys_platform', `sys_${organizationId}`]])) as { id: string; seq: string }[];
  const of = (id: string) => Number(rows.find((row) => row.id === id)?.seq ?? 0);
  return { organization: of(organizationId), platform: of('org_platform'), at: new Date().toISOString() };
}

/** Of nobody whom the database has: an admin. */
async function deciderNow(run: Run, organizationId: string, userId: string): Promise<DeciderRecord> {
  if (userId === 'root') return { role: 'root', level: 2 };
  const [row] = (await run(`select u.organization_id as home, u.role, exists (
    select from team_members m where m.user_id = u.id and m.role = 'lead') as leads from users u where u.id = $1`, [userId])) as
    { home: string; role: 'viewer' | 'member' | 'admin' | 'owner'; leads: boolean }[];
  const { home = organizationId, role = 'admin', leads = false } = row ?? {};
  const { organization: position } = await basisNow(run, home);
  const level = role === 'admin' || role === 'owner' ? 2 : leads ? 1 : 0;
  return { role, level, home: { organization: home, position } };
}

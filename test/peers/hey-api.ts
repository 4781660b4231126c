// Calls as somebody writes them with the client that @hey-api/openapi-ts makes of openapi.json. They are compiled, not run: what is
// shown is that the document says enough. Each @ts-expect-error shows that a type says no.
import { Countersign } from './dist/hey-api';
import { createClient } from './dist/hey-api/client';
import type { GateReply, GrantWord, HitlRequest, Problem, RequestReply } from './dist/hey-api';

const client = createClient({
  baseUrl: 'https://countersign.example',
  auth: ({ scheme }) => (scheme === 'bearer' ? 'svc_agent_…' : undefined),
});
const api = new Countersign({ client });

export async function registers(): Promise<string> {
  const mode: GrantWord = 'on_risk';
  const { data, error } = await api.agents.register({
    body: {
      name: 'mailer', riskLevel: 'high', tags: ['eu'], metadata: { any: [1, null] },
      grants: [{
        capability: 'email.send', hitlMode: mode, hitlTimeoutSeconds: 600, hitlTimeoutAction: 'escalate',
        conditions: [{ when: 'input.amount > 100', hitlMode: 'escalate' }], limits: [{ max: 5, per: 'hour', then: 'propose' }],
        quorum: { approvals: 2, groups: [{ role: 'admin' }] }, reminders: [{ secondsBefore: 60 }],
      }],
    },
    headers: { 'Idempotency-Key': 'register-1' },
  });
  if (error) throw new Error(`${error.code}: ${error.errors?.[0]?.pointer ?? error.detail}`);
  return data.agent.id;
}

export async function lists(): Promise<number> {
  const { data } = await api.agents.list({ query: { status: 'active', limit: 50 }, throwOnError: true });
  const next = data.nextCursor && (await api.agents.list({ query: { cursor: data.nextCursor } })).data;
  return data.total + (next ? next.agents.length : 0);
}

export async function changes(id: string): Promise<string | undefined> {
  await api.agents.update({ path: { id }, body: { description: null } });
  await api.agents.setRiskLevel({ path: { id }, body: { riskLevel: 'minimal' } });
  // @ts-expect-error there is no such risk level
  await api.agents.setRiskLevel({ path: { id }, body: { riskLevel: 'low' } });
  return (await api.agents.get({ path: { id }, throwOnError: true })).data.agent.ownerId;
}

export async function grants(agentId: string): Promise<string[]> {
  const made = await api.grants.create({ body: { agentId, capability: 'web.search', hitlMode: 'never' }, throwOnError: true });
  const { data } = await api.grants.list({ query: { agentId }, throwOnError: true });
  await api.grants.revoke({ path: { id: made.data.grant.id } });
  return data.grants.flatMap(({ limits }) => limits?.map(({ per, max }) => `${max} ${per}`) ?? []);
}

export async function executes(): Promise<string> {
  const { data, error } = await api.executions.execute({
    body: { capability: 'email.send', input: { to: 'anna@example.com' }, context: { task_id: 'task_1' } },
    query: { wait: 30 },
    headers: { 'Idempotency-Key': 'mail-1', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
  });
  if (error) return error.code === 'CAPABILITY_NOT_GRANTED' ? 'may not' : error.title;
  return told(data);
}

function told(reply: GateReply): string {
  switch (reply.status) {
    case 'executed':
      // @ts-expect-error what has run waits for nobody
      return reply.expiresAt ?? reply.auditId;
    case 'pending_hitl':
      return `${reply.hitlRequestId} until ${reply.expiresAt}`;
    case 'blocked':
      return `${reply.reason}: ${reply.reasons.map(({ rule, detail }) => `${rule} ${detail}`).join()}`;
    case 'failed':
      return reply.indeterminate ? (reply.detail ?? '') : reply.error.message;
    case 'cancelled':
      return reply.comment ?? reply.reason;
    case 'dry_run':
      return reply.decision;
    default:
      return reply satisfies never;
  }
}

export async function tries(): Promise<string | undefined> {
  // @ts-expect-error nothing is executed without a capability
  await api.executions.execute({ body: { input: {} } });
  const { data } = await api.executions.execute({ body: { capability: 'email.send', dryRun: true }, throwOnError: true });
  return data.status === 'dry_run' ? data.effectiveMode : undefined;
}

export async function reports(id: string): Promise<string | undefined> {
  await api.executions.report({ path: { id }, body: { outcome: 'success', output: { sent: true }, durationMs: 12 } });
  await api.executions.settle({ path: { id }, body: { outcome: 'failure', note: 'asked them' } });
  const { data: { execution } } = await api.executions.get({ path: { id }, query: { wait: 10 }, throwOnError: true });
  return execution.report?.at ?? execution.settlement?.by;
}

export async function decides(): Promise<void> {
  const { data } = await api.hitl.list({ query: { status: 'pending', assignedTo: 'me' }, throwOnError: true });
  for (const request of data.requests.filter(isCamel)) {
    const [first] = request.reasons;
    if (request.capability === 'email.send' && first?.rule === 'condition') {
      await api.hitl.reject({ path: { id: request.id }, body: { note: first.detail } });
    } else await api.hitl.approve({ path: { id: request.id }, body: { expectedDigest: request.actionDigest }, query: { wait: 5 } });
  }
}

const isCamel = (request: HitlRequest): request is RequestReply => 'actionDigest' in request;

export async function looks(id: string): Promise<string> {
  const { data } = await api.hitl.get({ path: { id }, throwOnError: true });
  if ('agentId' in data) return data.decision?.outcome ?? data.status;
  const groups = data.quorum?.groups?.map(({ team_id: team, role }) => team ?? role) ?? [];
  return `${data.decision?.by ?? data.expires_at} ${data.execution?.duration_ms ?? 0} ${groups.join()} ${data.edit?.diff[0]?.path ?? ''}`;
}

export async function edits(id: string): Promise<void> {
  await api.hitl.approve({ path: { id }, body: { editedInput: { amount: 10 }, note: 'less' } });
  await api.hitl.escalate({ path: { id }, body: { reason: 'above me' }, query: { form: 'camel' } });
}

export async function decidesMany(ids: readonly string[]): Promise<string[]> {
  const items = ids.map((id) => ({ id, expectedDigest: 'a'.repeat(64) }));
  const { data } = await api.hitl.decideBatch({ body: { items, decision: 'approve' }, throwOnError: true });
  return data.results.map(({ request, error }) => (error ? `${error.code} ${error.request?.decidedBy ?? ''}` : (request?.id ?? '')));
}

export async function defines(): Promise<number | undefined> {
  const { data } = await api.capabilities.define({
    body: {
      name: 'crm.update', description: 'Updates a contact', inputSchema: { type: 'object' },
      connector: { type: 'http', method: 'POST', url: 'https://crm.example/{input.id}', headers: { 'x-team': 'a' }, idempotent: true },
    },
    throwOnError: true,
  });
  return data.capability.connector?.timeoutSeconds;
}

export async function audits(): Promise<unknown> {
  const { data } = await api.audit.list({ query: { event: 'execution.completed', outcome: 'success' }, throwOnError: true });
  const { data: { inclusion } } = await api.audit.proof({ path: { id: data.entries[0]!.id }, throwOnError: true });
  const verified = await api.audit.verify({ throwOnError: true });
  const depths = inclusion.map((step) => (step.level === 'map' ? step.siblings.map(([depth]) => depth) : [step.index]));
  return [depths, verified.data.checkpoint?.size, data.entries[0]?.metadata['executionId']];
}

export async function organizes(userId: string): Promise<string | null> {
  const { data: { team } } = await api.teams.create({ body: { name: 'Operations' }, throwOnError: true });
  await api.teams.addMember({ path: { id: team.id }, body: { userId, role: 'lead' } });
  const { data: { user } } = await api.users.create({ body: { email: 'ada@example.com', role: 'member' }, throwOnError: true });
  return user.name;
}

export async function stops(agentId: string): Promise<Problem['code'] | undefined> {
  const { error } = await api.stops.create({ body: { scope: 'agent', id: agentId, reason: 'odd' } });
  return error?.code;
}

export async function counts(): Promise<number | null> {
  const { data } = await api.hitl.stats({ query: { capability: 'email.send' }, throwOnError: true });
  return data.approvalRate ?? data.byStatus['pending'] ?? null;
}

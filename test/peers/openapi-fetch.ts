// The same calls by openapi-fetch, with the types that openapi-typescript makes of openapi.json. They are compiled, not run.
import createClient from 'openapi-fetch';
import type { components, operations, paths } from './dist/openapi-typescript';

type Schemas = components['schemas'];

const api = createClient<paths>({ baseUrl: 'https://countersign.example', headers: { authorization: 'Bearer svc_agent_…' } });

export async function registers(): Promise<string> {
  const mode: Schemas['GrantWord'] = 'on_risk';
  const { data, error } = await api.POST('/api/v1/agents', {
    body: {
      name: 'mailer', riskLevel: 'high', tags: ['eu'], metadata: { any: [1, null] },
      grants: [{
        capability: 'email.send', hitlMode: mode, hitlTimeoutSeconds: 600, hitlTimeoutAction: 'escalate',
        conditions: [{ when: 'input.amount > 100', hitlMode: 'escalate' }], limits: [{ max: 5, per: 'hour', then: 'propose' }],
        quorum: { approvals: 2, groups: [{ role: 'admin' }] }, reminders: [{ secondsBefore: 60 }],
      }],
    },
    params: { header: { 'Idempotency-Key': 'register-1' } },
  });
  if (error) throw new Error(`${error.code}: ${error.errors?.[0]?.pointer ?? error.detail}`);
  return data.agent.id;
}

export async function lists(): Promise<number> {
  const { data } = await api.GET('/api/v1/agents', { params: { query: { status: 'active', limit: 50 } } });
  const next = data?.nextCursor && (await api.GET('/api/v1/agents', { params: { query: { cursor: data.nextCursor } } })).data;
  return (data?.total ?? 0) + (next ? next.agents.length : 0);
}

export async function changes(id: string): Promise<string | undefined> {
  const params = { path: { id } };
  await api.PATCH('/api/v1/agents/{id}', { params, body: { description: null } });
  await api.PATCH('/api/v1/agents/{id}/risk-level', { params, body: { riskLevel: 'minimal' } });
  // @ts-expect-error there is no such risk level
  await api.PATCH('/api/v1/agents/{id}/risk-level', { params, body: { riskLevel: 'low' } });
  return (await api.GET('/api/v1/agents/{id}', { params })).data?.agent.ownerId;
}

export async function grants(agentId: string): Promise<string[]> {
  const made = await api.POST('/api/v1/capabilities/grant', { body: { agentId, capability: 'web.search', hitlMode: 'never' } });
  const { data } = await api.GET('/api/v1/capabilities/grants', { params: { query: { agentId } } });
  if (made.data) await api.DELETE('/api/v1/capabilities/grant/{id}', { params: { path: { id: made.data.grant.id } } });
  return data?.grants.flatMap(({ limits }) => limits?.map(({ per, max }) => `${max} ${per}`) ?? []) ?? [];
}

export async function executes(): Promise<string> {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const { data, error } = await api.POST('/api/v1/execute', {
    body: { capability: 'email.send', input: { to: 'anna@example.com' }, context: { task_id: 'task_1' } },
    params: { query: { wait: 30 }, header: { 'Idempotency-Key': 'mail-1', Prefer: 'handling=lenient', traceparent } },
  });
  if (error) return error.code === 'CAPABILITY_NOT_GRANTED' ? 'may not' : error.title;
  return told(data);
}

function told(reply: Schemas['GateReply']): string {
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
  await api.POST('/api/v1/execute', { body: { input: {} } });
  const { data } = await api.POST('/api/v1/execute', { body: { capability: 'email.send', dryRun: true } });
  return data?.status === 'dry_run' ? data.effectiveMode : undefined;
}

export async function reports(id: string): Promise<string | undefined> {
  const params = { path: { id } };
  await api.POST('/api/v1/executions/{id}/report', { params, body: { outcome: 'success', output: { sent: true }, durationMs: 12 } });
  await api.POST('/api/v1/executions/{id}/settle', { params, body: { outcome: 'failure', note: 'asked them' } });
  const { data } = await api.GET('/api/v1/executions/{id}', { params: { path: { id }, query: { wait: 10 } } });
  return data?.execution.report?.at ?? data?.execution.settlement?.by;
}

export async function decides(): Promise<void> {
  const { data } = await api.GET('/api/v1/hitl', { params: { query: { status: 'pending', assignedTo: 'me' } } });
  for (const request of data?.requests.filter(isCamel) ?? []) {
    const [first] = request.reasons;
    const path = { id: request.id };
    if (request.capability === 'email.send' && first?.rule === 'condition') {
      await api.POST('/api/v1/hitl/{id}/reject', { params: { path }, body: { note: first.detail } });
    } else {
      const body = { expectedDigest: request.actionDigest };
      await api.POST('/api/v1/hitl/{id}/approve', { params: { path, query: { wait: 5 } }, body });
    }
  }
}

const isCamel = (request: Schemas['HitlRequest']): request is Schemas['RequestReply'] => 'actionDigest' in request;

export async function looks(id: string): Promise<string> {
  const { data } = await api.GET('/api/v1/hitl/{id}', { params: { path: { id } } });
  if (!data) return 'not there';
  if ('agentId' in data) return data.decision?.outcome ?? data.status;
  const groups = data.quorum?.groups?.map(({ team_id: team, role }) => team ?? role) ?? [];
  return `${data.decision?.by ?? data.expires_at} ${data.execution?.duration_ms ?? 0} ${groups.join()} ${data.edit?.diff[0]?.path ?? ''}`;
}

export async function edits(id: string): Promise<void> {
  const path = { id };
  await api.POST('/api/v1/hitl/{id}/approve', { params: { path }, body: { editedInput: { amount: 10 }, note: 'less' } });
  await api.POST('/api/v1/hitl/{id}/escalate', { params: { path, query: { form: 'camel' } }, body: { reason: 'above me' } });
}

export async function decidesMany(ids: readonly string[]): Promise<string[]> {
  const items = ids.map((id) => ({ id, expectedDigest: 'a'.repeat(64) }));
  const { data } = await api.POST('/api/v1/hitl/batch', { body: { items, decision: 'approve' } });
  return data?.results.map(({ request, error }) => (error ? `${error.code} ${error.request?.decidedBy ?? ''}` : (request?.id ?? ''))) ?? [];
}

export async function defines(): Promise<number | undefined> {
  const { data } = await api.POST('/api/v1/capabilities', {
    body: {
      name: 'crm.update', description: 'Updates a contact', inputSchema: { type: 'object' },
      connector: { type: 'http', method: 'POST', url: 'https://crm.example/{input.id}', headers: { 'x-team': 'a' }, idempotent: true },
    },
  });
  return data?.capability.connector?.timeoutSeconds;
}

export async function audits(): Promise<unknown> {
  const { data } = await api.GET('/api/v1/audit', { params: { query: { event: 'execution.completed', outcome: 'success' } } });
  const entry = data?.entries[0];
  if (!entry) return undefined;
  const proof = (await api.GET('/api/v1/audit/{id}/proof', { params: { path: { id: entry.id } } })).data;
  const verified = (await api.GET('/api/v1/audit/verify')).data;
  const depths = proof?.inclusion.map((step) => (step.level === 'map' ? step.siblings.map(([depth]) => depth) : [step.index]));
  return [depths, verified?.checkpoint?.size, entry.metadata['executionId']];
}

export async function organizes(userId: string): Promise<string | null | undefined> {
  const team = (await api.POST('/api/v1/teams', { body: { name: 'Operations' } })).data?.team;
  if (team) await api.POST('/api/v1/teams/{id}/members', { params: { path: { id: team.id } }, body: { userId, role: 'lead' } });
  const { data } = await api.POST('/api/v1/users', { body: { email: 'ada@example.com', role: 'member' } });
  return data?.user.name;
}

export async function stops(agentId: string): Promise<Schemas['Problem']['code'] | undefined> {
  const { error } = await api.POST('/api/v1/stops', { body: { scope: 'agent', id: agentId, reason: 'odd' } });
  return error?.code;
}

export async function counts(): Promise<number | null> {
  const { data } = await api.GET('/api/v1/hitl/stats', { params: { query: { capability: 'email.send' } } });
  return data?.approvalRate ?? data?.byStatus['pending'] ?? null;
}

/** Operations by their ids, as the types name them. */
export type Executes = operations['executions.execute']['requestBody'];

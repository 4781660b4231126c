import { afterAll, beforeAll } from '@jest/globals';
import { asRoot, type Client } from '../http/actors.js';
import { auditOf, type AuditEntry } from '../log/entries.js';
import { anAgent, type BuiltAgent } from './agents.js';
import { defineCapability, pauseOutbox, resumeOutbox, executionBecomes } from './gate.js';
import { startReceiver, type Receiver } from '../http/receiver.js';
import { startServer, type TestServer } from '../servers/server.js';
import { EXECUTE } from '../http/paths.js';

export let server: TestServer;
export let root: Client;
let receiver: Receiver;
export let agent: BuiltAgent;
export let log: AuditEntry[];

/** One story in which everything happens once; the tests read its log. */
export function startAudited(): void {
  beforeAll(async () => {
    [server, receiver] = await Promise.all([startServer(), startReceiver()]);
    root = asRoot(server);
    await defineCapability(server, 'crm.push', {
      category: 'crm', connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' },
    });
    agent = await anAgent(server).named('story').risk('high').tagged('eu')
      .having({ description: 'does things', metadata: { site: 'X' } })
      .granted('web.search').granted('file.read', { hitlMode: 'block' }).granted('email.send', { hitlMode: 'propose' })
      .granted('crm.push', { conditions: [{ when: 'input.n > 9', hitlMode: 'propose' }] }).create();
    const call = (capability: string, input: unknown, more = {}) => agent.client.post(EXECUTE, { capability, input, ...more });
    const ask = async () => (await call('email.send', { to: 'a@example.org' })).text('hitlRequestId');
    const decide = (id: string, decision: string, body?: unknown) => root.post(`/api/v1/hitl/${id}/${decision}`, body);

    const done = await call('web.search', { q: 'steel' }, { context: { task_id: 't1' }, action: 'look' });
    await agent.client.post(`/api/v1/executions/${done.text('executionId')}/report`, { outcome: 'success', output: { hits: 2 } });
    await call('file.read', { path: '/etc' });
    await call('crm.push', { n: 1 });
    receiver.script({ status: 500 }, { reset: true });
    await call('crm.push', { n: 2 });
    const lost = await call('crm.push', { n: 3 });
    await root.post(`/api/v1/executions/${lost.text('executionId')}/settle`, { outcome: 'failure', note: 'it never arrived' });
    await decide(await ask(), 'approve', { comment: 'fine' });
    await decide(await ask(), 'reject', { reason: 'no' });
    await agent.client.post(`/api/v1/hitl/${await ask()}/cancel`, { note: 'never mind' });
    await decide(await ask(), 'timeout');
    const late = await call('crm.push', { n: 10 });
    await pauseOutbox(server);
    await root.post(`/api/v1/hitl/${late.text('hitlRequestId')}/approve`, {}, { query: { wait: 0 } });
    await root.patch(`/api/v1/agents/${agent.id}/capabilities/crm.push`, { hitl_mode: 'block' });
    await resumeOutbox(server);
    await executionBecomes(server, late.text('executionId'), 'cancelled');
    await agent.client.post(`/api/v1/agents/${agent.id}/token/refresh`);
    await root.patch(`/api/v1/agents/${agent.id}`, { name: 'story two', tags: ['us'], description: null });
    const grants = (await root.get(`/api/v1/agents/${agent.id}/capabilities`))
      .list('grants') as { id: string; capability: string }[];
    await root.delete(`/api/v1/capabilities/grant/${grants.find(({ capability }) => capability === 'web.search')!.id}`);
    await call('web.search', { q: 'gone' });
    await root.delete(`/api/v1/agents/${agent.id}/tokens`);
    await root.post(`/api/v1/agents/${agent.id}/deactivate`, { reason: 'holiday' });
    await root.post(`/api/v1/agents/${agent.id}/activate`);
    log = await auditOf(server, agent.id);
  });
  afterAll(async () => {
    await server.stop();
    await receiver.close();
  });
}

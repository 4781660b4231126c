import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anAgent } from '../../support/builders/agents.js';
import { anonymous, asRoot, type Client } from '../../support/http/actors.js';
import { EXECUTE } from '../../support/http/paths.js';
import { documentedMetrics } from '../../support/running/documented-metrics.js';
import { eventually } from '../../support/running/eventually.js';
import { scrape, scrapedSeries, valueOf } from '../../support/running/scraped.js';
import { freePort } from '../../support/servers/server-process.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let metricsUrl: string;

beforeAll(async () => {
  const port = await freePort();
  metricsUrl = `http://127.0.0.1:${port}`;
  server = await startServer({ env: { METRICS_PORT: String(port) } });
});
afterAll(() => server.stop());

const series = () => scrapedSeries(metricsUrl);

async function ask(client: Client): Promise<string> {
  return (await client.post(EXECUTE, { capability: 'email.send' })).expect(202).text('hitlRequestId');
}

describe('metrics', () => {
  test('tell calls, answers, requests and decisions, and no label names anybody', async () => {
    const agent = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
    (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(200);
    (await agent.client.post(EXECUTE, { capability: 'no.such' })).expect(403);
    const [decided, open] = [await ask(agent.client), await ask(agent.client)];
    (await asRoot(server).post(`/api/v1/hitl/${decided}/approve`)).expect(200);
    (await anonymous(server).get('/no/such/path')).expect(404);
    const all = await series();
    expect(valueOf(all, 'countersign_gate_calls_total', { mode: 'propose', outcome: 'pending' })).toBe(2);
    expect(valueOf(all, 'countersign_gate_calls_total', { mode: 'none', outcome: 'refused' })).toBe(1);
    expect(valueOf(all, 'countersign_gate_calls_total', { mode: 'auto', outcome: 'error' })).toBe(0);
    expect(valueOf(all, 'countersign_open_requests')).toBe(1);
    expect(valueOf(all, 'countersign_oldest_open_request_age_seconds')).toBeGreaterThan(0);
    expect(valueOf(all, 'countersign_decision_wait_seconds_count', { outcome: 'approved', by: 'human' })).toBe(1);
    const answers = (method: string, route: string, status: string) =>
      valueOf(all, 'countersign_http_request_seconds_count', { method, route, status });
    expect(answers('POST', EXECUTE, '2xx')).toBe(3);
    expect(answers('POST', EXECUTE, '4xx')).toBe(1);
    expect(answers('POST', '/api/v1/hitl/:id/approve', '2xx')).toBe(1);
    expect(answers('GET', 'none', '4xx')).toBe(1);
    const texts = new Set(all.flatMap(({ labels }) => Object.values(labels)));
    const told = [agent.id, decided, open, 'web.search', 'no.such', '/no/such/path'];
    expect([...texts].filter((text) => told.some((one) => text.includes(one)))).toEqual([]);
  });

  test('are those of the committed list, by name and type', async () => {
    const types = [...(await scrape(metricsUrl)).matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name, type]);
    expect(new Map(types as [string, string][])).toEqual(documentedMetrics());
  });

  test('tell how the server stands to its database', async () => {
    const all = await eventually(async () => {
      const now = await series();
      expect(valueOf(now, 'countersign_leader')).toBe(1);
      expect(valueOf(now, 'countersign_sweeps_total', { sweep: 'requests', outcome: 'done' })).toBeGreaterThan(0);
      return now;
    });
    expect(valueOf(all, 'countersign_maintenance')).toBe(0);
    expect(valueOf(all, 'countersign_parked_effects')).toBe(0);
    expect(valueOf(all, 'countersign_integrator_queued_leaves')).toBeGreaterThanOrEqual(0);
    expect(valueOf(all, 'countersign_outbox_lag_seconds', { kind: 'execution.run' })).toBeGreaterThanOrEqual(0);
    expect(valueOf(all, 'countersign_database_write_age_seconds')).toBeGreaterThanOrEqual(0);
    expect(valueOf(all, 'countersign_pool_connections', { pool: 'reserve', state: 'idle' })).toBeDefined();
    expect(valueOf(all, 'countersign_database_faults_total', { fault: 'disk-full' })).toBe(0);
  });

  test('stand on their own port alone, which has nothing else', async () => {
    (await anonymous(server).get('/metrics')).expect(404);
    expect((await fetch(`${metricsUrl}/health`)).status).toBe(404);
    expect((await fetch(`${metricsUrl}/metrics`, { method: 'POST', body: '{}' })).status).toBe(405);
    expect((await fetch(`${metricsUrl}/metrics?x=1`, { method: 'HEAD' })).status).toBe(200);
  });
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { anAgent, type BuiltAgent } from '../support/builders/agents.js';
import { asRoot } from '../support/http/actors.js';
import { EXECUTE } from '../support/http/paths.js';
import { drawDashboard } from '../support/installed/dashboard-picture.js';
import { checkByPromtool, type Prometheus, startPrometheus } from '../support/installed/prometheus.js';
import { eventually } from '../support/running/eventually.js';
import { freePort } from '../support/servers/server-process.js';
import { startServer, type TestServer } from '../support/servers/server.js';
import { CHECKOUT } from '../support/servers/test-run.js';

let server: TestServer;
let prometheus: Prometheus;

test('promtool accepts the alerts and the sample', () => {
  expect(checkByPromtool()).toMatch(/SUCCESS: \d\d rules found[\s\S]+is valid prometheus config/);
});

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets: { readonly expr: string; readonly legendFormat: string }[];
  readonly fieldConfig: { readonly defaults: { readonly unit: string } };
}

/** Where a picture of the panels is wanted, its file; then the load goes on for a while. */
const PICTURE = process.env['COUNTERSIGN_DASHBOARD_PICTURE'];
const PICTURED_SECONDS = 90;

const asked = (expr: string) => expr.replaceAll('$__rate_interval', '10s');

describe('beside a server', () => {
  beforeEach(async () => {
    const port = await freePort();
    server = await startServer({ env: { METRICS_PORT: String(port) }, ownProcess: true });
    prometheus = await startPrometheus(port);
    await eventually(async () => expect(await prometheus.targets()).toEqual(['up']));
  });
  afterEach(async () => {
    await prometheus.stop();
    await server.stop();
  });

  test('Prometheus scrapes a server, and answers each query of the dashboard; all panels have something to show', async () => {
    const agent = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
    const { panels } = JSON.parse(readFileSync(join(CHECKOUT, 'deploy/grafana/dashboard.json'), 'utf8')) as { panels: Panel[] };
    const begun = Date.now() / 1_000;
    for (let n = 0; PICTURE !== undefined && Date.now() / 1_000 < begun + PICTURED_SECONDS; n++) await someCalls(agent, n);
    await eventually(async () => {
      await someCalls(agent, 1);
      const shown = await Promise.all(panels.map(async ({ title, targets }) => {
        const answers = await Promise.all(targets.map(({ expr }) => prometheus.query(asked(expr))));
        return answers.flat().some(({ value }) => !Number.isNaN(value)) ? [title] : [];
      }));
      expect(panels.map(({ title }) => title).filter((title) => !shown.flat().includes(title))).toEqual([]);
    }, { within: 20_000 });
    if (PICTURE !== undefined) writeFileSync(PICTURE, await pictureOf(panels, [begun + 5, Date.now() / 1_000]));
  });

  test('alerts fire, name their runbook, and end: a fault of the database, and a server that is gone', async () => {
    expect((await prometheus.alerts()).filter(({ labels: { severity } }) => severity === 'critical')).toEqual([]);
    const agent = await anAgent(server).granted('web.search').create();
    await readOnly('set default_transaction_read_only = on');
    await eventually(async () => void (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(503, 'UNAVAILABLE'));
    await firing('CountersignDatabaseFault', { fault: 'read-only' }, 'docs/runbooks.md#read-only');
    await readOnly('reset default_transaction_read_only');
    await server.kill();
    await firing('CountersignDown', { job: 'countersign' }, 'docs/runbooks.md#server-down');
    await server.restart();
    await eventually(async () => {
      expect((await prometheus.alerts()).map(({ labels }) => labels.alertname)).not.toContain('CountersignDown');
    }, { within: 25_000 });
  });
});

async function someCalls(agent: BuiltAgent, n: number): Promise<void> {
  const call = (capability: string) => agent.client.post(EXECUTE, { capability });
  await Promise.all(Array.from({ length: 1 + (n % 4) }, async () => (await call('web.search')).expect(200)));
  const request = (await call('email.send')).expect(202).text('hitlRequestId');
  if (n % 3 > 0) (await asRoot(server).post(`/api/v1/hitl/${request}/${n % 3 === 1 ? 'approve' : 'reject'}`)).expect(200);
}

async function pictureOf(panels: readonly Panel[], [from, to]: [number, number]): Promise<string> {
  const drawn = await Promise.all(panels.map(async ({ title, type, targets, fieldConfig: { defaults: { unit } } }) => {
    const lines = await Promise.all(targets.map(async ({ expr, legendFormat }) =>
      (await prometheus.range(asked(expr), from, to)).map(({ metric, points }) => ({
        name: legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? ''),
        points: points.filter(({ value }) => Number.isFinite(value)),
      }))));
    return { title, type, unit, lines: lines.flat().filter(({ points }) => points.length > 0) };
  }));
  return drawDashboard(drawn, [from, to]);
}

/** For sessions from now on: those that are there end. */
async function readOnly(setting: string): Promise<void> {
  const { name } = server.database;
  await server.database.asSuperuser('set transaction read write', `alter database ${name} ${setting}`);
  await server.database.asSuperuser(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and application_name like 'countersign%'`);
}

async function firing(alertname: string, labels: Readonly<Record<string, string>>, runbook: string): Promise<void> {
  await eventually(async () => {
    expect(await prometheus.alerts()).toContainEqual(expect.objectContaining({
      state: 'firing', labels: expect.objectContaining({ alertname, ...labels }), annotations: expect.objectContaining({ runbook }),
    }));
  }, { within: 25_000 });
}

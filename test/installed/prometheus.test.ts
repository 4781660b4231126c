import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { anAgent } from '../support/builders/agents.js';
import { EXECUTE } from '../support/http/paths.js';
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

interface Dashboard {
  readonly panels: { readonly title: string; readonly targets: { readonly expr: string }[] }[];
}

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

  test('Prometheus scrapes a server, and answers each query of the dashboard; most panels have something to show', async () => {
    const agent = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
    const { panels } = JSON.parse(readFileSync(join(CHECKOUT, 'deploy/grafana/dashboard.json'), 'utf8')) as Dashboard;
    await eventually(async () => {
      (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(200);
      const shown = await Promise.all(panels.map(async ({ title, targets }) => {
        const answers = await Promise.all(targets.map(({ expr }) => prometheus.query(expr.replaceAll('$__rate_interval', '10s'))));
        return answers.flat().some(({ value }) => !Number.isNaN(value)) ? [title] : [];
      }));
      // Nothing was decided in this test, and nothing else is missing.
      const missing = panels.map(({ title }) => title).filter((title) => !shown.flat().includes(title));
      expect(missing.filter((title) => !['Decisions', 'Waiting for decisions'].includes(title))).toEqual([]);
    }, { within: 20_000 });
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

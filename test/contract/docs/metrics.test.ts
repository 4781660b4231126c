import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAULT_DETAILS } from '../../../src/platform/http/reply/database-faults.js';
import { documentedMetrics, metricsNamedIn } from '../../support/running/documented-metrics.js';
import { CHECKOUT } from '../../support/servers/test-run.js';

const text = (path: string) => readFileSync(join(CHECKOUT, path), 'utf8');

test.each(['deploy/prometheus/alerts.yml', 'deploy/grafana/dashboard.json'])('%s asks for metrics that there are', (file) => {
  const named = metricsNamedIn(text(file));
  expect(named.length).toBeGreaterThan(10);
  const documented = documentedMetrics();
  expect(named.filter((name) => !documented.has(name))).toEqual([]);
});

test('each alert has its runbook', () => {
  const sections = new Set([...text('docs/runbooks.md').matchAll(/^## (.+)$/gm)].map(([, name]) => name));
  const alerts = text('deploy/prometheus/alerts.yml').split(/^ +- alert: /m).slice(1);
  expect(alerts.length).toBeGreaterThan(10);
  for (const alert of alerts) {
    const runbook = /runbook: 'docs\/runbooks\.md#(.+)'$/m.exec(alert)?.[1] ?? `none of ${alert}`;
    const wanted = runbook === '{{ $labels.fault }}' ? Object.keys(FAULT_DETAILS) : [runbook];
    expect(wanted.filter((name) => !sections.has(name))).toEqual([]);
  }
});

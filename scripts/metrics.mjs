// Writes docs/metrics.md from the catalogue of metrics; with --check fails when the committed page says something else.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { prepareOrExit } from './prepare.mjs';

const PAGE = new URL('../docs/metrics.md', import.meta.url);
const FOLDER = new URL('../dist/src/platform/metrics/', import.meta.url);

prepareOrExit();
const { ALL_METRICS } = await import(new URL('catalogue.js', FOLDER).href);
const { PrometheusMetrics } = await import(new URL('prometheus-metrics.js', FOLDER).href);
const page = pageOf(ALL_METRICS, new PrometheusMetrics().registry.getMetricsAsArray().filter(({ name }) => !(name in ALL_METRICS)));

if (process.argv.includes('--check')) {
  const committed = existsSync(PAGE) ? await readFile(PAGE, 'utf8') : '';
  if (committed !== page) {
    console.error('docs/metrics.md is not what the catalogue says. Run `node scripts/metrics.mjs` and commit the result.');
    process.exitCode = 1;
  } else console.log('docs/metrics.md is up to date.');
} else {
  await writeFile(PAGE, page);
  console.log(`docs/metrics.md: ${Object.keys(ALL_METRICS).length} metrics.`);
}

function pageOf(own, defaults) {
  return [
    '# Metrics',
    '',
    '`METRICS_PORT` opens `GET /metrics` for Prometheus ([operations](operations.md#metrics)). Generated from the catalogue in',
    '`src/platform/metrics`; do not edit. Labels have closed values, or such as the version has: none grows with users. A gauge that the',
    'database did not tell in time is absent.',
    '',
    '| Metric | Type | Labels | |',
    '|---|---|---|---|',
    ...Object.entries(own).map(([name, { type, labels, help }]) => `| \`${name}\` | ${type} | ${labelsOf(labels)} | ${help} |`),
    '',
    '## Of Node and the process',
    '',
    'On Linux, by `prom-client`.',
    '',
    '| Metric | Type | |',
    '|---|---|---|',
    ...defaults.map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help} |`),
    '',
  ].join('\n');
}

function labelsOf(labels) {
  const shown = Object.entries(labels).map(([name, values]) =>
    `\`${name}\`: ${typeof values === 'string' ? values : values.map((value) => `\`${value}\``).join(', ')}`);
  return shown.join('; ') || '—';
}

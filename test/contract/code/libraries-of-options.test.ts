import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../../support/servers/test-run.js';

/** Libraries that only some installations switch on: the file that imports them, and the one that loads it when it is asked to. */
const OPTIONS = [
  [/@opentelemetry\//, 'open-telemetry', 'src/platform/tracing/tracing.module.ts'],
  [/prom-client/, 'prometheus-metrics', 'src/platform/metrics/metrics.module.ts'],
] as const;

const sources = readdirSync(join(CHECKOUT, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path: `src/${path}`, text: readFileSync(join(CHECKOUT, 'src', path), 'utf8') }));

const naming = (pattern: RegExp) => sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

test.each(OPTIONS)('%s is loaded only where it is switched on', (library, file, loader) => {
  expect(naming(new RegExp(`from '${library.source}`)).map((path) => path.split('/').at(-1))).toEqual([`${file}.ts`]);
  expect(naming(new RegExp(`/${file}\\.js'`))).toEqual([loader]);
  expect(naming(new RegExp(`await import\\('\\./${file}\\.js'\\)`))).toEqual([loader]);
});

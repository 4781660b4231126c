import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../servers/test-run.js';

/** The committed list: name → type. */
export function documentedMetrics(): Map<string, string> {
  const page = readFileSync(join(CHECKOUT, 'docs/metrics.md'), 'utf8');
  return new Map([...page.matchAll(/^\| `(\w+)` \| (counter|gauge|histogram|summary) \|/gm)].map(([, name, type]) => [name!, type!]));
}

/** Names of metrics that stand in queries; those of a histogram's series are the histogram's. */
export function metricsNamedIn(text: string): string[] {
  const names = [...text.matchAll(/\b(?:countersign|nodejs|process)_\w+/g)].map(([name]) => name);
  const histograms = new Set([...documentedMetrics()].filter(([, type]) => type === 'histogram').map(([name]) => name));
  const base = (name: string) => name.replace(/_(?:bucket|count|sum)$/, '');
  return [...new Set(names.map((name) => (histograms.has(base(name)) ? base(name) : name)))];
}

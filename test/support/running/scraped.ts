import { expect } from '@jest/globals';

export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What Prometheus would be told now. */
export async function scrape(metricsUrl: string): Promise<string> {
  const response = await fetch(`${metricsUrl}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  return response.text();
}

export async function scrapedSeries(metricsUrl: string): Promise<Series[]> {
  return [...(await scrape(metricsUrl)).matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name, labels = '', value]) => ({
    name: name!, value: Number(value),
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, text]) => [label!, text!])),
  }));
}

export function valueOf(all: readonly Series[], name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
  return all.find((one) => one.name === name && Object.entries(labels).every(([label, text]) => one.labels[label] === text))?.value;
}

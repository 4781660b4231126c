import type { CounterName, GaugeName, HistogramName, LabelsOf } from './catalogue.js';

/** A gauge's value at this moment. */
export interface Reading {
  readonly name: GaugeName;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** @param labels all that the catalogue names */
export function reading<Name extends GaugeName>(name: Name, value: number, labels: LabelsOf<Name>): Reading {
  return { name, value, labels };
}

/** Where everybody tells what Prometheus is to see. Without METRICS_PORT nobody listens, and nothing is kept. */
export abstract class Metrics {
  abstract count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>): void;
  /** @param seconds of a length of time */
  abstract observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void;
  /** Asked at each scrape. From memory alone. */
  abstract watch(read: () => readonly Reading[]): void;
  /**
   * Asked at a scrape, once in five seconds at most, one after another. What fails, or is not there within two seconds, is absent.
   *
   * @param read one statement on the reserve, of which at most so many rows are counted that it always ends soon
   */
  abstract ask(source: string, read: () => Promise<readonly Reading[]>): void;
  /** All of them in Prometheus' text format. */
  abstract text(): Promise<string>;
}

export class NoMetrics extends Metrics {
  count(): void {}
  observe(): void {}
  watch(): void {}
  ask(): void {}
  text(): Promise<string> {
    return Promise.resolve('');
  }
}

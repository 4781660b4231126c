import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { AskedReadings } from './asked-readings.js';
import { ALL_METRICS, type CounterName, type HistogramName, type LabelsOf } from './catalogue.js';
import { Metrics, type Reading } from './metrics.js';

/** Keeps what it is told for Prometheus, together with what Node and the process say of themselves. */
export class PrometheusMetrics extends Metrics {
  readonly registry = new Registry();
  private readonly counters = new Map<string, Counter>();
  private readonly histograms = new Map<string, Histogram>();
  private readonly gauges = new Map<string, Gauge>();
  private readonly watched: (() => readonly Reading[])[] = [];
  private readonly asked = new AskedReadings((source) => this.count('countersign_failed_reads_total', { source }));
  private writing: Promise<string> | undefined;

  constructor() {
    super();
    collectDefaultMetrics({ register: this.registry });
    for (const [name, { type, help, labels, buckets = [] }] of Object.entries(ALL_METRICS)) {
      const settings = { name, help, labelNames: Object.keys(labels), registers: [this.registry] };
      if (type === 'histogram') this.histograms.set(name, new Histogram({ ...settings, buckets: [...buckets] }));
      else if (type === 'gauge') this.gauges.set(name, new Gauge(settings));
      else this.counters.set(name, startedCounter(new Counter(settings), labels));
    }
  }

  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>): void {
    this.counters.get(name)!.inc(labels);
  }

  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void {
    this.histograms.get(name)!.observe(labels, seconds);
  }

  watch(read: () => readonly Reading[]): void {
    this.watched.push(read);
  }

  ask(source: string, read: () => Promise<readonly Reading[]>): void {
    this.asked.add({ name: source, read });
  }

  /** Whoever asks meanwhile gets the same. */
  text(): Promise<string> {
    return (this.writing ??= this.write().finally(() => (this.writing = undefined)));
  }

  private async write(): Promise<string> {
    const readings = [...(await this.asked.now()), ...this.watched.flatMap((read) => read())];
    for (const [name, gauge] of this.gauges) {
      gauge.reset();
      // Without labels a reset makes it 0, which nobody has read.
      if (Object.keys(ALL_METRICS[name]!.labels).length === 0) gauge.remove();
    }
    for (const { name, labels, value } of readings) this.gauges.get(name)!.set(labels, value);
    return this.registry.metrics();
  }
}

/** At 0 for all values of closed lists: a series that begins at 1 has not risen, for whoever asks how much it rose. */
function startedCounter(counter: Counter, labels: Readonly<Record<string, readonly string[] | string>>): Counter {
  let started: Record<string, string>[] = [{}];
  for (const [label, values] of Object.entries(labels)) {
    if (typeof values === 'string') return counter;
    started = started.flatMap((some) => values.map((value) => ({ ...some, [label]: value })));
  }
  for (const some of started) counter.inc(some, 0);
  return counter;
}

import { Global, Module } from '@nestjs/common';
import { CONFIG, type CompleteConfig } from '../config/config.js';
import { MetricsServer } from './metrics-server.js';
import { Metrics, NoMetrics } from './metrics.js';

/** The library is loaded where there is a port for it alone. */
async function metricsFor({ metricsPort }: CompleteConfig): Promise<Metrics> {
  if (metricsPort === undefined) return new NoMetrics();
  const { PrometheusMetrics } = await import('./prometheus-metrics.js');
  return new PrometheusMetrics();
}

/** What Prometheus is told; everybody tells it, and it knows nobody. */
@Global()
@Module({ providers: [{ provide: Metrics, inject: [CONFIG], useFactory: metricsFor }, MetricsServer], exports: [Metrics] })
export class MetricsModule {}

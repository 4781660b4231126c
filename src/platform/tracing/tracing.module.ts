import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { CONFIG, type CompleteConfig } from '../config/config.js';
import { LOGGER } from '../logging/token.js';
import { NoTracing, Tracing } from './tracing.js';

/** The libraries are loaded where there is somewhere to send to. */
async function tracingFor(config: CompleteConfig, logger: Logger): Promise<Tracing> {
  const { otelExporterOtlpEndpoint: endpoint, otelExporterOtlpHeaders: headers = {} } = config;
  if (endpoint === undefined) return new NoTracing();
  const { OpenTelemetry } = await import('./open-telemetry.js');
  return new OpenTelemetry({ endpoint, headers, service: config.otelServiceName, ratio: config.otelTracesSamplerArg }, logger);
}

/** What a receiver of traces is told; the gate and its runtimes tell it, and it knows nobody. */
@Global()
@Module({ providers: [{ provide: Tracing, inject: [CONFIG, LOGGER], useFactory: tracingFor }], exports: [Tracing] })
export class TracingModule implements OnApplicationShutdown {
  constructor(private readonly tracing: Tracing) {}

  async onApplicationShutdown(): Promise<void> {
    await this.tracing.close();
  }
}

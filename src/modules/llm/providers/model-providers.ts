import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent as ConnectionPool } from 'undici';
import type { Family } from '../../../domain/llm/family.js';
import { type ModelProvider, providerOf } from '../../../domain/llm/model-provider.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { CircuitBreaker } from '../../../platform/outbound/circuit-breaker.js';

/** Turns the pool's own timeouts off: each call has a deadline. */
const NO_TIMEOUT = 0;
const CONNECT_MS = 10_000;

/** A provider with its connections, which are kept, and a breaker of its own. */
export interface ConnectedProvider extends ModelProvider {
  readonly pool: ConnectionPool;
  readonly breaker: CircuitBreaker;
}

/**
 * The providers of the operator's configuration. Their addresses are the operator's own, so they are not checked as those are that people
 * configure by the API (`OutboundGuard`).
 */
@Injectable()
export class ModelProviders implements OnApplicationShutdown {
  readonly all: readonly ConnectedProvider[];
  readonly timeoutSeconds: number;

  constructor(@Inject(CONFIG) { modelProviders, llmTimeout }: Pick<CompleteConfig, 'modelProviders' | 'llmTimeout'>) {
    this.timeoutSeconds = llmTimeout;
    this.all = modelProviders.map((provider) => ({
      ...provider,
      pool: new ConnectionPool({ connect: { timeout: CONNECT_MS }, headersTimeout: NO_TIMEOUT, bodyTimeout: NO_TIMEOUT }),
      breaker: new CircuitBreaker(),
    }));
  }

  forModel(model: string): ConnectedProvider | undefined {
    return providerOf(this.all, model);
  }

  /** The providers to try for a model, in this order: its own, then those of its fallbacks that speak the same format. */
  candidatesFor(model: string, family: Family): { readonly provider: ConnectedProvider; readonly model: string }[] {
    const first = this.forModel(model);
    const models = [model, ...(first?.fallbacks ?? [])];
    return models.flatMap((name) => {
      const provider = this.forModel(name);
      return provider?.family === family ? [{ provider, model: name }] : [];
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.all.map(({ pool }) => pool.destroy()));
  }
}

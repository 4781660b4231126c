import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent } from 'undici';
import type { Family } from '../../../domain/llm/family.js';
import { type ModelProvider, providerOf } from '../../../domain/llm/model-provider.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { CircuitBreaker } from '../../../platform/outbound/circuit-breaker.js';

/** Longer than the time of any call, which has a deadline of its own. */
const NO_TIMEOUT = 0;
const CONNECT_MS = 10_000;

/** A provider with its connections, which are kept, and a breaker of its own. */
export interface ConnectedProvider extends ModelProvider {
  readonly pool: Agent;
  readonly breaker: CircuitBreaker;
}

/**
 * The providers of the operator's configuration. Their addresses are taken as they stand: they come from the environment, so that nothing
 * is checked of them as of what people configure by the API.
 */
@Injectable()
export class ModelProviders implements OnApplicationShutdown {
  readonly all: readonly ConnectedProvider[];
  readonly timeoutSeconds: number;

  constructor(@Inject(CONFIG) { modelProviders, llmTimeout }: Pick<CompleteConfig, 'modelProviders' | 'llmTimeout'>) {
    this.timeoutSeconds = llmTimeout;
    this.all = modelProviders.map((provider) => ({
      ...provider,
      pool: new Agent({ connect: { timeout: CONNECT_MS }, headersTimeout: NO_TIMEOUT, bodyTimeout: NO_TIMEOUT }),
      breaker: new CircuitBreaker(),
    }));
  }

  of(model: string): ConnectedProvider | undefined {
    return providerOf(this.all, model);
  }

  /** Whoever is asked for a model, in turn: its provider, then those of the fallbacks that speak the same format. */
  inTurn(model: string, family: Family): { readonly provider: ConnectedProvider; readonly model: string }[] {
    const first = this.of(model);
    const models = [model, ...(first?.fallbacks ?? [])];
    return models.flatMap((name) => {
      const provider = this.of(name);
      return provider?.family === family ? [{ provider, model: name }] : [];
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.all.map(({ pool }) => pool.destroy()));
  }
}

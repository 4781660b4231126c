import { bearsRepetition, type Connector } from '../../../domain/gate/connector.js';
import type { Runtime, RuntimeCall, RuntimeName, RuntimeOutcome } from './runtime.js';

export interface RuntimeChoice {
  readonly primary: RuntimeName;
  readonly fallback?: RuntimeName;
}

/** An outcome and the runtime that gave it. */
export type Served = RuntimeOutcome & { readonly runtime: RuntimeName };

/**
 * The primary runtime, and a fallback that serves only when the primary refused before it could have acted (interface,
 * section 1, gate rule 5). After anything else a second runtime might do the action a second time.
 */
export class RuntimeSelection {
  private readonly primary: Runtime;
  private readonly fallback?: Runtime;

  constructor(runtimes: readonly Runtime[], choice: RuntimeChoice) {
    const named = (name: RuntimeName, variable: string): Runtime => {
      const runtime = runtimes.find((candidate) => candidate.name === name);
      if (!runtime) throw new Error(`${variable}: the runtime ${name} is not available`);
      return runtime;
    };
    this.primary = named(choice.primary, 'RUNTIME_PRIMARY');
    if (choice.fallback !== undefined && choice.fallback !== choice.primary) {
      this.fallback = named(choice.fallback, 'RUNTIME_FALLBACK');
    }
  }

  /**
   * Whether a call that a crash cut off may be made again. Where a fallback may have served nobody knows which of the two had it,
   * and only connectors are declared idempotent.
   *
   * @param runtime which had it when it began
   */
  bearsRepetition(runtime: string, { connector }: { readonly connector?: Connector }): boolean {
    const isConnectors = runtime === 'connector' && this.primary.name === 'connector' && !this.fallback;
    return isConnectors && connector !== undefined && bearsRepetition(connector);
  }

  async run(call: RuntimeCall, signal: AbortSignal): Promise<Served> {
    const first = await this.primary.run(call, signal);
    const { fallback } = this;
    const inTime = !signal.aborted && call.deadline.left() > 0;
    if (first.kind !== 'unreachable' || !fallback || !inTime || !canServe(fallback, call)) {
      return { ...first, runtime: this.primary.name };
    }
    return { ...(await fallback.run(call, signal)), runtime: fallback.name };
  }
}

function canServe(runtime: Runtime, call: RuntimeCall): boolean {
  return runtime.name !== 'connector' || call.connector !== undefined;
}

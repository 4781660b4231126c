import type { OnApplicationBootstrap } from '@nestjs/common';
import { bearsRepetition, type Connector } from '../../../domain/gate/connector.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { ChosenRuntime } from '../../executions/choose-runtime.js';
import type { ExecutionRuntime } from '../../executions/execution.entity.js';
import { Deadline } from './deadline.js';
import type { CutOff, LeftBehind, Runtime, RuntimeCall, RuntimeName, RuntimeReturn } from './runtime.js';

export interface RuntimeChoice {
  readonly primary: RuntimeName;
  readonly fallback?: RuntimeName;
}

/** An outcome and the runtime that gave it. */
export type Served = RuntimeReturn & { readonly runtime: RuntimeName };

/** The part of its time in which the primary has to begin, where a fallback could still serve. */
const PRIMARY_BEGINS_WITHIN = 0.5;

/**
 * The primary runtime, and a fallback that serves only when the primary refused before it could have acted (interface,
 * section 1, gate rule 5). After anything else a second runtime might do the action a second time.
 */
export class RuntimeSelection implements OnApplicationBootstrap {
  private readonly runtimes = new Map<RuntimeName, Runtime>();

  constructor(runtimes: readonly Runtime[], private readonly choice: RuntimeChoice) {
    for (const runtime of runtimes) this.register(runtime);
  }

  /** For modules above the gate, while the server starts. */
  register(runtime: Runtime): void {
    this.runtimes.set(runtime.name, runtime);
  }

  /** @throws Error where a runtime of the configuration is none of this build */
  onApplicationBootstrap(): void {
    const { primary, fallback } = this.choice;
    this.named(primary, 'RUNTIME_PRIMARY');
    if (fallback !== undefined) this.named(fallback, 'RUNTIME_FALLBACK');
  }

  /** The runtime that has a call first: the one that it names, the agent's node where the connector says so, else the primary one. */
  nameFor({ connector, runtime }: Pick<RuntimeCall, 'connector' | 'runtime'>): RuntimeName {
    return runtime ?? this.byConnector(connector);
  }

  /** Whether calls name it themselves. */
  isNamed(runtime: ExecutionRuntime): runtime is RuntimeName {
    return this.runtimes.get(runtime as RuntimeName)?.timeoutSeconds !== undefined;
  }

  /** An execution keeps a runtime that its call named; any other is chosen at each beginning. */
  keptBy(runtime: ExecutionRuntime, chosen: ChosenRuntime): ChosenRuntime {
    const timeoutSeconds = this.runtimes.get(runtime as RuntimeName)?.timeoutSeconds;
    return timeoutSeconds === undefined ? chosen : { runtime, timeoutSeconds };
  }

  private byConnector(connector: Connector | undefined): RuntimeName {
    return connector?.type === 'node' ? 'node' : this.choice.primary;
  }

  /**
   * Whether a call that a crash cut off may be made again. Where a fallback may have served nobody knows which of the two had it,
   * and only connectors are declared idempotent. Of a node it is written down whether it had the call.
   *
   * @param runtime which had it when it began
   */
  bearsRepetition(runtime: string, { connector }: { readonly connector?: Connector }): boolean {
    if (connector?.type === 'node') return runtime === 'node' && connector.idempotent;
    const { primary, fallback = primary } = this.choice;
    const isConnectors = runtime === 'connector' && primary === 'connector' && fallback === primary;
    return isConnectors && connector !== undefined && bearsRepetition(connector);
  }

  /** @param runtime which had the call when it began */
  async withdraw(tx: Tx, runtime: string, cutOff: CutOff): Promise<LeftBehind> {
    return (await this.runtimes.get(runtime as RuntimeName)?.withdraw?.(tx, cutOff)) ?? { kind: 'had' };
  }

  async run(call: RuntimeCall, signal: AbortSignal): Promise<Served> {
    const primary = this.named(this.nameFor(call), 'RUNTIME_PRIMARY');
    const fallback = this.fallbackOf(primary, call);
    const first = await primary.run(
      fallback ? { ...call, beginBy: Deadline.in(call.deadline.left() * PRIMARY_BEGINS_WITHIN) } : call, signal);
    const inTime = !signal.aborted && call.deadline.left() > 0;
    if (first.kind !== 'unreachable' || !fallback || !inTime) return { ...first, runtime: primary.name };
    return { ...(await fallback.run(call, signal)), runtime: fallback.name };
  }

  private fallbackOf(primary: Runtime, call: RuntimeCall): Runtime | undefined {
    const { fallback: name } = this.choice;
    if (name === undefined || name === primary.name || call.runtime !== undefined) return undefined;
    const fallback = this.named(name, 'RUNTIME_FALLBACK');
    return canServe(fallback, call) ? fallback : undefined;
  }

  private named(name: RuntimeName, variable: string): Runtime {
    const runtime = this.runtimes.get(name);
    if (!runtime) throw new Error(`${variable}: the runtime ${name} is not available`);
    return runtime;
  }
}

function canServe(runtime: Runtime, { connector }: RuntimeCall): boolean {
  return runtime.name !== 'connector' || (connector !== undefined && connector.type !== 'node');
}

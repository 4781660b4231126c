import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import type { CapabilityFacts } from '../../../domain/gate/decide.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { Tracing } from '../../../platform/tracing/tracing.js';
import { Waiters } from '../../../platform/wake/waiters.js';
import type { Closed } from '../../executions/closing/closing-events.js';
import type { ExecutionRuntime } from '../../executions/execution.entity.js';
import type { StartedExecution } from '../admission/admission-item.js';
import { CloseExecutionService } from './close-execution.service.js';
import type { CutOff, LeftBehind, RuntimeName, RuntimeOutcome, RuntimeReturn } from '../runtimes/runtime.js';
import { RuntimeSelection } from '../runtimes/runtime-selection.js';

/** How long runtimes may still take when the server is asked to end, after its open requests have had their time. */
const DRAIN_MS = 12_000;

interface CalledRuntime {
  readonly outcome: RuntimeReturn;
  readonly runtime: RuntimeName;
  readonly durationMs: number;
}

/** Calls the runtime of a started execution and closes the execution. Runtimes are called from here alone. */
@Injectable()
export class RunExecutionService {
  private readonly running = new Set<Promise<unknown>>();
  private readonly shutdown = new AbortController();

  constructor(
    private readonly runtimes: RuntimeSelection,
    private readonly closing: CloseExecutionService,
    private readonly waiters: Waiters,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly metrics: Metrics,
    private readonly tracing: Tracing,
  ) {}

  /** Whether a call that this runtime may have made already can be made again, with the same key. */
  bearsRepetition(runtime: ExecutionRuntime, definition: CapabilityFacts | undefined): boolean {
    return definition !== undefined && this.runtimes.bearsRepetition(runtime, definition);
  }

  /** What a crash left of a call, which nobody begins any more where nobody has. */
  withdraw(tx: Tx, runtime: ExecutionRuntime, cutOff: CutOff): Promise<LeftBehind> {
    return this.runtimes.withdraw(tx, runtime, cutOff);
  }

  /** @returns undefined where the server ends before the execution does, which goes on without it */
  run(execution: StartedExecution): Promise<Closed | undefined> {
    const run = this.runAndClose(execution);
    const settled = run.catch(() => undefined).finally(() => this.running.delete(settled));
    this.running.add(settled);
    return run;
  }

  /**
   * Resolves when no runtime is being called any more. Calls that take longer than the server may are broken off: their
   * outcome cannot be known, and the log says so.
   */
  async drained(): Promise<void> {
    const limit = setTimeout(() => this.shutdown.abort(), DRAIN_MS);
    while (this.running.size > 0) await Promise.all(this.running);
    clearTimeout(limit);
    await this.closing.drained();
  }

  /** Wakes the callers that wait for the execution, or for its request. */
  announce(executionId: string, hitlRequestId?: string): void {
    this.waiters.wake(executionId);
    if (hitlRequestId !== undefined) this.waiters.wake(hitlRequestId);
  }

  /** Without the message, which may quote what the other side has said. */
  private sayFailed({ executionId, agentId, capability }: StartedExecution, { status, error }: Closed, runtime: ExecutionRuntime): void {
    const ended = { executionId, agentId, capability, runtime, outcome: status, code: error?.code };
    this.logger.warn(ended, 'an execution did not succeed (docs/runbooks.md#runtime-fails)');
  }

  private async runAndClose(execution: StartedExecution): Promise<Closed | undefined> {
    const { outcome, runtime, durationMs } = await (this.tracing.isOn ? this.callTraced(execution) : this.callRuntime(execution));
    const closed = outcome.kind === 'elsewhere' ? (outcome.closed ?? (await this.closing.closedElsewhere(execution)))
      : await this.close(execution, outcome, runtime, durationMs);
    this.announce(execution.executionId, execution.hitlRequestId);
    this.metrics.count('countersign_runtime_calls_total', { runtime, outcome: closed?.status ?? 'elsewhere' });
    if (closed && closed.status !== 'executed') this.sayFailed(execution, closed, runtime);
    return closed;
  }

  private async callRuntime(execution: StartedExecution): Promise<CalledRuntime> {
    const begun = performance.now();
    let outcome: RuntimeReturn;
    let runtime = this.runtimes.nameFor(execution);
    try {
      const served = await this.runtimes.run({ ...execution, idempotencyKey: execution.executionId }, this.shutdown.signal);
      ({ runtime } = served);
      outcome = served;
    } catch {
      // A mistake of ours in the middle of a call: it may have gone out.
      outcome = { kind: 'unknown', error: { code: 'RUNTIME_ERROR', message: 'The runtime broke off; it may have acted.' } };
    }
    return { outcome, runtime, durationMs: Math.round(performance.now() - begun) };
  }

  /** Whoever gets the call is told this span as its parent. */
  private async callTraced(execution: StartedExecution): Promise<CalledRuntime> {
    const { executionId, hitlRequestId, capability, traceparent } = execution;
    const span = this.tracing.begin({
      name: `runtime ${this.runtimes.nameFor(execution)}`,
      kind: 'client',
      parent: traceparent,
      facts: {
        'gen_ai.tool.name': capability, 'gen_ai.tool.call.id': executionId,
        ...(hitlRequestId === undefined ? {} : { 'countersign.hitl_request.id': hitlRequestId }),
      },
    });
    const called = await this.callRuntime({ ...execution, traceparent: span.traceparent });
    const { outcome, runtime } = called;
    const failure = 'error' in outcome ? outcome.error.code : undefined;
    span.end({ name: `runtime ${runtime}`, facts: { 'countersign.outcome': outcome.kind }, failure });
    return called;
  }

  private async close(execution: StartedExecution, outcome: RuntimeOutcome, runtime: RuntimeName, durationMs: number): Promise<Closed> {
    if (!this.tracing.isOn) return this.closing.close(execution, outcome, runtime, durationMs);
    const span = this.tracing.begin({ name: 'gate.close', parent: execution.traceparent });
    return this.closing.close(execution, outcome, runtime, durationMs).finally(() => span.end());
  }
}

import { Injectable } from '@nestjs/common';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import { newId } from '../../../domain/ids.js';
import type { JsonValue } from '../../../domain/json.js';
import { asService } from '../../../platform/auth/access/call-context.js';
import { Batcher, type ItemOutcome } from '../../../platform/database/batching/batcher.js';
import type { NamedStatement } from '../../../platform/database/statements/named-statement.js';
import { Statements } from '../../../platform/database/statements/statements.js';
import { OutboxSignal } from '../../../platform/outbox/outbox-signal.js';
import { isPassing } from '../../../platform/http/reply/failure.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { type Closed, lateEvent } from '../../executions/closing/closing-events.js';
import { ExecutionStore } from '../../executions/execution.store.js';
import type { ExecutionEntity, ExecutionRuntime } from '../../executions/execution.entity.js';
import type { StartedExecution } from '../admission/admission-item.js';
import { LEASE_GRACE_SECONDS, RHYTHM_MS } from '../admission/admission-plan.js';
import type { RuntimeOutcome } from '../runtimes/runtime.js';
import { closeParameters, closePlaceholders, type Closing, closingOf, prepared, signalNews } from './closing-batch.js';

/** `lost`: recovery, usually, has closed the execution first or begun it again; the late answer gets an entry of its own. */
type CloseResult = 'ok' | 'lost';

type Started = Closing & { readonly execution: StartedExecution };

const CLOSE: NamedStatement = { name: 'gate-close-4', text: `select gate_close_v1(${closePlaceholders(1)}) as results` };
const RETRY_MS = 200;

/** Closes executions, in batches: a compare-and-set on `running` and the fence, and the closing entry in the same commit. */
@Injectable()
export class CloseExecutionService {
  private readonly batcher = new Batcher<Started, CloseResult>({
    lanes: 1,
    largest: 128,
    longest: 100_000,
    rhythmMs: RHYTHM_MS,
    keyOf: (closing) => closing.execution.agentId,
    process: (closings) => this.process(closings),
  });

  constructor(
    private readonly statements: Statements,
    private readonly work: UnitOfWork,
    private readonly executions: ExecutionStore,
    private readonly outbox: OutboxSignal,
  ) {}

  /**
   * Closes an execution with the outcome that its runtime reported. The action has happened by now, so where the database is away the
   * closing is tried again until the lease is over; then recovery calls the execution indeterminate, and this outcome comes in late.
   */
  async close(execution: StartedExecution, outcome: RuntimeOutcome, runtime: ExecutionRuntime, durationMs: number): Promise<Closed> {
    // Made in the order of the chain: ids rise.
    const before = ('events' in outcome ? (outcome.events ?? []) : []).map((event) => prepared(execution, event, newId('audit')));
    const closed = closedBy(outcome, durationMs);
    const closing = { ...closingOf(execution, closed, runtime, before), execution };
    // Recorded as the service: the credential of the call may be dead by now.
    if ((await this.batcher.submit(closing)) === 'ok') return closed;
    return asService('worker', () => this.recordLate(execution, closed));
  }

  /** How an execution was closed by whoever got its answer; undefined while it is open. */
  async closedElsewhere({ organizationId, executionId }: StartedExecution): Promise<Closed | undefined> {
    const kept = await this.executions.find({ organizationId, id: executionId });
    return kept?.auditId ? closedAs(kept, kept.auditId, 0) : undefined;
  }

  drained(): Promise<void> {
    return this.batcher.drained();
  }

  private async process(closings: Started[]): Promise<ItemOutcome<CloseResult>[]> {
    try {
      const [row] = await this.statements.run<{ results: string[] }>(CLOSE, closeParameters(closings));
      signalNews(closings, this.outbox);
      return row!.results.map((result) =>
        result === 'busy' ? { kind: 'again', afterMs: 5 } : { kind: 'answer', answer: result as CloseResult },
      );
    } catch (error) {
      if (!isPassing(error)) throw error;
      const leaseIsOver = ({ execution }: Started) => execution.deadline.left() < -LEASE_GRACE_SECONDS * 1000;
      return closings.map((closing) => (leaseIsOver(closing) ? { kind: 'error', error } : { kind: 'again', afterMs: RETRY_MS }));
    }
  }

  /**
   * Records an outcome that came in late, marked as late. A retried closing whose first try was committed records nothing more.
   *
   * @returns how the execution was closed, which stays; the late outcome where the execution was begun again and is still open
   */
  private async recordLate(execution: StartedExecution, closed: Closed): Promise<Closed> {
    const chain = agentChain(execution.organizationId, execution.agentId);
    return this.work.run({ chains: [chain], leavesFacts: true, evenIfClosed: true }, async (tx) => {
      const kept = await this.executions.read(tx, { organizationId: execution.organizationId, id: execution.executionId });
      if (kept.auditId === closed.auditId) return closed;
      tx.record(tx.chainNow(chain), lateEvent(execution, closed));
      if (kept.auditId === null) return closed;
      const { output: _, ...asKept } = closedAs(kept, kept.auditId, closed.durationMs);
      return asKept;
    });
  }
}

function closedAs(kept: ExecutionEntity, auditId: string, durationMs: number): Closed {
  return {
    status: kept.status as Closed['status'],
    auditId,
    durationMs: kept.durationMs ?? durationMs,
    ...(kept.output === null ? {} : { output: JSON.parse(kept.output) as JsonValue }),
    ...(kept.error ? { error: kept.error } : {}),
  };
}

const outputMember = (output: JsonValue | undefined) => (output === undefined ? {} : { output });

export function closedBy(outcome: RuntimeOutcome, durationMs: number): Closed {
  const auditId = newId('audit');
  switch (outcome.kind) {
    case 'executed':
      return { status: 'executed', auditId, durationMs, output: outcome.output };
    case 'failed':
      return { status: 'failed', auditId, durationMs, error: outcome.error, ...outputMember(outcome.output) };
    case 'unreachable':
      return { status: 'failed', auditId, durationMs, error: outcome.error };
    case 'unknown':
      return { status: 'indeterminate', auditId, durationMs, error: outcome.error };
  }
}

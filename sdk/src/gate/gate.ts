import { type Connection, randomKey } from '../connection.js';
import { called, checkOptions, CountersignError, isCountersignError } from '../errors.js';
import { backoffMs } from '../http/backoff.js';
import { checkedMs, Deadline } from '../http/deadline.js';
import type { CallOptions } from '../operation.js';
import type { ExecuteDto, ExecutionEnvelope, GateDryRun, GateReply, RequestReply } from '../wire.js';
import { type Outcome, outcomeOfExecution, outcomeOfReply, type PendingApproval, throwIfNotApproved } from './outcome.js';
import { Waits } from './waits.js';

/** Any JSON object; an interface has no index signature. */
export type Input = object;

/** `timeoutMs` bounds the call that asks, with all of its attempts; a wait for a person is beyond it, and has `waitTimeoutMs`. */
export interface ExecuteOptions extends CallOptions, WaitOptions {
  /** Name of the action, for the reviewer. */
  readonly action?: string;
  /** `task_id`, `session_id`, `on_behalf_of`, and what else you need. */
  readonly context?: Input;
  /** Root alone says which agent acts. */
  readonly agentId?: string;
  /** Whether to wait for a person's decision. Default: false. */
  readonly waitForApproval?: boolean;
}

export interface WaitOptions {
  /** Milliseconds to wait for a decision. Default: 1,800,000, which is as long as requests stand unless their grant says otherwise. */
  readonly waitTimeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Told once, when a person is asked: to keep the request's id, to say that it takes a while. The wait begins when it has returned. */
  readonly onPending?: (pending: PendingApproval) => unknown;
}

const WAIT_MS = 1_800_000;
const WAIT_OPTIONS = 'waitTimeoutMs signal onPending';
/** The longest for which the service holds an answer (contract of `?wait=`). */
const LONG_POLL_SECONDS = 55;
/** The pauses begin with this where the service does not hold an answer: it holds 64 of one caller. */
const PAUSE_BASE_MS = 1_000;

/** The gate: what an agent wants to do passes it, and is run, blocked, or put before a person. */
export class Gate {
  readonly #waits = new Waits();

  constructor(private readonly connection: Connection) {}

  /**
   * Executes a capability, or asks for it.
   * @throws CountersignError HITL_REJECTED, HITL_TIMED_OUT, HITL_CANCELLED of a request that has ended; CAPABILITY_NOT_GRANTED, STOPPED and
   *   the other codes of the service; VALIDATION_FAILED for an input that is no I-JSON, before anything is sent. Where the caller gave up,
   *   `executionId` and `hitlId` say what is under way
   */
  async execute(capability: string, input: Input = {}, options: ExecuteOptions = {}): Promise<Outcome> {
    return (await this.ask(capability, input, options)).outcome;
  }

  /** As `execute`; tells besides whether the answer was there already, under the key of an earlier call. */
  async ask(capability: string, input: Input, options: ExecuteOptions): Promise<{ outcome: Outcome; isReplayed: boolean }> {
    // Before anything is sent.
    checkOptions(options, 'execute', `action context agentId waitForApproval idempotencyKey timeoutMs headers ${WAIT_OPTIONS}`);
    const { waitForApproval = false, waitTimeoutMs = WAIT_MS, idempotencyKey = randomKey(), signal, timeoutMs, headers } = options;
    checkedMs(waitTimeoutMs);
    const body = { capability, input, action: options.action, context: options.context, agentId: options.agentId };
    const call = { body, idempotencyKey, signal, headers, timeoutMs };
    const reply = await this.connection.send('POST /api/v1/execute', call);
    const outcome = outcomeOfReply(reply.body as GateReply);
    // Under a key of our own nobody else has called; what is repeated then is our own call, whose answer was lost.
    const isReplayed = options.idempotencyKey !== undefined && reply.headers.get('idempotent-replayed') === 'true';
    if (outcome.status !== 'pending_approval') return { outcome, isReplayed };
    const ids = { idempotencyKey, executionId: outcome.executionId, hitlId: outcome.hitlRequestId };
    const told = { waitTimeoutMs, signal, onPending: options.onPending, waits: waitForApproval };
    return { outcome: await naming(ids, this.#decided(outcome.hitlRequestId, told, outcome)), isReplayed };
  }

  /**
   * Waits for what becomes of a request, which another process may have made.
   * @returns `pending_approval` where nobody has decided when the time is over
   * @throws CountersignError as `execute`
   */
  async waitFor(hitlRequestId: string, options: WaitOptions = {}): Promise<Outcome> {
    checkOptions(options, 'waitFor', WAIT_OPTIONS);
    return naming({ hitlId: hitlRequestId }, this.#decided(hitlRequestId, options));
  }

  /** What the gate would do, and by which rules. Nothing is created or run. */
  async dryRun(capability: string, input: Input = {}, options: Pick<ExecuteOptions, 'action' | 'context' | 'agentId'> & CallOptions = {}):
  Promise<GateDryRun> {
    const { action, context, agentId, ...call } = options;
    const body = { capability, input, action, context, agentId, dryRun: true } as ExecuteDto;
    const reply = await this.connection.request('POST /api/v1/execute', { body, ...call });
    if (reply.status === 'dry_run') return reply;
    throw new CountersignError('BAD_RESPONSE', { detail: `A dry run was answered by ${reply.status}.` });
  }

  async #decided(
    id: string, { waitTimeoutMs = WAIT_MS, signal, onPending, waits = true }: WaitOptions & { waits?: boolean }, asked?: PendingApproval,
  ): Promise<Outcome> {
    const deadline = new Deadline(waitTimeoutMs, signal);
    let pending = asked;
    let isApproved = false;
    const tell = (now: PendingApproval) => deadline.race(called('onPending', () => onPending?.(now)));
    this.#waits.begin();
    try {
      if (pending) await tell(pending);
      if (pending && !waits) return pending;
      for (let immediate = 0; ; ) {
        // The first look is not held: it says at once what there is to wait for.
        const wanted = pending === undefined ? 0 : Math.min(LONG_POLL_SECONDS, Math.floor(deadline.remainingMs / 1_000));
        const look = (seconds: number) => this.#look(id, seconds, deadline);
        const { outcome, request, wait, ms } = await this.#waits.look(wanted, deadline, look);
        if (outcome !== undefined) return outcome;
        isApproved = request.status === 'approved';
        if (pending === undefined) {
          pending = pendingOf(request);
          await tell(pending);
          continue;
        }
        immediate = ms < wait * 500 ? immediate + 1 : 0;
        const pauseMs = wait < wanted ? this.#waits.pauseMs : wait === 0 ? PAUSE_BASE_MS
          : immediate === 0 ? 0 : backoffMs(immediate, PAUSE_BASE_MS);
        await deadline.pause(Math.min(deadline.remainingMs, pauseMs));
      }
    } catch (error) {
      // A wait that is over is an answer, if one has come before.
      if (pending === undefined || !isCountersignError(error, 'DEADLINE_EXCEEDED')) throw error;
      if (!isApproved) return pending;
      throw error.with({ detail: 'A person has approved it, and it is being done.', executionId: pending.executionId });
    } finally {
      this.#waits.end();
      deadline.end();
    }
  }

  /** @throws CountersignError where nothing runs any more */
  async #look(id: string, wait: number, deadline: Deadline) {
    const began = performance.now();
    const seen = await this.connection.send('GET /api/v1/hitl/{id}', { path: { id }, query: { wait, form: 'camel' } }, deadline);
    const request = seen.body as RequestReply;
    throwIfNotApproved(request);
    const { status, execution } = request;
    let outcome: Outcome | undefined;
    if (status === 'approved' && execution) {
      const call = { path: { id: execution.id }, query: { wait } };
      const { body } = await this.connection.send('GET /api/v1/executions/{id}', call, deadline);
      outcome = outcomeOfExecution((body as ExecutionEnvelope).execution);
    }
    return { outcome, request, wait, ms: performance.now() - began };
  }
}

function pendingOf({ id, executionId, flagged, runs, hitlMode, expiresAt, reasons }: RequestReply): PendingApproval {
  return { status: 'pending_approval', hitlRequestId: id, executionId, effectiveMode: hitlMode, flagged, runs, expiresAt, reasons };
}

/** What it throws says what it was about. */
async function naming<T>(ids: { hitlId?: string; executionId?: string; idempotencyKey?: string }, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof CountersignError)) throw error;
    throw error.with({ ...ids, ...(error.executionId ? { executionId: error.executionId } : {}) });
  }
}

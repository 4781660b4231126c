import type { Connector } from '../../../domain/gate/connector.js';
import type { AuditEvent } from '../../../domain/audit/catalogue/audit-events.js';
import type { JsonObject, JsonValue } from '../../../domain/json.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { Closed } from '../../executions/closing/closing-events.js';
import type { Deadline } from './deadline.js';

export type RuntimeName = 'connector' | 'webhook' | 'node' | 'llm';

/** One governed action on its way to be done. Its `execution.started` is durable before a runtime sees it. */
export interface RuntimeCall {
  readonly executionId: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly capability: string;
  readonly action?: string;
  /** Canonical JSON: the exact bytes that were approved. `input` is what they say. */
  readonly inputText: string;
  readonly input: JsonObject;
  readonly context?: JsonObject;
  readonly connector?: Connector;
  /** The runtime that the execution began with, where the call names one: that of a module above the gate. */
  readonly runtime?: RuntimeName;
  /** The execution's id, by which a receiver recognizes a call that it gets twice. */
  readonly idempotencyKey: string;
  /** When the caller gives up. Nothing is begun after it. */
  readonly deadline: Deadline;
  /** When a fallback takes over what nobody has begun until then; absent where there is none. */
  readonly beginBy?: Deadline;
  /** Number of this beginning of the execution, from 1. */
  readonly fence: number;
  /** The request by which people approved it: what crashes cut off may begin again, where its connector says so. */
  readonly hitlRequestId?: string;
  readonly traceparent?: string;
}

export interface RuntimeError {
  readonly code: string;
  readonly message: string;
}

/** What else the log is told, just before the closing entry and in its commit. */
interface WithEvents {
  readonly events?: readonly AuditEvent[];
}

/**
 * What came of a call. `unreachable`: refused before it could have acted, so that a fallback may serve. `unknown`: it
 * may have acted and nobody can say; such an execution is indeterminate and never repeated by itself.
 */
export type RuntimeOutcome =
  | { readonly kind: 'executed'; readonly output: JsonValue } & WithEvents
  | { readonly kind: 'failed'; readonly error: RuntimeError; readonly output?: JsonValue } & WithEvents
  | { readonly kind: 'unreachable'; readonly error: RuntimeError }
  | { readonly kind: 'unknown'; readonly error: RuntimeError };

/**
 * `elsewhere`: the execution is closed by whoever gets its answer, on this server or another, or by recovery. `closed`: how, where that is
 * known; else it is looked up.
 */
export type RuntimeReturn = RuntimeOutcome | { readonly kind: 'elsewhere'; readonly closed?: Closed };

/** What a crash left of a call. `had`: somebody may have done it. `unknown`: perhaps another runtime has had it. */
export type LeftBehind =
  | ({ readonly kind: 'untouched'; readonly error: RuntimeError } & WithEvents) | { readonly kind: 'had' } | { readonly kind: 'unknown' };

/** The execution of such a call. */
export interface CutOff {
  readonly organizationId: string;
  readonly id: string;
  readonly fence: number;
  /** Canonical JSON. */
  readonly input: string;
}

/** Something that does what the gate has let through. Expected failures are outcomes; it throws only on bugs. */
export interface Runtime {
  readonly name: RuntimeName;
  /** Of a runtime that calls name themselves, and that nothing else is chosen for: how long it may take. */
  readonly timeoutSeconds?: number;
  run(call: RuntimeCall, signal: AbortSignal): Promise<RuntimeReturn>;
  /**
   * For recovery, under the agent's head, of a runtime that writes down who has a call: withdraws what nobody has begun, so that nobody
   * begins it any more. A runtime without this function may have acted.
   */
  withdraw?(tx: Tx, cutOff: CutOff): Promise<LeftBehind>;
}

import type { Connector } from '../../../domain/gate/connector.js';
import type { JsonObject, JsonValue } from '../../../domain/json.js';
import type { Deadline } from './deadline.js';

export type RuntimeName = 'connector' | 'webhook' | 'node';

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
  /** The execution's id, by which a receiver recognizes a call that it gets twice. */
  readonly idempotencyKey: string;
  /** When the caller gives up. Nothing is begun after it. */
  readonly deadline: Deadline;
  readonly traceparent?: string;
}

export interface RuntimeError {
  readonly code: string;
  readonly message: string;
}

/**
 * What came of a call. `unreachable`: refused before it could have acted, so that a fallback may serve. `unknown`: it
 * may have acted and nobody can say; such an execution is indeterminate and never repeated by itself.
 */
export type RuntimeOutcome =
  | { readonly kind: 'executed'; readonly output: JsonValue }
  | { readonly kind: 'failed'; readonly error: RuntimeError; readonly output?: JsonValue }
  | { readonly kind: 'unreachable'; readonly error: RuntimeError }
  | { readonly kind: 'unknown'; readonly error: RuntimeError };

/** Something that does what the gate has let through. Expected failures are outcomes; it throws only on bugs. */
export interface Runtime {
  readonly name: RuntimeName;
  run(call: RuntimeCall, signal: AbortSignal): Promise<RuntimeOutcome>;
}

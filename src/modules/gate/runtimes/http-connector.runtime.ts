import { connectorTimeoutMs, type HttpConnector, renderConnector, type SecretValues } from '../../../domain/gate/connector.js';
import type { OutboundGuard, OutboundOutcome } from '../../../platform/outbound/outbound-guard.js';
import { outcomeOf } from './answer-outcome.js';
import { type ConnectorCalls, secretsUnfit } from './connector.runtime.js';
import { Deadline } from './deadline.js';
import { FIRST_PAUSE_MS, repeated } from './repeated.js';
import type { RuntimeCall, RuntimeOutcome } from './runtime.js';

/**
 * Runs a capability's own HTTP call. The execution's id goes along as `Idempotency-Key`; where the connector says that
 * its receiver honours it, the call is repeated with the same key until the deadline, else it is made once.
 */
export class HttpConnectorRuntime implements ConnectorCalls<HttpConnector> {
  constructor(
    private readonly guard: OutboundGuard,
    private readonly firstPauseMs: number = FIRST_PAUSE_MS,
  ) {}

  async run(call: RuntimeCall, connector: HttpConnector, secrets: SecretValues, signal: AbortSignal): Promise<RuntimeOutcome> {
    const ownEnd = Deadline.in(connectorTimeoutMs(connector));
    const left = () => Math.min(call.deadline.left(), ownEnd.left());
    const rendered = renderConnector(connector, call.input, secrets);
    if (!rendered.ok) {
      if (secrets.size > 0) return secretsUnfit();
      // The gate rendered the same input before; a difference is a bug, and nothing was sent.
      throw new Error(`Execution ${call.executionId}: the connector cannot be filled in at ${rendered.errors[0]?.pointer}`);
    }
    const { method, url, headers, body } = rendered.request;
    const exchange = (timeoutMs: number): Promise<OutboundOutcome> => this.guard.fetch(url, {
      method,
      headers: {
        ...headers,
        'idempotency-key': call.idempotencyKey,
        ...(call.traceparent === undefined ? {} : { traceparent: call.traceparent }),
      },
      ...(body === undefined ? {} : { body }),
      signal,
      maxBytes: connector.maxBytes,
      timeoutMs,
      keptFor: call.organizationId,
    });
    const once = async (timeoutMs: number) => {
      const made: OutboundOutcome = timeoutMs > 0 ? await exchange(timeoutMs) : TOO_LATE;
      return { outcome: outcomeOf(made, 'CONNECTOR'), exchange: made };
    };
    return repeated(once, { isIdempotent: connector.idempotent, left, firstPauseMs: this.firstPauseMs, signal });
  }
}

const TOO_LATE: OutboundOutcome = { kind: 'unreachable', code: 'TIMEOUT', message: 'The deadline had passed before the call.' };

import { setTimeout as wait } from 'node:timers/promises';
import { connectorTimeoutMs, renderConnector, type HttpConnector } from '../../../domain/gate/connector.js';
import type { OutboundGuard, OutboundOutcome } from '../../../platform/outbound/outbound-guard.js';
import { outcomeOf } from './answer-outcome.js';
import { Deadline } from './deadline.js';
import type { Runtime, RuntimeCall, RuntimeOutcome } from './runtime.js';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
/** Connections are tried this often, so that a fallback still has time to serve. */
const CONNECTION_ATTEMPTS = 3;
// The receiver, or something before it, asks to be called again.
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * Runs a capability's own HTTP call. The execution's id goes along as `Idempotency-Key`; where the connector says that
 * its receiver honours it, the call is repeated with the same key until the deadline, else it is made once.
 */
export class HttpConnectorRuntime implements Runtime {
  readonly name = 'connector';

  constructor(
    private readonly guard: OutboundGuard,
    private readonly firstPauseMs: number = FIRST_PAUSE_MS,
  ) {}

  async run(call: RuntimeCall, signal: AbortSignal): Promise<RuntimeOutcome> {
    const { connector } = call;
    if (connector?.type !== 'http') throw new Error(`Execution ${call.executionId} has no connector that this service calls`);
    const ownEnd = Deadline.in(connectorTimeoutMs(connector));
    const left = () => Math.min(call.deadline.left(), ownEnd.left());
    let mayHaveActed: RuntimeOutcome | undefined;
    for (let attempt = 1, pause = this.firstPauseMs; ; attempt++, pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const exchange = await this.exchange(call, connector, left(), signal);
      const outcome = outcomeOf(exchange, 'CONNECTOR');
      if (outcome.kind === 'executed') return outcome;
      // What an earlier attempt left open stays open: a later refusal may be the answer to a duplicate.
      if (outcome.kind === 'unknown') mayHaveActed = outcome;
      if (!connector.idempotent || !worthRepeating(exchange, attempt) || signal.aborted || left() <= pause) {
        return mayHaveActed ?? outcome;
      }
      await wait(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  private async exchange(
    call: RuntimeCall,
    connector: HttpConnector,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<OutboundOutcome> {
    const rendered = renderConnector(connector, call.input);
    // The gate rendered the same input before; a difference is a bug, and nothing was sent.
    if (!rendered.ok) {
      throw new Error(`Execution ${call.executionId}: the connector cannot be filled in at ${rendered.errors[0]?.pointer}`);
    }
    if (timeoutMs <= 0) return { kind: 'unreachable', code: 'TIMEOUT', message: 'The deadline had passed before the call.' };
    const { method, url, headers, body } = rendered.request;
    return this.guard.fetch(url, {
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
    });
  }
}

function worthRepeating(exchange: OutboundOutcome, attempt: number): boolean {
  if (exchange.kind === 'answered') return PASSING.has(exchange.status) || exchange.problem === 'CONNECTION_LOST';
  if (exchange.kind === 'unknown') return exchange.code === 'CONNECTION_LOST';
  return (exchange.code === 'CONNECT' || exchange.code === 'DNS') && attempt < CONNECTION_ATTEMPTS;
}

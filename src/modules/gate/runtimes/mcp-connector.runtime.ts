import { connectorTimeoutMs, type McpConnector, renderMcpHeaders, type SecretValues } from '../../../domain/gate/connector.js';
import { mcpKey } from '../../../domain/gate/connectors/mcp-connector.js';
import type { JsonObject } from '../../../domain/json.js';
import type { McpClient } from '../../../platform/outbound/mcp/mcp-client.js';
import type { McpReply } from '../../../platform/outbound/mcp/mcp-exchange.js';
import { outcomeOf } from './answer-outcome.js';
import { type ConnectorCalls, secretsUnfit } from './connector.runtime.js';
import { Deadline } from './deadline.js';
import { outputOf } from './output.js';
import { type Attempt, FIRST_PAUSE_MS, repeated } from './repeated.js';
import type { RuntimeCall, RuntimeOutcome } from './runtime.js';

/** Members of a result that speak to the client, and say nothing of what came of the call. */
const OF_THE_PROTOCOL = new Set(['_meta', 'resultType', 'isError']);

/**
 * Calls a tool of an upstream MCP server with the input as its arguments. Before, the tool is looked up, unless that was done lately: one
 * that is no longer as it was when it was defined is not called.
 */
export class McpConnectorRuntime implements ConnectorCalls<McpConnector> {
  constructor(
    private readonly client: McpClient,
    private readonly firstPauseMs: number = FIRST_PAUSE_MS,
  ) {}

  async run(call: RuntimeCall, connector: McpConnector, secrets: SecretValues, signal: AbortSignal): Promise<RuntimeOutcome> {
    const headers = renderMcpHeaders(connector, secrets);
    if (!headers.ok) return secretsUnfit();
    const ownEnd = Deadline.in(connectorTimeoutMs(connector));
    const left = () => Math.min(call.deadline.left(), ownEnd.left());
    const once = (timeoutMs: number) => this.attempt(call, connector, headers.request, timeoutMs, signal);
    return repeated(once, { isIdempotent: connector.idempotent, left, firstPauseMs: this.firstPauseMs, signal });
  }

  private async attempt(
    call: RuntimeCall, connector: McpConnector, headers: Readonly<Record<string, string>>, timeoutMs: number, signal: AbortSignal,
  ): Promise<Attempt> {
    const end = Deadline.in(timeoutMs);
    if (timeoutMs <= 0) return { outcome: unreachable('The deadline had passed before the call.') };
    const { url, maxBytes, tool: name } = connector;
    const target = { url, headers, maxBytes, signal, timeoutMs, keptFor: call.organizationId };
    const key = mcpKey(call.organizationId, connector);
    const known = await this.client.tool(key, target, name, connector.toolDigest);
    if ('failed' in known) {
      const { failed: how, message } = known;
      return { outcome: how === 'unreachable' ? unreachable(message) : failed('CONNECTOR_STATUS', message) };
    }
    if (known.digest === undefined || known.digest !== connector.toolDigest) {
      const how = known.tool ? 'is no longer as it was when it was defined' : 'is not there any more';
      return { outcome: failed('CONNECTOR_CHANGED', `The tool ${how}. An administrator defines the capability anew.`) };
    }
    const timeLeft = end.left();
    if (timeLeft <= 0) return { outcome: unreachable('The deadline had passed before the call.') };
    const reply = await this.client.call(key, { ...target, timeoutMs: timeLeft }, known, call.input, {
      'idempotency-key': call.idempotencyKey,
      ...(call.traceparent === undefined ? {} : { traceparent: call.traceparent }),
    });
    return { outcome: outcomeOfReply(reply), ...(reply.kind === 'result' ? {} : { exchange: reply.exchange }) };
  }
}

function outcomeOfReply(reply: McpReply): RuntimeOutcome {
  if (reply.kind === 'result') return outcomeOfResult(reply.result);
  if (reply.kind === 'error') {
    return { ...failed('CONNECTOR_ERROR', `The server answered error ${reply.code}.`), output: outputFrom(reply.error) };
  }
  const outcome = outcomeOf(reply.exchange, 'CONNECTOR');
  if (outcome.kind !== 'executed') return outcome;
  // A good status, and an answer that is none, or one to something else: it may have acted.
  return { kind: 'unknown', error: { code: 'CONNECTOR_ANSWER', message: 'The server\'s answer is no answer to the call.' } };
}

function outcomeOfResult(result: JsonObject): RuntimeOutcome {
  const { resultType, isError } = result;
  const content = Object.fromEntries(Object.entries(result).filter(([name]) => !OF_THE_PROTOCOL.has(name)));
  if (resultType === 'input_required') {
    return failed('CONNECTOR_INPUT_REQUIRED', 'The tool asks for more input, which the service never gives.');
  }
  if (resultType !== undefined && resultType !== 'complete') {
    return { kind: 'unknown', error: { code: 'CONNECTOR_ANSWER', message: 'The tool\'s result is of a kind that is not known here.' } };
  }
  if (isError === true) return { ...failed('CONNECTOR_ERROR', 'The tool says that it failed.'), output: outputFrom(content) };
  return { kind: 'executed', output: outputFrom(content) };
}

function outputFrom(value: JsonObject) {
  return outputOf(Buffer.from(JSON.stringify(value), 'utf8'), { 'content-type': 'application/json' });
}

function failed(code: string, message: string): Extract<RuntimeOutcome, { kind: 'failed' }> {
  return { kind: 'failed', error: { code, message } };
}

function unreachable(message: string): RuntimeOutcome {
  return { kind: 'unreachable', error: { code: 'CONNECTOR_UNREACHABLE', message } };
}

import type { Connector, EmailConnector, HttpConnector, McpConnector, SecretValues } from '../../../domain/gate/connector.js';
import { HiddenSecrets } from '../../../domain/gate/connectors/hidden-secrets.js';
import type { Runtime, RuntimeCall, RuntimeOutcome } from './runtime.js';

/** What does the calls of connectors of one type. */
export interface ConnectorCalls<Of extends Connector> {
  run(call: RuntimeCall, connector: Of, secrets: SecretValues, signal: AbortSignal): Promise<RuntimeOutcome>;
}

/** Where values of secrets come from, just before a call. */
export interface SecretSource {
  open(organizationId: string, connector: Connector): Promise<
    { readonly ok: true; readonly values: SecretValues } | { readonly ok: false; readonly message: string }
  >;
}

export interface CallsByType {
  readonly http: ConnectorCalls<HttpConnector>;
  readonly mcp: ConnectorCalls<McpConnector>;
  readonly email: ConnectorCalls<EmailConnector>;
}

/**
 * Does what a capability's connector lays down. Values of secrets are read here, after the execution's `started` is durable, and are cut
 * out of what comes back. Where one is missing nothing is sent, and no fallback serves: another runtime would lack it too.
 */
export class ConnectorRuntime implements Runtime {
  readonly name = 'connector';

  constructor(
    private readonly secrets: SecretSource,
    private readonly calls: CallsByType,
  ) {}

  async run(call: RuntimeCall, signal: AbortSignal): Promise<RuntimeOutcome> {
    const { connector } = call;
    if (!connector) throw new Error(`Execution ${call.executionId} has no connector: it is receipt-only`);
    const secrets = await this.secrets.open(call.organizationId, connector);
    if (!secrets.ok) return withoutSecret(secrets.message);
    const outcome = await this.callsOf(call, connector, secrets.values, signal);
    return secrets.values.size === 0 ? outcome : hiding(outcome, new HiddenSecrets(secrets.values.values()));
  }

  private callsOf(call: RuntimeCall, connector: Connector, secrets: SecretValues, signal: AbortSignal): Promise<RuntimeOutcome> {
    switch (connector.type) {
      case 'http':
        return this.calls.http.run(call, connector, secrets, signal);
      case 'mcp':
        return this.calls.mcp.run(call, connector, secrets, signal);
      case 'email':
        return this.calls.email.run(call, connector, secrets, signal);
    }
  }
}

/** The values of secrets make something that cannot be sent; the gate has found that the rest of it can. */
export function secretsUnfit(): RuntimeOutcome {
  return withoutSecret('A secret cannot stand where the connector puts it: it is too long, or no printable ASCII in a header.');
}

function withoutSecret(message: string): RuntimeOutcome {
  return { kind: 'failed', error: { code: 'CONNECTOR_SECRET', message } };
}

function hiding(outcome: RuntimeOutcome, hidden: HiddenSecrets): RuntimeOutcome {
  if (outcome.kind === 'executed') return { ...outcome, output: hidden.json(outcome.output) };
  const error = { ...outcome.error, message: hidden.text(outcome.error.message) };
  if (outcome.kind !== 'failed' || outcome.output === undefined) return { ...outcome, error };
  return { ...outcome, error, output: hidden.json(outcome.output) };
}

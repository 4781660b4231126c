import { connectorTimeoutMs, type EmailConnector, renderEmail, type SecretValues } from '../../../domain/gate/connector.js';
import type { Smtp } from '../../../platform/mail/smtp.js';
import type { ConnectorCalls } from './connector.runtime.js';
import { Deadline } from './deadline.js';
import type { RuntimeCall, RuntimeOutcome } from './runtime.js';

/**
 * Sends a capability's mail by the service's own mail server, once. Its `Message-ID` is made of the execution's id. A server takes over
 * a mail with its answer to the end of it: where that answer is lost, nobody can say whether it arrives.
 */
export class EmailConnectorRuntime implements ConnectorCalls<EmailConnector> {
  constructor(private readonly smtp: Pick<Smtp, 'deliver'>) {}

  async run(call: RuntimeCall, connector: EmailConnector, _secrets: SecretValues, signal: AbortSignal): Promise<RuntimeOutcome> {
    const rendered = renderEmail(connector, call.input);
    if (!rendered.ok) {
      // The gate rendered the same input before; a difference is a bug, and nothing was sent.
      throw new Error(`Execution ${call.executionId}: the mail cannot be filled in at ${rendered.errors[0]?.pointer}`);
    }
    const timeoutMs = Math.min(call.deadline.left(), Deadline.in(connectorTimeoutMs(connector)).left());
    const delivery = await this.smtp.deliver(rendered.request, call.executionId, { timeoutMs, signal });
    switch (delivery.kind) {
      case 'sent': {
        const { messageId, accepted, rejected } = delivery;
        return { kind: 'executed', output: { messageId, accepted: [...accepted], rejected: [...rejected] } };
      }
      case 'refused':
        return { kind: 'failed', error: { code: 'CONNECTOR_STATUS', message: `The mail server refused the mail (${delivery.reason}).` } };
      case 'unreachable':
        return { kind: 'unreachable', error: { code: 'CONNECTOR_UNREACHABLE', message: `The mail was not sent: ${delivery.reason}.` } };
      case 'unknown': {
        const message = `The mail was sent, and the mail server's answer was lost (${delivery.reason}).`;
        return { kind: 'unknown', error: { code: 'CONNECTOR_CONNECTION_LOST', message } };
      }
    }
  }
}

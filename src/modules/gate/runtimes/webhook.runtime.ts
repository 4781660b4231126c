import { Webhook } from 'standardwebhooks';
import type { OutboundGuard } from '../../../platform/outbound/outbound-guard.js';
import { outcomeOf } from './answer-outcome.js';
import { OUTPUT_BYTES_MAX } from './output.js';
import type { Runtime, RuntimeCall, RuntimeOutcome } from './runtime.js';

export interface WebhookRuntimeOptions {
  /** `RUNTIME_WEBHOOK_URL`: from the operator's environment, so any address is allowed. */
  readonly url: string;
  /** `WEBHOOK_SECRET`: `whsec_` and base64, or any other text as raw bytes. */
  readonly secret: string;
}

/**
 * Posts the call to one address of the operator's, signed by Standard Webhooks, and takes the answer as its output.
 * The message's id is the execution's, by which a receiver recognizes a message that it gets twice.
 */
export class WebhookRuntime implements Runtime {
  readonly name = 'webhook';
  private readonly signer: Webhook;

  constructor(
    private readonly guard: OutboundGuard,
    private readonly options: WebhookRuntimeOptions,
  ) {
    const { secret } = options;
    this.signer = secret.startsWith('whsec_') ? new Webhook(secret) : new Webhook(Buffer.from(secret, 'utf8'), { format: 'raw' });
  }

  async run(call: RuntimeCall, signal: AbortSignal): Promise<RuntimeOutcome> {
    const timeoutMs = call.deadline.left();
    if (timeoutMs <= 0) {
      return { kind: 'unreachable', error: { code: 'WEBHOOK_UNREACHABLE', message: 'The deadline had passed before the call.' } };
    }
    const body = bodyOf(call);
    const now = new Date();
    const exchange = await this.guard.fetch(this.options.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'webhook-id': call.executionId,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': this.signer.sign(call.executionId, now, body),
        'idempotency-key': call.idempotencyKey,
        ...(call.traceparent === undefined ? {} : { traceparent: call.traceparent }),
      },
      body,
      signal,
      maxBytes: OUTPUT_BYTES_MAX,
      timeoutMs,
      trusted: true,
    });
    return outcomeOf(exchange, 'WEBHOOK');
  }
}

/** The input goes in as the approved bytes, not as a second serialization of them. */
function bodyOf({ executionId, agentId, capability, action, inputText, context, deadline }: RuntimeCall): string {
  const before = JSON.stringify({ executionId, agentId, capability, ...(action === undefined ? {} : { action }) });
  const after = JSON.stringify({ ...(context === undefined ? {} : { context }), deadline: deadline.at.toISOString() });
  return `${before.slice(0, -1)},"input":${inputText},${after.slice(1)}`;
}

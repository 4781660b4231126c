import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type CompleteConfig } from '../../../../platform/config/config.js';
import { OutboundGuard, type OutboundOutcome } from '../../../../platform/outbound/outbound-guard.js';

/** What the identity provider is waited for, for each answer, in milliseconds. */
export const PROVIDER_TIMEOUT_MS = 5_000;
const MAX_BYTES = 1_048_576;
const WITHOUT_BODY = new Set([204, 205, 304]);

/** `away`: nothing can have been sent to it. `slow` and `broken`: nobody knows what it made of the call. */
export type ProviderTrouble = 'away' | 'slow' | 'broken';

/** The provider was not reached, or its answer did not come whole. */
export class ProviderAway extends Error {
  constructor(readonly trouble: ProviderTrouble) {
    super(`the identity provider is ${trouble}`);
    this.name = 'ProviderAway';
  }
}

/** As the libraries hand it over: a part of what `fetch` takes. */
export interface ProviderCall {
  readonly method?: string;
  readonly headers?: RequestInit['headers'];
  readonly body?: unknown;
  readonly signal?: AbortSignal | null | undefined;
}

/**
 * How the provider is called, by whichever library: through the one guard of everything that goes out. The operator has vouched for
 * the issuer's own origin; what the provider's metadata name besides is checked like every address from outside, and goes by TLS where
 * the issuer does.
 */
@Injectable()
export class ProviderFetch {
  private readonly origin: string | undefined;

  constructor(
    @Inject(CONFIG) config: Pick<CompleteConfig, 'oidcIssuer'>,
    private readonly guard: OutboundGuard,
  ) {
    this.origin = config.oidcIssuer === undefined ? undefined : new URL(config.oidcIssuer).origin;
  }

  /** @throws ProviderAway */
  readonly fetch = async (target: string, call: ProviderCall = {}): Promise<Response> => {
    const url = new URL(target);
    if (this.origin?.startsWith('https:') === true && url.protocol !== 'https:') throw new ProviderAway('away');
    const { method = 'GET', headers, body, signal } = call;
    const outcome = await this.guard.fetch(url.href, {
      method,
      headers: Object.fromEntries(new Headers(headers ?? {})),
      ...(body === undefined || body === null ? {} : { body: textOf(body) }),
      ...(signal === undefined || signal === null ? {} : { signal }),
      maxBytes: MAX_BYTES,
      timeoutMs: PROVIDER_TIMEOUT_MS,
      trusted: url.origin === this.origin,
    });
    return answerOf(outcome);
  };
}

function answerOf(outcome: OutboundOutcome): Response {
  if (outcome.kind !== 'answered') {
    if (outcome.code === 'TIMEOUT' || outcome.code === 'ABORTED') throw new ProviderAway('slow');
    throw new ProviderAway(outcome.kind === 'unreachable' ? 'away' : 'broken');
  }
  const { status, headers, body, complete, problem } = outcome;
  if (!complete) throw new ProviderAway(problem === 'TIMEOUT' || problem === 'ABORTED' ? 'slow' : 'broken');
  if (status < 200 || status > 599) throw new ProviderAway('broken');
  return new Response(WITHOUT_BODY.has(status) ? null : new Uint8Array(body), { status, headers });
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new Error('The identity provider is sent forms and nothing else.');
}

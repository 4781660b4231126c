import type { JsonObject } from '../src/domain/json.js';

/** The message for the person at the terminal when the demo cannot go on. `exitCode` 2: no server, or wrong use. */
export class DemoStopped extends Error {
  constructor(
    message: string,
    readonly exitCode: 1 | 2,
  ) {
    super(message);
  }
}

export interface Answer<Body = JsonObject> {
  readonly status: number;
  readonly body: Body;
  readonly headers: Headers;
}

/** One caller of the server's HTTP interface: the operator with the root key, or the agent with its token. */
export class Api {
  constructor(
    readonly url: string,
    private readonly credential: string,
    private readonly signal: AbortSignal,
  ) {}

  as(credential: string): Api {
    return new Api(this.url, credential, this.signal);
  }

  /** The same caller, for calls that must still be made once the demo was interrupted. */
  withSignal(signal: AbortSignal): Api {
    return new Api(this.url, this.credential, signal);
  }

  /** Sends one request. Whatever the server answers is an answer; only silence is a failure. */
  async send<Body = JsonObject>(method: string, path: string, body?: JsonObject): Promise<Answer<Body>> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.credential}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: this.signal,
    }).catch((error: unknown) => {
      this.signal.throwIfAborted();
      throw new DemoStopped(`${this.url} cannot be reached (${causeOf(error)}).`, 2);
    });
    return { status: response.status, body: parse(await response.text()) as Body, headers: response.headers };
  }

  /** Sends one request that has to succeed with this status. */
  async expect<Body = JsonObject>(status: number, method: string, path: string, body?: JsonObject): Promise<Body> {
    const answer = await this.send<Body>(method, path, body);
    if (answer.status === status) return answer.body;
    if (answer.status === 401) throw new DemoStopped(`${this.url} does not accept this key.`, 2);
    throw new DemoStopped(`${method} ${path} answered ${answer.status}, not ${status}: ${problemOf(answer)}`, 1);
  }
}

/** Code and detail of a problem (RFC 9457). */
export function problemOf({ body }: Answer<unknown>): string {
  const { code, detail } = body as { code?: string; detail?: string };
  return [code, detail].filter((part) => part !== undefined).join(': ') || 'no reason given';
}

function parse(text: string): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new DemoStopped('What answers there is no Countersign server: it sent something other than JSON.', 2);
  }
}

function causeOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? String(error);
}

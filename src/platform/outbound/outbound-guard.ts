import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { request, type Dispatcher } from 'undici';
import { AllowList, isNearbyAddress, isPublicAddress } from './addresses.js';
import { Connections, type ResolvedAddress, watched } from './connections.js';

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export interface OutboundOptions {
  /** In production only https and public addresses, but for what `allow` names. */
  readonly production: boolean;
  /** `OUTBOUND_ALLOW`: host names, addresses, ranges. */
  readonly allow: readonly string[];
}

export interface OutboundRequest {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  /** The most bytes of the answer's body that are read. */
  readonly maxBytes: number;
  /** For everything: resolving, connecting, sending, reading. */
  readonly timeoutMs: number;
  /**
   * For an answer that comes in parts and need not end when it is whole: told each part, and says whether the answer is. Nothing is read
   * after that.
   */
  readonly isWhole?: (part: Buffer, headers: Readonly<Record<string, string>>) => boolean;
  /** For addresses from the operator's environment: taken as they stand. Never for one that came by the API. */
  readonly trusted?: boolean;
  /** Whose calls share connections, such as an organization; without it the connection serves this request alone. */
  readonly keptFor?: string;
}

export type OutboundCode =
  | 'UNSAFE_URL' | 'DNS' | 'CONNECT' | 'TIMEOUT' | 'ABORTED' | 'CONNECTION_LOST';

/** An answer: `complete` is false when its body was larger than asked for, cut off, or too slow; the status stands. */
export interface OutboundAnswer {
  readonly kind: 'answered';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly complete: boolean;
  readonly problem?: 'TOO_LARGE' | 'TIMEOUT' | 'ABORTED' | 'CONNECTION_LOST';
}

/** `unreachable`: nothing of the request can have been sent. `unknown`: something may have been, so the receiver may have acted. */
export type OutboundOutcome =
  | OutboundAnswer
  | { readonly kind: 'unreachable'; readonly code: OutboundCode; readonly message: string }
  | { readonly kind: 'unknown'; readonly code: OutboundCode; readonly message: string };

export type UrlCheck = { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly reason: string };

// Names that mean this machine or this network, whatever a resolver says.
const LOCAL_NAME = /(^|\.)(localhost|localdomain|local|internal|intranet|lan|home|corp|private|home\.arpa)$/;

const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true });

/**
 * The only way out to addresses that people configure. Each request resolves the name once, every address of it is checked, and the
 * connection goes, or went, to one of those: a name that answers differently the next time is never asked again.
 * No redirects, no proxies, no request begun behind another's answer, bounds on time and size.
 */
export class OutboundGuard {
  private readonly allowed: AllowList;
  private readonly connections = new Connections();

  constructor(
    private readonly options: OutboundOptions,
    private readonly resolve: Resolve = systemResolve,
  ) {
    this.allowed = new AllowList(options.allow);
  }

  /** What can be said of an address without resolving it; for the moment when it is configured (422 UNSAFE_URL). */
  checkUrl(text: string): UrlCheck {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url) return { ok: false, reason: 'This is not a valid address.' };
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return { ok: false, reason: 'Only https and http can be called.' };
    if (url.username !== '' || url.password !== '') return { ok: false, reason: 'An address must not hold credentials.' };
    if (url.hostname === '') return { ok: false, reason: 'An address needs a host.' };
    const host = hostOf(url);
    const named = this.allowed.hasName(host, portOf(url)) || this.allowed.hasAddress(host, portOf(url));
    if (named) return { ok: true, url };
    if (!this.options.production) {
      const reachable = isIP(host) === 0 || this.mayReach(host);
      return reachable ? { ok: true, url } : { ok: false, reason: 'This address hands out secrets, or is no single machine.' };
    }
    if (url.protocol === 'http:') return { ok: false, reason: 'Only https can be called.' };
    if (isIP(host) ? !isPublicAddress(host) : LOCAL_NAME.test(host)) {
      return { ok: false, reason: 'This address is not on the public internet.' };
    }
    return { ok: true, url };
  }

  async fetch(text: string, outbound: OutboundRequest): Promise<OutboundOutcome> {
    const checked = outbound.trusted ? trustedUrl(text) : this.checkUrl(text);
    if (!checked.ok) return { kind: 'unreachable', code: 'UNSAFE_URL', message: checked.reason };
    const clock = new Countdown(outbound.timeoutMs, outbound.signal);
    try {
      const addresses = await this.addressesOf(checked.url, clock, outbound.trusted === true);
      return 'kind' in addresses ? addresses : await this.send(checked.url, addresses, outbound, clock);
    } finally {
      clock.stop();
    }
  }

  private async addressesOf(
    url: URL,
    clock: Countdown,
    trusted: boolean,
  ): Promise<readonly ResolvedAddress[] | OutboundOutcome> {
    const host = hostOf(url);
    const family = isIP(host);
    if (family !== 0) return [{ address: host, family }];
    let addresses: readonly ResolvedAddress[];
    try {
      addresses = await clock.race(this.resolve(host));
    } catch {
      if (clock.ended) return { kind: 'unreachable', code: clock.ended, message: 'The name was not resolved in time.' };
      return { kind: 'unreachable', code: 'DNS', message: 'The name cannot be resolved.' };
    }
    if (addresses.length === 0) return { kind: 'unreachable', code: 'DNS', message: 'The name has no address.' };
    const free = trusted || this.allowed.hasName(host, portOf(url));
    // One private address among public ones is how rebinding looks: none of them is used then.
    if (!free && !addresses.every(({ address }) => this.mayReach(address) || this.allowed.hasAddress(address, portOf(url)))) {
      return { kind: 'unreachable', code: 'UNSAFE_URL', message: 'The name leads to an address that may not be called.' };
    }
    return addresses;
  }

  /** Public addresses; outside production this machine and private networks too, where a trial has its receivers. */
  private mayReach(address: string): boolean {
    return isPublicAddress(address) || (!this.options.production && isNearbyAddress(address));
  }

  private async send(
    url: URL,
    addresses: readonly ResolvedAddress[],
    outbound: OutboundRequest,
    clock: Countdown,
  ): Promise<OutboundOutcome> {
    let begun = false;
    const { dispatcher, giveBack } = this.connections.borrow(url.origin, addresses, outbound.keptFor);
    // A process that was frozen meanwhile learns of the connection before its timer ends: nothing is sent then.
    const sending = watched(dispatcher, () => (begun = clock.ended === undefined && clock.left() > 0));
    try {
      const answer = await clock.race(request(url, {
        dispatcher: sending as Dispatcher,
        method: outbound.method as Dispatcher.HttpMethod,
        headers: { 'user-agent': 'countersign', 'accept-encoding': 'identity', ...outbound.headers },
        body: outbound.body ?? null,
        signal: clock.signal,
        headersTimeout: 0,
        bodyTimeout: 0,
      }));
      // Faults are heard by reading; nobody may read any more when the body is let go.
      answer.body.on('error', () => undefined);
      return await read(answer, outbound, clock);
    } catch {
      // Before it was written nothing can have been sent; afterwards that is unknown.
      if (!begun) {
        if (clock.ended) return { kind: 'unreachable', code: clock.ended, message: 'No connection was made in time.' };
        return { kind: 'unreachable', code: 'CONNECT', message: 'No connection could be made.' };
      }
      if (clock.ended) return { kind: 'unknown', code: clock.ended, message: 'There was no answer in time.' };
      return { kind: 'unknown', code: 'CONNECTION_LOST', message: 'The connection was lost before an answer.' };
    } finally {
      giveBack();
    }
  }
}

async function read(
  answer: Dispatcher.ResponseData, { maxBytes, isWhole }: OutboundRequest, clock: Countdown,
): Promise<OutboundAnswer> {
  const headers = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
  const chunks: Buffer[] = [];
  let bytes = 0;
  const answered = (problem?: OutboundAnswer['problem']): OutboundAnswer => ({
    kind: 'answered', status: answer.statusCode, headers, body: Buffer.concat(chunks), complete: problem === undefined,
    ...(problem === undefined ? {} : { problem }),
  });
  try {
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) return answered('TOO_LARGE');
      chunks.push(chunk);
      if (isWhole?.(chunk, headers)) return answered();
    }
    return answered();
  } catch {
    return answered(clock.ended ?? 'CONNECTION_LOST');
  }
}

/** The host as it is resolved: without brackets, and without the dot that ends an absolute name. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '').toLowerCase();
}

function portOf(url: URL): string {
  return url.port !== '' ? url.port : url.protocol === 'https:' ? '443' : '80';
}

function trustedUrl(text: string): UrlCheck {
  return URL.canParse(text) ? { ok: true, url: new URL(text) } : { ok: false, reason: 'This is not a valid address.' };
}

/** The caller's signal and the total time in one signal, which knows which of the two ended it. */
class Countdown {
  ended: 'TIMEOUT' | 'ABORTED' | undefined;
  private readonly controller = new AbortController();
  private readonly end: number;
  private readonly wallEnd: number;
  private readonly timer: NodeJS.Timeout;
  private readonly onAbort = (): void => this.finish('ABORTED');

  constructor(timeoutMs: number, private readonly outer?: AbortSignal) {
    this.end = performance.now() + timeoutMs;
    this.wallEnd = Date.now() + timeoutMs;
    this.timer = setTimeout(() => this.finish('TIMEOUT'), Math.max(0, timeoutMs));
    if (outer?.aborted) this.finish('ABORTED');
    else outer?.addEventListener('abort', this.onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** By whichever clock is further on: the wall clock may be set back, and the other stands still while the machine sleeps. */
  left(): number {
    return Math.min(this.end - performance.now(), this.wallEnd - Date.now());
  }

  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = (): void => reject(new Error('ended'));
      if (this.signal.aborted) return stop();
      this.signal.addEventListener('abort', stop, { once: true });
      work.then(resolve, reject);
    });
  }

  stop(): void {
    clearTimeout(this.timer);
    this.outer?.removeEventListener('abort', this.onAbort);
  }

  private finish(how: 'TIMEOUT' | 'ABORTED'): void {
    this.ended ??= how;
    this.controller.abort();
  }
}

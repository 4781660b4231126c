import type { Origin } from '../../../domain/audit/entry/prepare-entry.js';

/** Where failures of authentication came from: the origin of their entry. */
export type FailureOrigin = Origin & { readonly requestId: string };

/** The content of one entry: the number of failures of one address, or of a network. */
export interface FailureCount {
  readonly count: number;
  /** `several` where they differ. */
  readonly reason: string;
  readonly method?: string | undefined;
  /** Of one address: where the last of them came from. */
  readonly origin: FailureOrigin;
  /** Instead of the address, where the failures of more than one are counted together. */
  readonly network?: string | undefined;
}

export interface Failure {
  readonly reason: string;
  readonly method: string;
  readonly origin: FailureOrigin;
}

interface Window {
  since: number;
  count: number;
  reason: string;
  method: string | undefined;
  origin: FailureOrigin;
}

const SEVERAL = 'several';
/** The network of failures that are counted together, because they have no count of their own. */
export const ELSEWHERE = 'elsewhere';

export interface TallyLimits {
  readonly windowMs: number;
  /** Addresses of which the first failure of a window is recorded at once. */
  readonly addresses: number;
  /** Networks whose further addresses share a count; beyond, all share one. */
  readonly networks: number;
}

/**
 * Counts failures of authentication, so that an attack makes few entries however many keys it tries and from wherever: at most
 * `addresses` firsts and as many counts, `networks` counts of networks and one of the rest in each window. Memory is bounded by the
 * same numbers: the network without a failure for longest is merged into the rest first. Pure but for the counts: times are given to it.
 */
export class FailureTally {
  private readonly addresses = new Map<string, Window>();
  private readonly networks = new Map<string, Window>();
  private rest: Window | undefined;
  private firstsSince = -Infinity;
  private firsts = 0;

  constructor(private readonly limits: TallyLimits) {}

  /** How many counts are kept. */
  get size(): number {
    return this.addresses.size + this.networks.size + (this.rest ? 1 : 0);
  }

  /**
   * @param mayRecord whether a failure may be recorded at once at all
   * @returns the failure to record at once: the first of an address, within the limit; undefined where it is only counted
   */
  failed(failure: Failure, now: number, mayRecord = true): FailureCount | undefined {
    const { address = ELSEWHERE } = failure.origin;
    const known = this.addresses.get(address);
    if (known) {
      // Moved behind all others: the address without a failure for longest is the first.
      this.addresses.delete(address);
      this.addresses.set(address, known);
      add(known, failure);
      return undefined;
    }
    if (!mayRecord || !this.mayRecordAt(now)) {
      this.countTogether(failure, now);
      return undefined;
    }
    this.addresses.set(address, { since: now, count: 0, reason: failure.reason, method: failure.method, origin: failure.origin });
    return { count: 1, reason: failure.reason, method: failure.method, origin: failure.origin };
  }

  /**
   * Takes the counts of windows that have ended out of the tally; the caller records them.
   * @param begunBefore windows that began later go on
   */
  take(begunBefore: number): FailureCount[] {
    const taken: FailureCount[] = [];
    for (const [windows, isNetwork] of [[this.addresses, false], [this.networks, true]] as const) {
      for (const [key, window] of windows) {
        if (window.since > begunBefore) continue;
        windows.delete(key);
        if (window.count > 0) taken.push(countOf(window, isNetwork ? key : undefined));
      }
    }
    if (this.rest && this.rest.since <= begunBefore) {
      taken.push(countOf(this.rest, ELSEWHERE));
      this.rest = undefined;
    }
    return taken;
  }

  private mayRecordAt(now: number): boolean {
    if (now - this.firstsSince >= this.limits.windowMs) {
      this.firstsSince = now;
      this.firsts = 0;
    }
    // Windows of the minute before may still be there.
    if (this.firsts >= this.limits.addresses || this.addresses.size >= 2 * this.limits.addresses) return false;
    this.firsts++;
    return true;
  }

  private countTogether(failure: Failure, now: number): void {
    const network = networkOf(failure.origin.address);
    const known = this.networks.get(network);
    if (known) {
      this.networks.delete(network);
      this.networks.set(network, known);
      add(known, failure);
      return;
    }
    if (this.networks.size >= this.limits.networks) this.mergeQuietest();
    const { reason, method, origin } = failure;
    this.networks.set(network, { since: now, count: 1, reason, method, origin });
  }

  private mergeQuietest(): void {
    const [network, window] = this.networks.entries().next().value!;
    this.networks.delete(network);
    if (!this.rest) {
      this.rest = { ...window };
      return;
    }
    this.rest.count += window.count;
    if (this.rest.reason !== window.reason) this.rest.reason = SEVERAL;
    if (this.rest.method !== window.method) this.rest.method = undefined;
    this.rest.origin = window.origin;
  }
}

function add(window: Window, { reason, method, origin }: Failure): void {
  if (window.count === 0) Object.assign(window, { reason, method });
  window.count++;
  if (window.reason !== reason) window.reason = SEVERAL;
  if (window.method !== method) window.method = undefined;
  window.origin = origin;
}

function countOf({ count, reason, method, origin }: Window, network: string | undefined): FailureCount {
  if (network === undefined) return { count, reason, method, origin };
  // Of several addresses none is the entry's own.
  const { requestId, via } = origin;
  return { count, reason, method, origin: { requestId, via }, network };
}

/** The network that an address is of: 24 bits of IPv4, 48 of IPv6, which is what one customer of a provider gets at most. */
export function networkOf(address: string | undefined): string {
  if (address === undefined) return ELSEWHERE;
  if (!address.includes(':')) return `${address.split('.').slice(0, 3).join('.')}.0/24`;
  const [head = ''] = address.split('::');
  const groups = head.split(':').slice(0, 3);
  while (groups.at(-1) === '0') groups.pop();
  return `${groups.join(':')}::/48`;
}

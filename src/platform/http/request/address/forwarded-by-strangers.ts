import type { Logger } from 'pino';

/** For each address at once, and then once an hour, of so many addresses: anybody may send the header, and the log is not his. */
const SAID_AGAIN_AFTER_MS = 3_600_000;
const ADDRESSES = 20;

const SAID = 'X-Forwarded-For comes from an address that is not in TRUSTED_PROXIES, and is not believed: whoever calls through it has its '
  + 'address, in the log and for the rate limit (docs/runbooks.md#proxy-not-trusted)';

/** Says in the log that somebody who is no proxy of ours names addresses: mostly a proxy that was forgotten in the configuration. */
export function forwardedByStrangers(logger: Logger, now = (): number => performance.now()): (peer: string | undefined) => void {
  const said = new Map<string | undefined, { count: number; at: number }>();
  return (peer) => {
    for (const [other, { at }] of said) if (now() - at >= SAID_AGAIN_AFTER_MS && other !== peer) said.delete(other);
    const before = said.get(peer);
    const count = (before?.count ?? 0) + 1;
    if (before !== undefined && now() - before.at < SAID_AGAIN_AFTER_MS) {
      before.count = count;
      return;
    }
    if (before === undefined && said.size >= ADDRESSES) return;
    said.set(peer, { count: 0, at: now() });
    logger.warn({ peer, count }, SAID);
  };
}

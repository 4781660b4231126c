import type { Logger } from 'pino';

/** At once, and then once an hour: anybody may send the header, and the log is not his. */
const SAID_AGAIN_AFTER_MS = 3_600_000;

const SAID = 'X-Forwarded-For comes from an address that is not in TRUSTED_PROXIES, and is not believed: whoever calls through it has its '
  + 'address, in the log and for the rate limit (docs/runbooks.md#proxy-not-trusted)';

/** Says in the log that somebody who is no proxy of ours names addresses: mostly a proxy that was forgotten in the configuration. */
export function forwardedByStrangers(logger: Logger, now = (): number => performance.now()): (peer: string | undefined) => void {
  let count = 0;
  let saidAt = -Infinity;
  return (peer) => {
    count++;
    if (now() - saidAt < SAID_AGAIN_AFTER_MS) return;
    saidAt = now();
    logger.warn({ peer, count }, SAID);
    count = 0;
  };
}

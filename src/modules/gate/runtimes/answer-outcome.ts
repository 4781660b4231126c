import type { OutboundOutcome } from '../../../platform/outbound/outbound-guard.js';
import { outputOf } from './output.js';
import type { RuntimeOutcome } from './runtime.js';

/**
 * What an HTTP exchange means for an execution. 2xx is the receiver's word that it acted; every other status, 3xx
 * included, that it did not. A 2xx whose body did not arrive whole is unknown and not failed: the receiver has most
 * likely acted, and a failure would invite a second try.
 */
export function outcomeOf(exchange: OutboundOutcome, prefix: 'CONNECTOR' | 'WEBHOOK'): RuntimeOutcome {
  switch (exchange.kind) {
    case 'unreachable':
      return { kind: 'unreachable', error: { code: `${prefix}_UNREACHABLE`, message: exchange.message } };
    case 'unknown':
      return { kind: 'unknown', error: { code: `${prefix}_${exchange.code}`, message: exchange.message } };
    case 'answered':
      break;
  }
  const { status, headers, body, complete, problem } = exchange;
  if (status < 200 || status > 299) {
    const output = complete ? outputOf(body, headers) : null;
    const error = { code: `${prefix}_STATUS`, message: `The receiver answered ${status}.` };
    return output === null ? { kind: 'failed', error } : { kind: 'failed', error, output };
  }
  if (!complete) {
    const what = problem === 'TOO_LARGE' ? 'its answer is larger than allowed' : 'its answer did not arrive whole';
    return { kind: 'unknown', error: { code: `${prefix}_${problem}`, message: `The receiver answered ${status}, but ${what}.` } };
  }
  return { kind: 'executed', output: outputOf(body, headers) };
}

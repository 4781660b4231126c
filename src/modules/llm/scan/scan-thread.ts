// Run in a worker thread: scans one call.
import { scanCall, type CallToScan, type ScannedCall } from '../../../domain/pii/scan-call.js';

/** piscina calls what a file exports under the name that it is told. */
export function scan(call: CallToScan): ScannedCall {
  return scanCall(call);
}

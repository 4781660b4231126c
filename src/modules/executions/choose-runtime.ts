import type { HttpConnector } from '../../domain/gate/connector.js';
import type { ExecutionRuntime } from './execution.entity.js';

const DEFAULT_TIMEOUT_SECONDS = 30;

/** Which runtime has a call, and how long it may take, in seconds. */
export interface ChosenRuntime {
  readonly runtime: ExecutionRuntime;
  readonly timeoutSeconds: number;
}

/**
 * Which runtime has calls of a capability. A capability without a connector is `receipt` only, unless all calls go to another runtime:
 * the governed agent does the work itself, and the gate's answer is its licence.
 *
 * @param primary of the configuration (RUNTIME_PRIMARY)
 */
export function chooseRuntime(
  primary: Exclude<ExecutionRuntime, 'receipt'>, definition: { readonly connector?: HttpConnector } | undefined,
): ChosenRuntime {
  const isReceiptOnly = !definition || (primary === 'connector' && definition.connector === undefined);
  if (isReceiptOnly) return { runtime: 'receipt', timeoutSeconds: 0 };
  return { runtime: primary, timeoutSeconds: definition.connector?.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS };
}

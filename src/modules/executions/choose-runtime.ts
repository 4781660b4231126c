import type { Connector } from '../../domain/gate/connector.js';
import type { ExecutionRuntime } from './execution.entity.js';

/** Who does an action: this service by a runtime or connector, or the caller, for whom the gate's answer is a licence. */
export const RUNS = ['service', 'caller'] as const;
export type Runs = (typeof RUNS)[number];

export const runsBy = (runtime: ExecutionRuntime): Runs => (runtime === 'receipt' ? 'caller' : 'service');

const DEFAULT_TIMEOUT_SECONDS = 30;

/** Which runtime has a call, and how long it may take, in seconds. */
export interface ChosenRuntime {
  readonly runtime: ExecutionRuntime;
  readonly timeoutSeconds: number;
}

/**
 * Which runtime has calls of a capability. A capability without a connector is `receipt` only, unless all calls go to another runtime:
 * the governed agent does the work itself, and the gate's answer is its licence. A connector may name the agent's node, whatever is
 * primary.
 *
 * @param primary of the configuration (RUNTIME_PRIMARY)
 */
export function chooseRuntime(
  primary: Exclude<ExecutionRuntime, 'receipt' | 'llm'>, definition: { readonly connector?: Connector } | undefined,
): ChosenRuntime {
  if (definition?.connector?.type === 'node') return { runtime: 'node', timeoutSeconds: definition.connector.timeoutSeconds };
  const isReceiptOnly = !definition || (primary === 'connector' && definition.connector === undefined);
  if (isReceiptOnly) return { runtime: 'receipt', timeoutSeconds: 0 };
  return { runtime: primary, timeoutSeconds: definition.connector?.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS };
}

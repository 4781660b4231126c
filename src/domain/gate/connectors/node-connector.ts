import type { JsonObject } from '../../json.js';

/** The agent's own node does it, whichever runtime has the other calls: nothing of the input is filled in anywhere. */
export interface NodeConnector {
  readonly type: 'node';
  /** Seconds until the call is given up, the time in which no node has begun it included. 1 to 120. */
  readonly timeoutSeconds: number;
  /** Whether a node may be given the same work again, with the same key, when nobody knows what became of it. */
  readonly idempotent: boolean;
}

export const NODE_MEMBERS = ['type', 'timeoutSeconds', 'idempotent'] as const;
const DEFAULTS = { timeoutSeconds: 30, idempotent: false } as const;
const LONGEST_SECONDS = 120;

/** @param wrong notes what is wrong with a member, by its pointer from the connector's root */
export function checkNodeConnector(definition: JsonObject, wrong: (pointer: string, message: string) => void): NodeConnector {
  const { timeoutSeconds = DEFAULTS.timeoutSeconds, idempotent = DEFAULTS.idempotent } = definition;
  if (!Number.isInteger(timeoutSeconds) || (timeoutSeconds as number) < 1 || (timeoutSeconds as number) > LONGEST_SECONDS) {
    wrong('/timeoutSeconds', `must be a whole number from 1 to ${LONGEST_SECONDS}`);
  }
  if (typeof idempotent !== 'boolean') wrong('/idempotent', 'must be true or false');
  return { type: 'node', timeoutSeconds: timeoutSeconds as number, idempotent: idempotent as boolean };
}

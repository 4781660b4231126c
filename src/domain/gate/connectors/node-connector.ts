import type { JsonObject } from '../../json.js';
import { type CallBounds, CONNECTOR_DEFAULTS, numberWithin, type Wrong } from './connector-fields.js';

/** The agent's own node does it, whichever runtime has the other calls: nothing of the input is filled in anywhere. */
export interface NodeConnector extends CallBounds {
  readonly type: 'node';
  /** Whether a node may be given the same work again, with the same key, when nobody knows what became of it. */
  readonly idempotent: boolean;
}

export const NODE_MEMBERS = ['type', 'timeoutSeconds', 'idempotent'] as const;

/** Its seconds count from the call on, the time in which no node has begun it included. */
export function checkNodeConnector(definition: JsonObject, wrong: Wrong): NodeConnector {
  const { idempotent = CONNECTOR_DEFAULTS.idempotent } = definition;
  if (typeof idempotent !== 'boolean') wrong('/idempotent', 'must be true or false');
  return { type: 'node', timeoutSeconds: numberWithin(definition, 'timeoutSeconds', 1, 120, wrong), idempotent: idempotent as boolean };
}

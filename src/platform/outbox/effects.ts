import type { JsonObject } from '../../domain/json.js';

/**
 * Everything that may follow a commit; a closed union. `execution.run`: an approved action goes to its runtime.
 * `notification.send`: people are told. A kind without a handler in this build is parked, and counted in readiness.
 */
export type EffectKind = 'execution.run' | 'notification.send';

export interface Effect {
  readonly kind: EffectKind;
  readonly organizationId: string;
  readonly payload: JsonObject;
}

/** With its agent, whose head is locked before the execution is read. */
export function runExecution(organizationId: string, agentId: string, executionId: string): Effect {
  return { kind: 'execution.run', organizationId, payload: { agentId, executionId } };
}

/** What the notification channels will be told; addresses and texts are theirs to find. */
export function notify(organizationId: string, event: string, subject: JsonObject): Effect {
  return { kind: 'notification.send', organizationId, payload: { event, ...subject } };
}

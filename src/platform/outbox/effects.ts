import type { JsonObject } from '../../domain/json.js';

/**
 * Everything that may follow a commit; a closed union. `execution.run`: an approved action goes to its runtime.
 * `notification.send`: people are told. `mail.send`: one mail to one person, sealed. `provider-account.delete`: the identity provider
 * forgets somebody. A kind without a handler in this build is parked, and counted in readiness.
 */
export type EffectKind = 'execution.run' | 'notification.send' | 'mail.send' | 'provider-account.delete';

export interface Effect {
  readonly kind: EffectKind;
  readonly organizationId: string;
  readonly payload: JsonObject;
}

/** An approved action, with all that has to be known to ask about it at once: whose head is locked, which rows are read. */
export interface ApprovedAction {
  readonly organizationId: string;
  readonly agentId: string;
  readonly executionId: string;
  readonly hitlRequestId: string;
  readonly capability: string;
}

export function runExecution({ organizationId, ...action }: ApprovedAction): Effect {
  return { kind: 'execution.run', organizationId, payload: action };
}

/** What the notification channels will be told; addresses and texts are theirs to find. */
export function notify(organizationId: string, event: string, subject: JsonObject): Effect {
  return { kind: 'notification.send', organizationId, payload: { event, ...subject } };
}

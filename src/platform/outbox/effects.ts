import type { JsonObject } from '../../domain/json.js';
import type { ExternalChannel, InboxEvent } from '../../domain/notifications/events.js';

/**
 * Everything that may follow a commit; a closed union. `execution.run`: an approved action goes to its runtime.
 * `notification.send`: people are notified. `mail.send`: one mail to one person, sealed. `provider-account.delete`: the identity provider
 * forgets somebody. A kind without a handler in this build is parked, and counted in readiness.
 */
export type EffectKind = 'execution.run' | 'notification.send' | 'mail.send' | 'provider-account.delete';

export interface Effect {
  readonly kind: EffectKind;
  readonly organizationId: string;
  readonly payload: JsonObject;
}

/** An approved action, with the keys of the head to lock and the rows to read. */
export interface ApprovedAction {
  readonly organizationId: string;
  readonly agentId: string;
  readonly executionId: string;
  readonly hitlRequestId: string;
  readonly capability: string;
  /** Of a task's action: the task, and the agents before its own, whose heads are locked too. */
  readonly taskId?: string;
  readonly taskChain?: readonly string[];
}

export function runExecution({ organizationId, ...action }: ApprovedAction): Effect {
  return { kind: 'execution.run', organizationId, payload: action as unknown as JsonObject };
}

/** What an event is about, by ids. `by`: who brought it about, who is not notified of their own act. */
export interface NotificationSubject {
  readonly hitlRequestId?: string;
  readonly executionId?: string;
  /** The channel that was switched off. */
  readonly channel?: ExternalChannel;
  readonly priority?: 'high';
  /** An owner decided although the rules barred them: all administrators are notified. */
  readonly breakGlass?: true;
  readonly by?: string;
  /** W3C Trace Context of the call behind the event, as it came. */
  readonly traceparent?: string;
}

/** An event for the notification channels, which find addresses and texts themselves. */
export function notify(organizationId: string, event: InboxEvent, subject: NotificationSubject): Effect {
  return { kind: 'notification.send', organizationId, payload: { event, ...subject } };
}

import type { Reason } from '../gate/decide.js';
import type { EscalationLevel, HitlStatus } from '../hitl/transition.js';
import type { JsonObject } from '../json.js';
import type { NotificationEvent, Priority } from './events.js';

/** A request as every channel shows it, read when the message is sent: an erasure before that leaves nothing behind. */
export interface ShownRequest {
  readonly id: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly agentName: string;
  /** Name or address of the agent's owner; null where there is none, or nothing is known of them. */
  readonly agentOwner: string | null;
  readonly riskLevel: string;
  readonly flagged: boolean;
  readonly capability: string;
  readonly action: string | null;
  readonly hitlMode: 'propose' | 'escalate';
  readonly runs: 'service' | 'caller';
  readonly status: HitlStatus;
  /** What would run: the present version. */
  readonly input: JsonObject;
  readonly digest: string;
  readonly version: number;
  readonly isEdited: boolean;
  readonly reasons: readonly Reason[];
  readonly level: EscalationLevel;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** How many approvals of the present version there are, and how many it needs; null where one is enough. */
  readonly approvals: { readonly given: number; readonly needed: number } | null;
  readonly strict: boolean;
  readonly escalationReason: string | null;
  /** Of an end: who decided (a name, `root` or `system`), how, when, and what was noted. */
  readonly decidedBy: string | null;
  readonly decisionBy: 'human' | 'timeout' | 'system' | null;
  readonly decidedAt: Date | null;
  readonly note: string | null;
  readonly breakGlass: boolean;
}

/** An execution as every channel shows it. */
export interface ShownExecution {
  readonly id: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly capability: string;
  readonly action: string | null;
  readonly status: string;
  readonly input: JsonObject;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly closedAt: Date | null;
}

interface MessageBase {
  /** The same each time that the same event goes to the same target: receivers recognize a repetition by this id. */
  readonly deliveryId: string;
  readonly event: NotificationEvent;
  readonly priority: Priority;
  readonly occurredAt: Date;
  /** W3C Trace Context of the call behind the event, where it had one. */
  readonly traceparent?: string;
}

/** One event as a sender puts it into the form of its channel. */
export type Message =
  | (MessageBase & { readonly about: 'request'; readonly request: ShownRequest; readonly links: DecisionLinks })
  | (MessageBase & { readonly about: 'execution'; readonly execution: ShownExecution })
  | TestMessage;

/** What an administrator sends through a channel to see whether it arrives: about nothing that is there. */
export interface TestMessage extends Omit<MessageBase, 'event'> {
  readonly about: 'test';
  readonly event: 'channel.test';
  readonly organizationId: string;
}

/** Pages of this service on which a person decides. To open them decides nothing. */
export interface DecisionLinks {
  readonly approve: string;
  readonly reject: string;
}

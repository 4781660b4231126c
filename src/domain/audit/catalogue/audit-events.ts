import { type EventDefinition, type MetadataOf } from './event-definition.js';
import { ADMIN_EVENTS, AUTH_EVENTS, PRIVACY_EVENTS } from './administration-events.js';
import { AGENT_EVENTS, CAPABILITY_EVENTS } from './agent-events.js';
import { EXECUTION_EVENTS, HITL_EVENTS, LLM_EVENTS, TASK_EVENTS } from './execution-events.js';

export type { Outcome } from './event-definition.js';

/** Every event of the audit log, by type; no other can be recorded. docs/events.md is generated from this catalogue. */
export const EVENTS = {
  ...EXECUTION_EVENTS, ...HITL_EVENTS, ...AGENT_EVENTS, ...CAPABILITY_EVENTS, ...AUTH_EVENTS, ...ADMIN_EVENTS, ...PRIVACY_EVENTS,
  ...LLM_EVENTS, ...TASK_EVENTS,
} satisfies Record<string, EventDefinition>;

export type AuditEventType = keyof typeof EVENTS;

export type AuditMetadata<K extends AuditEventType> = MetadataOf<(typeof EVENTS)[K]['members']>;

type CapabilityOf<K extends AuditEventType> = (typeof EVENTS)[K]['capability'] extends true
  ? { readonly capability: string }
  : { readonly capability?: undefined };

/** One event as a handler records it. A wrong type, a wrong or a missing member does not compile. */
export type AuditEventOf<K extends AuditEventType> = {
  readonly type: K;
  readonly metadata: AuditMetadata<K>;
} & CapabilityOf<K>;

export type AuditEvent = { [K in AuditEventType]: AuditEventOf<K> }[AuditEventType];

export function isAuditEventType(text: string): text is AuditEventType {
  return Object.hasOwn(EVENTS, text);
}

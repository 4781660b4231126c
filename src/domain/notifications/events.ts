import type { Role } from '../access/access.js';

/** Events of which people and other systems are notified (contract, section 8). */
export const NOTIFICATION_EVENTS = [
  'hitl.request.created', 'hitl.request.escalated', 'hitl.request.reminder', 'hitl.request.approved', 'hitl.request.rejected',
  'hitl.request.timed_out', 'hitl.request.cancelled', 'execution.notified', 'execution.indeterminate',
] as const;
export type NotificationEvent = (typeof NOTIFICATION_EVENTS)[number];

/** What stands in inboxes: the events, and that a channel was switched off, of which no channel can be trusted to tell. */
export const INBOX_EVENTS = [...NOTIFICATION_EVENTS, 'channel.switched_off'] as const;
export type InboxEvent = (typeof INBOX_EVENTS)[number];

/** Events that ask people for a decision. The other ones of requests are ends. */
export const QUESTIONS: ReadonlySet<NotificationEvent> = new Set<NotificationEvent>([
  'hitl.request.created', 'hitl.request.escalated', 'hitl.request.reminder',
]);

/** Channels that leave the installation, each by a sender of its own. */
export const EXTERNAL_CHANNELS = ['email', 'slack', 'teams', 'webhook'] as const;
export type ExternalChannel = (typeof EXTERNAL_CHANNELS)[number];

/** The inbox is always on. */
export const CHANNELS = [...EXTERNAL_CHANNELS, 'in_app'] as const;
export type Channel = (typeof CHANNELS)[number];

export const PRIORITIES = ['normal', 'high'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** Whom a channel notifies besides those whom an event concerns. Free addresses are none of these. */
export type Recipient = { readonly userId: string } | { readonly teamId: string } | { readonly role: Role };

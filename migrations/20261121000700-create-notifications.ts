import { FirstSchema } from './shared/first-schema.js';

const OF_ORGANIZATION = 'organization_id text collate "C" not null';
const CHANNEL = `in ('email', 'slack', 'teams', 'webhook')`;
const PRIORITY = `text not null check (priority in ('normal', 'high'))`;

/**
 * Why: people are notified where they are. Notifications and deliveries hold ids and codes, no text and no address: a message is
 * rendered when it is sent or read, so that an erasure leaves nothing of it behind.
 */
export class CreateNotifications20261121000700 extends FirstSchema {
  readonly name = 'CreateNotifications20261121000700';
  protected readonly statements = [...CHANNELS, ...INBOX, ...DELIVERIES, ...DECISIONS];
}

/** Settings are sealed whole, since the address of a chat's webhook is its secret. Of `in_app` only recipients and events are kept. */
const CHANNELS = [
  `create table notification_channels (
    ${OF_ORGANIZATION},
    channel text not null check (channel ${CHANNEL} or channel = 'in_app'),
    enabled boolean not null,
    settings bytea,
    recipients json not null,
    events text[],
    off_because text,
    updated_at timestamptz(3) not null,
    updated_by text collate "C" not null,
    primary key (organization_id, channel)
  )`,
];

const INBOX = [
  `create table notifications (
    ${OF_ORGANIZATION},
    id text collate "C" not null,
    user_id text collate "C" not null,
    event_id bigint not null,
    event text not null,
    priority ${PRIORITY},
    hitl_request_id text collate "C",
    execution_id text collate "C",
    channel text,
    created_at timestamptz(3) not null,
    read_at timestamptz(3),
    primary key (organization_id, id),
    unique (organization_id, event_id, user_id)
  )`,
  `create index notifications_of_user on notifications (organization_id, user_id, id)`,
  `create index notifications_unread on notifications (organization_id, user_id, id) where read_at is null`,
  // Who was asked about a request is notified of its end.
  `create index notifications_of_request on notifications (organization_id, hitl_request_id) where hitl_request_id is not null`,
  `create index notifications_read on notifications (read_at) where read_at is not null`,
];

/** `target`: the user whom a mail is for; of the other channels there is one target, and it is empty. */
const DELIVERIES = [
  `create table notification_deliveries (
    ${OF_ORGANIZATION},
    id text collate "C" not null,
    event_id bigint not null,
    event text not null,
    channel text not null check (channel ${CHANNEL}),
    target text collate "C" not null default '',
    priority ${PRIORITY},
    hitl_request_id text collate "C",
    execution_id text collate "C",
    traceparent text,
    occurred_at timestamptz(3) not null,
    state text not null check (state in ('waiting', 'delivered', 'superseded', 'dead')),
    attempts integer not null default 0,
    available_at timestamptz(3) not null,
    code text,
    receipt text,
    created_at timestamptz(3) not null,
    ended_at timestamptz(3),
    primary key (organization_id, id),
    unique (organization_id, event_id, channel, target),
    check ((state = 'waiting') = (ended_at is null))
  ) with (fillfactor = 70)`,
  `create index notification_deliveries_due on notification_deliveries (organization_id, channel, available_at) where state = 'waiting'`,
  `create index notification_deliveries_of_request on notification_deliveries (organization_id, hitl_request_id, channel)
   where hitl_request_id is not null`,
  `create index notification_deliveries_ended on notification_deliveries (ended_at) where ended_at is not null`,
];

/** Links that decide by mail, and people's names in chats. */
const DECISIONS = [
  'alter table organizations add column decide_by_mail boolean not null default false',
  `create table mail_tokens (
    ${OF_ORGANIZATION},
    token_hash text collate "C" not null check (token_hash ~ '^[0-9a-f]{64}$'),
    hitl_request_id text collate "C" not null,
    user_id text collate "C" not null,
    digest text not null,
    created_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    spent_at timestamptz(3),
    primary key (organization_id, token_hash)
  )`,
  `create index mail_tokens_by_hash on mail_tokens (token_hash)`,
  `create index mail_tokens_of_user on mail_tokens (organization_id, user_id)`,
  `create index mail_tokens_past on mail_tokens (expires_at)`,
  `create table chat_accounts (
    ${OF_ORGANIZATION},
    id text collate "C" not null,
    user_id text collate "C" not null,
    chat text not null check (chat = 'slack'),
    workspace text not null,
    chat_user text not null,
    vouched_by text not null,
    created_at timestamptz(3) not null,
    primary key (organization_id, id),
    unique (organization_id, chat, workspace, chat_user)
  )`,
  `create index chat_accounts_of_user on chat_accounts (organization_id, user_id)`,
];

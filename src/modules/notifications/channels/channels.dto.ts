import { ROLES, type Role } from '../../../domain/access/access.js';
import { NOTIFICATION_EVENTS, type NotificationEvent } from '../../../domain/notifications/events.js';
import { Flag, Nested, NestedList, OneOf, Text, TextList } from '../../../platform/http/fields/fields.js';

const KEPT = 'Left out: kept; null takes it away.';
const setting = { max: 2_000, min: 1, singleLine: true, optional: true, clearable: true } as const;

export class ChannelSettingsDto {
  @Text({ ...setting, doc: `Of slack, teams: address of the incoming webhook. ${KEPT}`, example: 'https://hooks.slack.com/services/…' })
  webhookUrl?: string | null;

  @Text({ ...setting, doc: `Of slack: a bot's token; it counts where there is a webhookUrl too. ${KEPT}`, example: 'xoxb-…' })
  botToken?: string | null;

  @Text({ ...setting, max: 100, doc: `Of slack: id of the channel that the bot posts to. ${KEPT}`, example: 'C0123456789' })
  channel?: string | null;

  @Text({ ...setting, min: 20, doc: `Of slack: verifies calls of its buttons; without it they are links. ${KEPT}` })
  signingSecret?: string | null;

  @Text({ ...setting, doc: `Of webhook: where events are posted. ${KEPT}`, example: 'https://hooks.example.org/approvals' })
  url?: string | null;

  @Text({ ...setting, doc: `Of webhook: signs what is posted (Standard Webhooks). The former one signs along for a day. ${KEPT}` })
  secret?: string | null;
}

export class RecipientDto {
  @Text({ min: 1, max: 100, optional: true, doc: 'A person of the organization.', example: 'usr_…' })
  userId?: string;

  @Text({ min: 1, max: 100, optional: true, doc: 'Everybody in a team of the organization.', example: 'team_…' })
  teamId?: string;

  @OneOf(ROLES, { optional: true, doc: 'Everybody with this role.' })
  role?: Role;
}

const EVENT = new RegExp(`^(?:${NOTIFICATION_EVENTS.map((event) => event.replaceAll('.', String.raw`\.`)).join('|')})$`);

export class ChannelDto {
  @Flag({ doc: 'Whether it is on. `in_app` always is.' })
  enabled!: boolean;

  @Nested(() => ChannelSettingsDto, { optional: true, doc: 'Those of the channel. Secrets are never shown again.' })
  settings?: ChannelSettingsDto;

  @NestedList(() => RecipientDto, {
    maxItems: 50, optional: true,
    doc: 'Who is notified besides those whom an event concerns; left out, nobody. Each is a `userId`, a `teamId` or a `role`.',
  })
  recipients?: RecipientDto[];

  @TextList({
    maxItems: NOTIFICATION_EVENTS.length, minItems: 1, maxLength: 40, pattern: EVENT,
    patternMeans: `one of ${NOTIFICATION_EVENTS.join(', ')}`, optional: true, nullable: true,
    doc: 'Events that the channel notifies of; left out or null, all of them.',
  })
  events?: NotificationEvent[];
}

export class ChannelQuery {
  @Text({ max: 100, optional: true, doc: 'One of the organizations that the caller reaches. Default: the own organization.' })
  organizationId?: string;
}

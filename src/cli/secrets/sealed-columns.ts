import { aadOf } from '../../modules/capabilities/secrets/connector-secrets.service.js';
import { rowKey } from '../../modules/notifications/channels/channel.store.js';
import { MAIL_AAD } from '../../platform/mail/mailer.js';
import type { SealPurpose } from '../../platform/secrets/sealed-box.js';

/** Where sealed values stand. What is only carried by browsers and chats is good for ten minutes, and is not here. */
export interface SealedColumn {
  readonly table: string;
  /** The primary key, or enough of it: names and types. */
  readonly key: Readonly<Record<string, 'text' | 'bigint'>>;
  /** Further columns that the value is bound to. */
  readonly more?: readonly string[];
  readonly purpose: SealPurpose;
  /** SQL of the sealed bytes of a row, or null. */
  readonly bytes: string;
  /** SQL that sets them to `n.fresh`. */
  readonly set: string;
  readonly where?: string;
  readonly aad: (row: Readonly<Record<string, unknown>>) => string;
}

const OF_ORGANIZATION = { organization_id: 'text', id: 'text' } as const;

export const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'secrets', key: { organization_id: 'text', name: 'text' }, more: ['origins'], purpose: 'secrets', ...column('sealed'),
    aad: (row) => aadOf(String(row.organization_id), String(row.name), row.origins as string[]),
  },
  {
    table: 'notification_channels', key: { organization_id: 'text', channel: 'text' }, purpose: 'channels', ...column('settings'),
    aad: (row) => rowKey(String(row.organization_id), String(row.channel)),
  },
  { table: 'sessions', key: OF_ORGANIZATION, purpose: 'sessions', ...column('provider_tokens'), aad: ({ id }) => String(id) },
  { table: 'erasures', key: OF_ORGANIZATION, purpose: 'erasures', ...column('texts'), aad: ({ id }) => String(id) },
  { ...effects('mail.send'), purpose: 'mail', aad: () => MAIL_AAD },
  {
    ...effects('provider-account.delete'), more: [`payload ->> 'userId' as user_id`], purpose: 'provider-account',
    aad: (row) => String(row.user_id),
  },
  { table: 'instance', key: { name: 'text' }, purpose: 'mark-key', ...column('mark_key'), aad: ({ name }) => String(name) },
];

/** SQL: rows that another key than `$1` has sealed. */
export const others = ({ bytes, where }: SealedColumn) =>
  `${bytes} is not null and substring(${bytes} from 1 for 4) <> decode($1, 'hex')${where === undefined ? '' : ` and t.${where}`}`;

function column(name: string) {
  return { bytes: `t.${name}`, set: `${name} = n.fresh` };
}

function effects(kind: string) {
  return {
    table: 'outbox', key: { organization_id: 'text', id: 'bigint' }, where: `kind = '${kind}'`,
    bytes: `decode(t.payload ->> 'sealed', 'base64')`,
    set: `payload = (t.payload::jsonb || jsonb_build_object('sealed', translate(encode(n.fresh, 'base64'), E'\\n', '')))::json`,
  } as const;
}

import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { Channel, NotificationEvent, Recipient } from '../../../domain/notifications/events.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { SealedBox } from '../../../platform/secrets/sealed-box.js';
import type { StoredSettings } from './channel-settings.js';

/** What an organization has set for a channel. */
export interface StoredChannel {
  readonly organizationId: string;
  readonly channel: Channel;
  readonly enabled: boolean;
  /** Undefined where they do not open: they were sealed by another key, or for another row. */
  readonly settings: StoredSettings | undefined;
  readonly recipients: readonly Recipient[];
  /** Null: all events. */
  readonly events: readonly NotificationEvent[] | null;
  /** The code for which the service switched it off. */
  readonly offBecause: string | null;
}

type Row = Omit<StoredChannel, 'settings'> & { readonly settings: Buffer | null };

const COLUMNS = `organization_id as "organizationId", channel, enabled, settings, recipients, events, off_because as "offBecause"`;

/** Rows of channels. Each change locks the head of the organization's chain. Settings are sealed for their row: moved, they do not open. */
@Injectable()
export class ChannelStore {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly box: SealedBox,
  ) {}

  /** Of organizations that the caller has found within a scope, or that rows of deliveries name. */
  async of(organizationIds: readonly string[]): Promise<StoredChannel[]> {
    const sql = `select ${COLUMNS} from notification_channels where organization_id = any ($1)`;
    return ((await this.dataSource.query(sql, [organizationIds])) as Row[]).map((row) => this.opened(row));
  }

  /** How many that are on cannot be used, since their settings do not open. @param run on a connection that no call can use up */
  async countUnreadable(run: RunStatement): Promise<number> {
    const sql = `select ${COLUMNS} from notification_channels where enabled and settings is not null`;
    const rows = (await run(sql, [])) as unknown as Row[];
    return rows.filter((row) => this.opened(row).settings === undefined).length;
  }

  async read(tx: Tx, organizationId: string, channel: Channel): Promise<StoredChannel | undefined> {
    const [row] = await tx.query<Row>(
      `select ${COLUMNS} from notification_channels where organization_id = $1 and channel = $2`, [organizationId, channel],
    );
    return row === undefined ? undefined : this.opened(row);
  }

  async write(tx: Tx, row: StoredChannel, by: string): Promise<void> {
    const { organizationId, channel, enabled, settings = {}, recipients, events, offBecause } = row;
    const sealed = this.box.seal('channels', rowKey(organizationId, channel), Buffer.from(JSON.stringify(settings)));
    await tx.query(
      `insert into notification_channels
         (organization_id, channel, enabled, settings, recipients, events, off_because, updated_at, updated_by)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       on conflict (organization_id, channel) do update set enabled = excluded.enabled, settings = excluded.settings,
         recipients = excluded.recipients, events = excluded.events, off_because = excluded.off_because,
         updated_at = excluded.updated_at, updated_by = excluded.updated_by`,
      [organizationId, channel, enabled, sealed, JSON.stringify(recipients), events, offBecause, await tx.now(), by],
    );
  }

  /** @returns whether anything was set */
  async remove(tx: Tx, organizationId: string, channel: Channel): Promise<boolean> {
    const rows = await tx.query('delete from notification_channels where organization_id = $1 and channel = $2 returning channel', [
      organizationId, channel,
    ]);
    return rows.length > 0;
  }

  private opened({ settings, ...row }: Row): StoredChannel {
    if (settings === null) return { ...row, settings: {} };
    const bytes = this.box.open('channels', rowKey(row.organizationId, row.channel), settings);
    return { ...row, settings: bytes === undefined ? undefined : (JSON.parse(bytes.toString('utf8')) as StoredSettings) };
  }
}

/** What a channel's settings are sealed for. */
export const rowKey = (organizationId: string, channel: string): string => JSON.stringify([organizationId, channel]);

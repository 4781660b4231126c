import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import { EXTERNAL_CHANNELS, type ExternalChannel } from '../../../domain/notifications/events.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import type { ChannelConfig } from './channel-config.js';
import { ChannelStore, type StoredChannel } from './channel.store.js';
import { Channels, type OrganizationChannels } from './channels.js';
import { EnvironmentChannels } from './environment-channels.js';
import { notify } from '../../../platform/outbox/effects.js';
import { recordChannel } from './record-channel.js';

/** What the API has set for an organization, in place of what the environment says of the same channel. */
@Injectable()
export class StoredChannels extends Channels {
  constructor(
    private readonly store: ChannelStore,
    private readonly environment: EnvironmentChannels,
    private readonly work: UnitOfWork,
  ) {
    super();
  }

  async of(organizationIds: readonly string[]): Promise<ReadonlyMap<string, OrganizationChannels>> {
    const ids = [...new Set(organizationIds)];
    const rows = await this.store.of(ids);
    return new Map(ids.map((id) => [id, this.channelsOf(id, rows.filter(({ organizationId }) => organizationId === id))]));
  }

  /** As it is set, on or off, for whoever tries it. Undefined where nothing is set. */
  async configOf(organizationId: string, channel: ExternalChannel): Promise<ChannelConfig | undefined> {
    const [row] = (await this.store.of([organizationId])).filter((one) => one.channel === channel);
    return this.configFrom(organizationId, channel, row);
  }

  async switchOff({ organizationId, channel, settings }: ChannelConfig, because: string): Promise<void> {
    await this.work.run({ chains: [organizationChain(organizationId)] }, async (tx) => {
      const row = await this.store.read(tx, organizationId, channel);
      if (row?.enabled === false) return;
      if (!isDeepStrictEqual(this.configFrom(organizationId, channel, row)?.settings, settings)) return;
      // Of a channel of the environment a row says that this organization's is off; its settings stay the operator's.
      const off = { organizationId, channel, recipients: [], events: null, settings: {}, ...row, enabled: false, offBecause: because };
      await this.store.write(tx, off, 'system');
      recordChannel(tx, organizationId, { channel, change: 'off', settings: { because } }, 'system');
      tx.enqueue(notify(organizationId, 'channel.switched_off', { channel, priority: 'high' }));
    });
  }

  private channelsOf(organizationId: string, rows: readonly StoredChannel[]): OrganizationChannels {
    const rowOf = (channel: string) => rows.find((row) => row.channel === channel);
    const configs = EXTERNAL_CHANNELS.map((channel) => this.configFrom(organizationId, channel, rowOf(channel)));
    const external = configs.filter((config) => config?.enabled === true) as ChannelConfig[];
    const { events = null, recipients = [] } = rowOf('in_app') ?? {};
    return { external, inbox: { organizationId, events, recipients } };
  }

  private configFrom(organizationId: string, channel: ExternalChannel, row: StoredChannel | undefined): ChannelConfig | undefined {
    const fromEnvironment = this.environment.of(channel);
    if (row === undefined) {
      if (fromEnvironment === undefined) return undefined;
      return configOf({ organizationId, channel, enabled: true, recipients: [], events: null }, fromEnvironment, 'environment');
    }
    // What does not open is treated as off; so is mail once the operator's server is gone.
    const isUsable = row.settings !== undefined && (channel !== 'email' || this.environment.hasMail);
    return configOf({ ...row, channel, enabled: row.enabled && isUsable }, row.settings ?? {}, 'api');
  }
}

type Parts = Pick<ChannelConfig, 'organizationId' | 'channel' | 'enabled' | 'recipients' | 'events'>;

/** What is enabled has the settings of its channel: neither the API nor the start takes it otherwise. */
function configOf(parts: Parts, settings: object, source: ChannelConfig['source']): ChannelConfig {
  const { organizationId, channel, enabled, recipients, events } = parts;
  return { organizationId, channel, enabled, recipients, events, source, settings: settings as ChannelConfig['settings'] };
}

import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import { CHANNELS, type Channel } from '../../../domain/notifications/events.js';
import { recordsNothing } from '../../../platform/auth/access/call-context.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { invalid } from '../../../platform/http/fields/read-members.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { type Reply, reply } from '../../../platform/http/reply/replies.js';
import { OutboundGuard } from '../../../platform/outbound/outbound-guard.js';
import { OrganizationsQuery } from '../../organizations/organizations.query.js';
import { ChannelRecipients } from './channel-recipients.js';
import { changedAddresses, masked, mergedSettings, settingProblems, type StoredSettings, strangers } from './channel-settings.js';
import { ChannelStore, type StoredChannel } from './channel.store.js';
import type { ChannelDto } from './channels.dto.js';
import { type ChannelEnvelope, presentChannel, presentEnvironment } from './channels.presenter.js';
import { EnvironmentChannels } from './environment-channels.js';
import { recordChannel } from './record-channel.js';

/** Shows, sets and takes away what an organization has set for its channels. */
@Injectable()
export class ConfigureChannelService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly organizations: OrganizationsQuery,
    private readonly store: ChannelStore,
    private readonly environment: EnvironmentChannels,
    private readonly recipients: ChannelRecipients,
    private readonly guard: OutboundGuard,
  ) {}

  /** @throws Problem NOT_FOUND for a channel that is unknown or not set */
  async show(name: string, organization: string | undefined, caller: Caller): Promise<ChannelEnvelope> {
    const channel = channelNamed(name);
    const organizationId = await this.organizations.choose(caller.scope, organization);
    const row = (await this.store.of([organizationId])).find((one) => one.channel === channel);
    if (row !== undefined) return presentChannel(row);
    const settings = channel === 'in_app' ? {} : this.environment.of(channel);
    if (settings === undefined) throw new Problem('NOT_FOUND', `The channel ${channel} is not set up.`);
    return presentEnvironment(channel, settings);
  }

  async set(name: string, wanted: ChannelDto, organization: string | undefined, caller: Caller): Promise<Reply<ChannelEnvelope>> {
    const channel = channelNamed(name);
    this.assertMayBe(channel, wanted.enabled);
    const given = { ...wanted.settings };
    const foreign = strangers(channel, given);
    if (foreign.length > 0) throw invalid(foreign);
    const organizationId = await this.organizations.choose(caller.scope, organization);
    return this.work.run({ chains: [organizationChain(organizationId)] }, async (tx) => {
      const former = (await this.store.read(tx, organizationId, channel))?.settings ?? {};
      const settings = mergedSettings(channel, former, given, await tx.now());
      this.assertSettings(channel, former, settings, wanted.enabled);
      const set: StoredChannel = {
        organizationId, channel, settings, enabled: wanted.enabled, offBecause: null,
        recipients: await this.recipients.checked(tx, organizationId, wanted.recipients ?? []),
        events: wanted.events === undefined ? null : [...new Set(wanted.events)],
      };
      await this.store.write(tx, set, caller.actorId);
      const { enabled, events } = set;
      const recipients = set.recipients.map((one) => ({ ...one }));
      const shown = { enabled, settings: masked(channel, settings), recipients, events: events && [...events] };
      recordChannel(tx, organizationId, { channel, change: 'set', settings: shown });
      return tx.reply(200, presentChannel(set));
    });
  }

  /** Then the environment counts again. */
  async remove(name: string, organization: string | undefined, caller: Caller): Promise<Reply<null>> {
    const channel = channelNamed(name);
    const organizationId = await this.organizations.choose(caller.scope, organization);
    return this.work.run({ chains: [organizationChain(organizationId)] }, async (tx) => {
      if (await this.store.remove(tx, organizationId, channel)) recordChannel(tx, organizationId, { channel, change: 'removed' });
      else recordsNothing();
      return reply(204, null);
    });
  }

  private assertMayBe(channel: Channel, enabled: boolean): void {
    if (channel === 'in_app' && !enabled) throw new Problem('CHANNEL_ALWAYS_ON', 'The inbox is always on.');
    if (channel === 'email' && enabled && !this.environment.hasMail) {
      throw invalid([{ pointer: '/enabled', message: 'needs a mail server, which the operator has not set up: SMTP_HOST' }]);
    }
  }

  private assertSettings(channel: Channel, former: StoredSettings, settings: StoredSettings, enabled: boolean): void {
    for (const [name, address] of changedAddresses(former, settings)) {
      const check = this.guard.checkUrl(address);
      if (!check.ok) {
        throw new Problem('UNSAFE_URL', check.reason, { errors: [{ pointer: `/settings/${name}`, message: check.reason }] });
      }
    }
    const problems = settingProblems(channel, settings, enabled);
    if (problems.length > 0) throw invalid(problems);
  }
}

/** @throws Problem NOT_FOUND for a name that is no channel's */
export function channelNamed(name: string): Channel {
  const channel = CHANNELS.find((one) => one === name);
  if (channel === undefined) throw new Problem('NOT_FOUND', `There is no such channel: there are ${CHANNELS.join(', ')}.`);
  return channel;
}

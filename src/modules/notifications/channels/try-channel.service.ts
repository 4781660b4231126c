import { Injectable } from '@nestjs/common';
import type { ExternalChannel } from '../../../domain/notifications/events.js';
import type { TestMessage } from '../../../domain/notifications/message.js';
import { newId } from '../../../domain/ids.js';
import { currentTrace, recordsNothing } from '../../../platform/auth/access/call-context.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { OrganizationsQuery } from '../../organizations/organizations.query.js';
import { UsersQuery } from '../../organizations/users/users.query.js';
import type { Addressee } from '../senders/sender.js';
import { Senders } from '../senders/senders.js';
import { settingProblems, type StoredSettings } from './channel-settings.js';
import { type ChannelTestReply, presentOutcome } from './channels.presenter.js';
import { channelNamed } from './configure-channel.service.js';
import { StoredChannels } from './stored-channels.js';

/** Sends a message that is about nothing through a channel, on or off, for whoever sets it up. Nothing is changed by it. */
@Injectable()
export class TryChannelService {
  constructor(
    private readonly organizations: OrganizationsQuery,
    private readonly channels: StoredChannels,
    private readonly users: UsersQuery,
    private readonly senders: Senders,
  ) {}

  /** @throws Problem NOT_FOUND for a channel that is not set up; CONFLICT where there is nothing to try, or nobody to mail to */
  async test(name: string, organization: string | undefined, caller: Caller): Promise<ChannelTestReply> {
    const channel = channelNamed(name);
    if (channel === 'in_app') throw new Problem('CONFLICT', 'The inbox is a part of this service: there is nothing to try.');
    const organizationId = await this.organizations.choose(caller.scope, organization);
    const config = await this.channels.configOf(organizationId, channel);
    if (config === undefined) throw new Problem('NOT_FOUND', `The channel ${channel} is not set up.`);
    const [missing] = settingProblems(channel, config.settings as StoredSettings, true);
    if (missing) throw new Problem('CONFLICT', `The channel ${channel} lacks what it needs: ${missing.pointer} ${missing.message}.`);
    const addressee = await this.addresseeOf(channel, caller);
    const message: TestMessage = {
      about: 'test', event: 'channel.test', deliveryId: newId('dlv'), organizationId, priority: 'normal', occurredAt: new Date(),
      ...currentTrace(),
    };
    recordsNothing();
    return presentOutcome(await this.senders.send({ message, config, ...(addressee === undefined ? {} : { addressee }) }));
  }

  private async addresseeOf(channel: ExternalChannel, { principal, scope }: Caller): Promise<Addressee | undefined> {
    if (channel !== 'email') return undefined;
    const user = principal.kind === 'user' ? await this.users.find(scope, principal.userId) : undefined;
    if (!user?.email) throw new Problem('CONFLICT', 'A mail to try it goes to whoever asks for it: ask as a person with an address.');
    return { userId: user.id, address: user.email, name: user.name };
  }
}

import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { Logger } from 'pino';
import { Problem } from '../../../../platform/http/reply/problem.js';
import { LOGGER } from '../../../../platform/logging/token.js';
import type { OutboxRow } from '../../../../platform/outbox/outbox-row.js';
import { type EffectHandler, Parked } from '../../../../platform/outbox/effect-handler.js';
import { OutboxWorker } from '../../../../platform/outbox/outbox.worker.js';
import { AccountDeletions } from './account-deletions.js';
import { type Deletion, ProviderAdministration } from './provider-administration.js';
import { ProviderMetadata } from '../client/provider-metadata.js';
import { troubleOf } from '../client/provider-problems.js';

/** Afterwards the effect is parked: somebody may have to delete the account at the provider. */
const TRIED_FOR_MS = 24 * 3_600_000;

/** Deletes accounts of erased people at the identity provider. Doing it again is nothing: what is not there any more is deleted. */
@Injectable()
export class DeleteAccountHandler implements EffectHandler, OnModuleInit {
  readonly kind = 'provider-account.delete';
  readonly atOnce = 2;

  constructor(
    private readonly worker: OutboxWorker,
    private readonly deletions: AccountDeletions,
    private readonly administration: ProviderAdministration,
    private readonly provider: ProviderMetadata,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    if (this.administration.isAvailable) this.worker.register(this);
  }

  /** @throws Problem UNAVAILABLE where it has to be tried again, Parked where that is of no use */
  async handle({ payload, createdAt }: OutboxRow): Promise<void> {
    const user = this.deletions.read(payload);
    if (user === undefined) throw new Parked('it was not sealed by this installation');
    // The same subject is somebody else's at another provider.
    if (user.issuer !== this.provider.issuer) throw new Parked('it is of another identity provider');
    const deletion = await this.delete(user.subject);
    if (deletion === 'deleted') return;
    if (deletion === 'no_address') throw new Parked('no address can name the account');
    const said = deletion === 'no_answer' ? 'no answer' : `answer ${deletion.refused}`;
    if (Date.now() - createdAt.getTime() > TRIED_FOR_MS) throw new Parked(`the identity provider has not deleted the account: ${said}`);
    throw new Problem('UNAVAILABLE', `The identity provider has not deleted the account: ${said}.`);
  }

  private async delete(subject: string): Promise<Deletion> {
    try {
      return await this.administration.delete(subject);
    } catch (error) {
      this.logger.warn({ ...troubleOf(error), what: 'deletion' }, 'the identity provider failed');
      return 'no_answer';
    }
  }
}

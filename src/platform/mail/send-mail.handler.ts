import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { Logger } from 'pino';
import { Problem } from '../http/reply/problem.js';
import { LOGGER } from '../logging/token.js';
import type { OutboxRow } from '../outbox/outbox-row.js';
import type { EffectHandler } from '../outbox/effect-handler.js';
import { OutboxWorker } from '../outbox/outbox.worker.js';
import { Mailer } from './mailer.js';
import { mailCodes, MailRefused, Smtp } from './smtp.js';

/** Then it is given up: what a mail invites to does not wait for ever. */
const GIVEN_UP_AFTER_MS = 24 * 3_600_000;

/** Sends what waits in the outbox as mail, and tries again for a day. Where there is no mail server nothing of it is taken. */
@Injectable()
export class SendMailHandler implements EffectHandler, OnModuleInit {
  readonly kind = 'mail.send';
  readonly atOnce = 2;

  constructor(
    private readonly worker: OutboxWorker,
    private readonly mailer: Mailer,
    private readonly smtp: Smtp,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    if (this.mailer.isAvailable) this.worker.register(this);
  }

  /** @throws Problem UNAVAILABLE where it has to be tried again */
  async handle(row: OutboxRow): Promise<void> {
    const mail = this.mailer.read(row.payload);
    if (mail === undefined) return this.giveUp(row, 'it was not sealed by this installation');
    try {
      await this.smtp.send(mail, row.id);
    } catch (error) {
      if (error instanceof MailRefused) return this.giveUp(row, mailCodes(error.cause));
      if (Date.now() - row.createdAt.getTime() > GIVEN_UP_AFTER_MS) return this.giveUp(row, mailCodes(error));
      // What a mail server says may name whom it was for.
      throw new Problem('UNAVAILABLE', `The mail could not be sent: ${mailCodes(error)}.`);
    }
  }

  private giveUp({ id, organizationId, attempts }: OutboxRow, reason: string): void {
    this.logger.error({ id, organizationId, attempts, reason }, 'a mail was not sent, and is not tried again');
  }
}

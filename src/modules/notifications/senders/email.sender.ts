import { Inject, Injectable } from '@nestjs/common';
import { emailMessage } from '../../../domain/notifications/email-message.js';
import { QUESTIONS } from '../../../domain/notifications/events.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { mailCodes, MailRefused, Smtp } from '../../../platform/mail/smtp.js';
import { DecisionLinksService } from '../decisions/decision-links.js';
import type { ChannelSender, Outgoing, SendOutcome } from './sender.js';

const WITHIN_MS = 10_000;

/** Mails one person at a time, through the operator's server. */
@Injectable()
export class EmailSender implements ChannelSender<'email'> {
  readonly channel = 'email';

  constructor(
    private readonly smtp: Smtp,
    private readonly links: DecisionLinksService,
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'smtpHost'>,
  ) {}

  async send({ message, addressee }: Outgoing<'email'>): Promise<SendOutcome> {
    if (this.config.smtpHost === undefined) return { kind: 'dead', code: 'NO_MAIL_SERVER' };
    if (addressee === undefined) return { kind: 'dead', code: 'NO_ADDRESS' };
    const isQuestion = message.about === 'request' && QUESTIONS.has(message.event);
    const links = isQuestion ? await this.links.forMail(message.request, addressee) : undefined;
    const mail = { ...emailMessage(message, links), to: addressee.address };
    try {
      await this.smtp.send(mail, message.deliveryId, WITHIN_MS);
      return { kind: 'delivered' };
    } catch (error) {
      if (error instanceof MailRefused) return { kind: 'dead', code: mailCodes(error.cause) };
      // Deferred by a server that answers: its other recipients are not concerned.
      const isOfAddressee = (error as { code?: unknown }).code === 'EENVELOPE';
      return { kind: 'retry', code: mailCodes(error), ...(isOfAddressee ? { isOfAddressee } : {}) };
    }
  }
}

import { Inject, Injectable } from '@nestjs/common';
import type { Transporter } from 'nodemailer';
import { CONFIG, type CompleteConfig } from '../config/config.js';
import { type Delivery, type DeliveryTerms, deliver, type OutgoingMail } from './delivery.js';
import type { Mail } from './mailer.js';
import { sentSubject } from './subject.js';

const CONNECT_MS = 5_000;
/** Without a word from the server; the whole of one mail may take a little longer than this. */
const SILENCE_MS = 8_000;
/** A claim on an effect holds 30 seconds: a mail that takes longer might be sent by two. */
const WHOLE_MS = 20_000;
const SUBMISSION_OVER_TLS = 465;
/** What is wrong with the mail itself, not with the server or how it is reached. */
const OF_THE_MAIL: ReadonlySet<unknown> = new Set(['EENVELOPE', 'EMESSAGE']);

type SmtpConfig = Pick<CompleteConfig, 'smtpHost' | 'smtpPort' | 'smtpUser' | 'smtpPass' | 'smtpFrom' | 'production'>;

/** The mail server refuses this very mail for good (RFC 5321, section 4.2.1: 5yz). */
export class MailRefused extends Error {
  constructor(cause: unknown) {
    super('the mail server refuses this mail', { cause });
    this.name = 'MailRefused';
  }
}

/** Sends mail by SMTP (RFC 5321), one connection for each: a server that is away holds nothing back that the next could need. */
@Injectable()
export class Smtp {
  private transport: Promise<Transporter> | undefined;

  constructor(@Inject(CONFIG) private readonly config: SmtpConfig) {}

  /**
   * @param id the same whenever the same mail is sent again, so that mail programs recognize it
   * @param withinMs for all of it
   * @throws MailRefused where to try again is of no use; else Error
   */
  async send({ to, thread, subject, ...content }: Mail, id: string, withinMs = WHOLE_MS): Promise<void> {
    const { smtpFrom: from } = this.config;
    const host = from?.split('@').pop()?.replace(/[^A-Za-z0-9.-]/g, '') ?? 'localhost';
    // Of a thread there need be no first mail: that all answer the same one is enough for mail programs.
    const root = thread === undefined ? {} : { inReplyTo: `<${thread}@${host}>`, references: `<${thread}@${host}>` };
    const mail = { ...content, ...root, subject: sentSubject(subject), from, to: { name: '', address: to }, messageId: `<${id}@${host}>` };
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('the mail server takes too long')), withinMs);
    });
    try {
      const transport = await (this.transport ??= this.open());
      await Promise.race([transport.sendMail(mail), tooLong]);
    } catch (error) {
      const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
      if (OF_THE_MAIL.has(code) && typeof responseCode === 'number' && responseCode >= 500) throw new MailRefused(error);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Connects, and signs in where a user is set; sends nothing. @throws Error */
  async check(): Promise<void> {
    await (await this.open()).verify();
  }

  /** Sends a mail once, and says how far it came. @param id the part of its `Message-ID` before the `@` */
  async deliver(mail: OutgoingMail, id: string, terms: DeliveryTerms): Promise<Delivery> {
    const { smtpHost, smtpFrom } = this.config;
    if (smtpHost === undefined) return { kind: 'unreachable', reason: 'there is no mail server, since SMTP_HOST is not set' };
    return deliver(await this.open(), smtpFrom, this.messageIdOf(id), mail, terms);
  }

  private messageIdOf(id: string): string {
    const host = this.config.smtpFrom?.split('@').pop()?.replace(/[^A-Za-z0-9.-]/g, '') ?? 'localhost';
    return `<${id}@${host}>`;
  }

  /** Loaded at the first mail: it would cost each start a quarter of a second. */
  private async open(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer');
    const { smtpHost: host, smtpPort: port, smtpUser: user, smtpPass: pass, production } = this.config;
    return createTransport({
      host, port, secure: port === SUBMISSION_OVER_TLS,
      // Where the server offers it the connection is encrypted; a password goes over no other one.
      requireTLS: production && user !== undefined,
      ...(user === undefined ? {} : { auth: { user, pass: pass ?? '' } }),
      connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS, socketTimeout: SILENCE_MS, dnsTimeout: CONNECT_MS,
      disableFileAccess: true, disableUrlAccess: true,
    });
  }
}

/** What a mail server said, by codes alone: its words may name whom a mail was for. */
export function mailCodes(error: unknown): string {
  const { code, responseCode } = (error ?? {}) as { code?: unknown; responseCode?: unknown };
  const codes = [code, responseCode].filter((one) => typeof one === 'string' || typeof one === 'number');
  return codes.length === 0 ? 'no answer' : codes.join(' ');
}

import { Inject, Injectable } from '@nestjs/common';
import { PLATFORM_ORGANIZATION } from '../../domain/audit/entry/chain.js';
import { CONFIG, type CompleteConfig } from '../config/config.js';
import type { Tx } from '../database/transaction/tx.js';
import { SealedBox } from '../secrets/sealed-box.js';

/** A mail to one person. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same as HTML, for mail programs that show it. */
  readonly html?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What mails of one thread have in common: letters, digits, `_` and `-`. */
  readonly thread?: string;
}

/** What an effect `mail.send` is sealed for: a payload of something else does not open as a mail. */
export const MAIL_AAD = 'mail.send';

/**
 * Sends mail after the commit that asks for it. Its text may let somebody in, so in the outbox, and in what backups hold of it, it is
 * sealed.
 */
@Injectable()
export class Mailer {
  /** Whether there is a mail server; without one nothing may be sent. */
  readonly isAvailable: boolean;

  constructor(
    @Inject(CONFIG) config: Pick<CompleteConfig, 'smtpHost'>,
    private readonly box: SealedBox,
  ) {
    this.isAvailable = config.smtpHost !== undefined;
  }

  /** @param organizationId whose business it is; that of the platform unless it is said */
  send(tx: Pick<Tx, 'enqueue'>, mail: Mail, organizationId: string = PLATFORM_ORGANIZATION): void {
    if (!this.isAvailable) throw new Error('There is no mail server to send a mail by.');
    const sealed = this.box.seal('mail', MAIL_AAD, Buffer.from(JSON.stringify(mail))).toString('base64');
    tx.enqueue({ kind: 'mail.send', organizationId, payload: { sealed } });
  }

  /** The mail of an effect's payload; undefined for one that was not sealed by this installation. */
  read(payload: { readonly sealed?: unknown }): Mail | undefined {
    if (typeof payload.sealed !== 'string') return undefined;
    const bytes = this.box.open('mail', MAIL_AAD, Buffer.from(payload.sealed, 'base64'));
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString('utf8')) as Mail);
  }
}

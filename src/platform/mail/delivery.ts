import { Readable } from 'node:stream';
import type { Transporter } from 'nodemailer';
import { sentSubject } from './subject.js';

/** A mail to several people, in one message. */
export interface OutgoingMail {
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  readonly replyTo?: string;
}

/**
 * What came of a mail. `refused`: the server said no, so that nobody gets it. `unreachable`: its text did not go out. `unknown`: the
 * text went out, at least in part, and the server's answer to it did not come.
 */
export type Delivery =
  | { readonly kind: 'sent'; readonly messageId: string; readonly accepted: readonly string[]; readonly rejected: readonly string[] }
  | { readonly kind: 'refused' | 'unreachable' | 'unknown'; readonly reason: string };

export interface DeliveryTerms {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Sends one mail by a transport that was opened for it. */
export async function deliver(
  transport: Transporter, from: string | undefined, messageId: string, mail: OutgoingMail, { timeoutMs, signal }: DeliveryTerms,
): Promise<Delivery> {
  let isUnderWay = false;
  transport.use('stream', ({ message }, done) => {
    const make = message.createReadStream.bind(message);
    // Read from once the server has said, in answer to DATA, that it wants the text.
    message.createReadStream = () => Readable.from(observed(make(), () => (isUnderWay = true))) as ReturnType<typeof make>;
    done();
  });
  const addressed = (all: readonly string[]) => all.map((address) => ({ name: '', address }));
  const { to, cc, bcc, subject, text, html, replyTo } = mail;
  const tooLate = AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs)));
  try {
    const { accepted, rejected } = (await transport.sendMail({
      from, to: addressed(to), cc: addressed(cc), bcc: addressed(bcc), subject: sentSubject(subject), text, messageId,
      ...(html === undefined ? {} : { html }), ...(replyTo === undefined ? {} : { replyTo: { name: '', address: replyTo } }),
      signal: AbortSignal.any([signal, tooLate]),
    })) as { accepted: unknown[]; rejected: unknown[] };
    return { kind: 'sent', messageId, accepted: accepted.map(String), rejected: rejected.map(String) };
  } catch (error) {
    const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
    const reason = tooLate.aborted ? 'there was no answer in time' : reasonOf(code, responseCode);
    // The answer to DATA, or one before it, says no; to a connection that ended it says nothing of the mail.
    const isAnswer = typeof responseCode === 'number' && (code === 'EENVELOPE' || code === 'EMESSAGE' || !isUnderWay);
    if (isAnswer) return { kind: 'refused', reason };
    return { kind: isUnderWay ? 'unknown' : 'unreachable', reason };
  }
}

async function* observed(source: AsyncIterable<Buffer | string>, begins: () => void): AsyncGenerator<Buffer | string> {
  begins();
  yield* source;
}

/** Codes alone: what a mail server says may name whom a mail is for. */
function reasonOf(...codes: unknown[]): string {
  const known = codes.filter((one) => typeof one === 'string' || typeof one === 'number');
  return known.length === 0 ? 'no answer' : known.join(' ');
}

import type { JsonObject, JsonValue } from '../../json.js';
import { placeholders } from '../connector-template.js';
import { type EmailConnector, isMailAddress, RECIPIENTS_MAX } from './email-connector.js';
import { fill, interpolate, Unfit } from './fill.js';

/** A mail ready to be sent, but for its sender and its id. */
export interface RenderedMail {
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  readonly replyTo?: string;
}

const SUBJECT_MAX = 500;
const MAIL_BYTES_MAX = 1024 * 1024;
const ESCAPED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** @throws Unfit */
export function renderMail(connector: EmailConnector, input: JsonObject): RenderedMail {
  const values = { input };
  const plain = (template: string): string => interpolate(template, values, (text) => text);
  const recipients = { to: addresses(connector.to, input), cc: addresses(connector.cc, input), bcc: addresses(connector.bcc, input) };
  const count = recipients.to.length + recipients.cc.length + recipients.bcc.length;
  if (recipients.to.length === 0) throw new Unfit(pointerOf(connector.to), 'must name a recipient');
  if (count > RECIPIENTS_MAX) throw new Unfit(pointerOf(connector.to), `makes ${count} recipients; a mail has at most ${RECIPIENTS_MAX}`);
  const subject = interpolate(connector.subject, values, (text, { pointer }) => {
    if (/[\u0000-\u001f\u007f\u2028\u2029]/.test(text)) throw new Unfit(pointer, 'must be one line: it stands in a subject');
    return text;
  });
  if (subject.length > SUBJECT_MAX) throw new Unfit(pointerOf(connector.subject), `makes a subject of more than ${SUBJECT_MAX} characters`);
  const text = plain(connector.text);
  const html = connector.html === undefined ? undefined : interpolate(connector.html, values, escaped);
  const bytes = Buffer.byteLength(text) + Buffer.byteLength(html ?? '');
  if (bytes > MAIL_BYTES_MAX) throw new Unfit('/input', 'makes a mail of more than 1 MiB');
  const [replyTo] = addresses(connector.replyTo, input);
  return { ...recipients, subject, text, ...(html === undefined ? {} : { html }), ...(replyTo === undefined ? {} : { replyTo }) };
}

/** A template is an address, or exactly one placeholder for a list of them. */
function addresses(template: string | readonly string[] | undefined, input: JsonObject): string[] {
  if (template === undefined) return [];
  if (typeof template !== 'string') return template.flatMap((one) => addresses(one, input));
  const filled = fill(template, { input });
  return (Array.isArray(filled) ? filled : [filled]).map((one) => address(one, pointerOf(template)));
}

function address(value: JsonValue, pointer: string): string {
  if (typeof value !== 'string' || !isMailAddress(value)) {
    throw new Unfit(pointer, 'must be an e-mail address alone, without a name, or a list of such addresses');
  }
  return value;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ESCAPED[sign]!);
}

function pointerOf(template: string | readonly string[]): string {
  const first = typeof template === 'string' ? template : template.join('');
  return placeholders(first)[0]?.pointer ?? '/input';
}

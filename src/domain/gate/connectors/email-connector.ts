import { EMAIL_ADDRESS, EMAIL_ADDRESS_MAX } from '../../access/person.js';
import type { JsonObject, JsonValue } from '../../json.js';
import { placeholders } from '../connector-template.js';
import { type CallBounds, checkTexts, numberWithin, present, type Wrong } from './connector-fields.js';

/** A mail by the service's own mail server. Its sender is SMTP_FROM. Texts may hold `{input.member}`. */
export interface EmailConnector extends CallBounds {
  readonly type: 'email';
  readonly to: string | readonly string[];
  readonly cc?: string | readonly string[];
  readonly bcc?: string | readonly string[];
  readonly subject: string;
  readonly text: string;
  /** In it, what the input gives is escaped. */
  readonly html?: string;
  readonly replyTo?: string;
}

export const EMAIL_MEMBERS = ['type', 'to', 'cc', 'bcc', 'subject', 'text', 'html', 'replyTo', 'timeoutSeconds'] as const;
/** Of `to`, `cc` and `bcc` together. */
export const RECIPIENTS_MAX = 50;

export function checkEmailConnector(definition: JsonObject, wrong: Wrong): EmailConnector {
  const { to, cc, bcc, subject, text, html, replyTo } = definition;
  if (to === undefined) wrong('/to', 'is required');
  for (const [name, value] of Object.entries({ to, cc, bcc })) if (value !== undefined) checkRecipients(`/${name}`, value, wrong);
  const literal = [to, cc, bcc].flat().filter((one) => typeof one === 'string' && isLiteral(one));
  if (literal.length > RECIPIENTS_MAX) wrong('/to', `must be at most ${RECIPIENTS_MAX} recipients, with cc and bcc`);
  for (const [name, value] of Object.entries({ subject, text })) if (value === undefined) wrong(`/${name}`, 'is required');
  for (const [name, value] of Object.entries({ subject, text, html, replyTo })) {
    if (value === undefined) continue;
    if (typeof value !== 'string') wrong(`/${name}`, 'must be a text');
    else checkTexts(value, `/${name}`, wrong);
  }
  if (typeof replyTo === 'string') checkAddressAt('/replyTo', replyTo, wrong);
  if (typeof subject === 'string' && /[\u0000-\u001f\u007f]/.test(subject)) wrong('/subject', 'must be one line');
  const timeoutSeconds = numberWithin(definition, 'timeoutSeconds', 1, 120, wrong);
  return { type: 'email', to, ...present({ cc, bcc }), subject, text, ...present({ html, replyTo }), timeoutSeconds } as EmailConnector;
}

function checkRecipients(pointer: string, value: JsonValue, wrong: Wrong): void {
  const all = Array.isArray(value) ? value : [value];
  if (all.length === 0 || all.length > RECIPIENTS_MAX) return wrong(pointer, `must be 1 to ${RECIPIENTS_MAX} recipients`);
  all.forEach((one, index) => {
    const at = Array.isArray(value) ? `${pointer}/${index}` : pointer;
    if (typeof one !== 'string') wrong(at, 'must be an e-mail address, or a placeholder {input.member} for one or a list of them');
    else {
      checkTexts(one, at, wrong);
      checkAddressAt(at, one, wrong);
    }
  });
}

/** What no input fills in has to be an address now: later it would fail every call, and the caller could not mend it. */
function checkAddressAt(pointer: string, text: string, wrong: Wrong): void {
  if (isLiteral(text) && !isMailAddress(text)) wrong(pointer, 'must be an e-mail address alone, without a name');
}

function isLiteral(text: string): boolean {
  return placeholders(text).length === 0;
}

/** An address alone, in which no mail program finds an encoded word (RFC 2047): it would show another one. */
export function isMailAddress(text: string): boolean {
  return text.length <= EMAIL_ADDRESS_MAX && EMAIL_ADDRESS.test(text) && !text.includes('=?');
}

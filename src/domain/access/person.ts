import { isId } from '../ids.js';

/**
 * The form that browsers take for an e-mail address (WHATWG HTML, "valid e-mail address"): plain ASCII, so that no two look
 * alike.
 */
export const EMAIL_ADDRESS =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

/** The longest address (RFC 5321). */
export const EMAIL_ADDRESS_MAX = 254;

/** Whether a text can name an account: by its id, or by an address in the one form that accounts have. */
export function namesAccount(text: string): boolean {
  return (text.length <= EMAIL_ADDRESS_MAX && EMAIL_ADDRESS.test(text)) || isId('usr', text);
}

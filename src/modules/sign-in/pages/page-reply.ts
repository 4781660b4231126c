import { type PageParts, pageFrame } from '../../../platform/http/pages/page-frame.js';
import { type Reply, reply } from '../../../platform/http/reply/replies.js';

/** Stricter than the service's own: nothing but the page's own parts, and forms that come back to us alone. */
const policyOf = ({ scripts = [] }: PageParts): string => [
  "default-src 'none'", "style-src 'self'", ...(scripts.length > 0 ? ["script-src 'self'", "connect-src 'self'"] : []), 'img-src data:',
  "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'",
].join('; ');

/** @param headers besides those of a page */
export function pageReply(status: number, parts: PageParts, headers: Readonly<Record<string, string>> = {}): Reply<string> {
  const policy = { 'Content-Security-Policy': policyOf(parts) };
  return reply(status, pageFrame(parts), { 'Content-Type': 'text/html; charset=utf-8', ...policy, ...headers });
}

/** On to a path of ours, by GET. */
export const seeOther = (location: string, headers: Readonly<Record<string, string>> = {}): Reply<undefined> =>
  reply(303, undefined, { Location: location, ...headers });

/** Both scripts: the library, and what uses it. */
export const SCRIPTS = ['/sign-in/assets/webauthn.js', '/sign-in/assets/sign-in.js'] as const;

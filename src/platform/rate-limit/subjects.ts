import type { Principal } from '../auth/access/principal.js';

/**
 * Under which name a principal's calls are counted: its kind and id, whichever credential it shows. An agent's epoch
 * and key belong to it: on the hot path a token or key that was ended is refused only by the commit, and must not use up what the
 * agent's good ones may call.
 */
export function principalSubject(principal: Principal): string {
  switch (principal.kind) {
    case 'agent':
      return `agent:${principal.agentId}:${principal.epoch}${principal.keyId === undefined ? '' : `:${principal.keyId}`}`;
    case 'user':
      return `user:${principal.userId}`;
    default:
      return principal.kind;
  }
}

/**
 * Under which name the calls of an address are counted. Of IPv6 the first 64 bits: the rest is the caller's own choice
 * (RFC 4291, section 2.5.4).
 *
 * @param address in its canonical spelling
 */
export function addressSubject(address: string | undefined): string {
  if (address === undefined) return 'address:unknown';
  return `address:${addressNetwork(address)}`;
}

/** What an address is counted as: itself, or the first 64 bits of IPv6, as PostgreSQL reads an `inet`. */
export function addressNetwork(address: string): string {
  return address.includes(':') ? `${network64(address)}::/64` : address;
}

function network64(address: string): string {
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  if (tail === undefined) return first.slice(0, 4).join(':');
  const last = tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(8 - first.length - last.length).fill('0');
  return [...first, ...zeros, ...last].slice(0, 4).join(':');
}

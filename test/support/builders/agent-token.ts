import { createHmac } from 'node:crypto';
import { JWT_SECRET } from '../servers/test-run.js';

export type Claims = Readonly<Record<string, unknown>>;

export const encodePart = (content: unknown): string =>
  Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)).toString('base64url');

/** The claims of a token, unverified. */
export function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as Record<string, unknown>;
}

/** Header and payload as given (text is taken as it stands), signed as HS256 does it, whatever the header says. */
export function signToken(payload: Claims | string, header: Claims | string = { alg: 'HS256', typ: 'JWT' },
  secret = JWT_SECRET): string {
  return signText(`${encodePart(header)}.${encodePart(payload)}`, secret);
}

export function signText(signed: string, secret = JWT_SECRET, algorithm = 'sha256'): string {
  return `${signed}.${createHmac(algorithm, secret).update(signed).digest('base64url')}`;
}

import { CountersignError } from '../errors.js';

/**
 * Who calls: a key (root, personal, of an agent) or a token as text; a token that `getToken` gives and renews; or the session of the
 * browser's person.
 */
export type CredentialOption =
  | string
  | { readonly session: true }
  | { readonly token?: string; readonly getToken: () => string | Promise<string> };

/** What a transport asks of whoever calls. */
export interface Credential {
  /** Of `fetch`: whether the browser sends its cookies along. */
  readonly cookies: 'include' | 'omit';
  /** The text of the Authorization header, renewed before where it is time. */
  authorization(): Promise<string | undefined>;
  /** @param used what the refused call was sent with. @returns whether there is another one by now, to try again with */
  renewedAfter(error: CountersignError, used: string | undefined): Promise<boolean>;
  /** The clock of the service, as an answer told it. */
  sawTime(ms: number): void;
}

const KEY = /^svc_(root|user|agent)_[0-9a-f]{64}$/;
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const SHORTEST = 32;

/** @throws CountersignError INVALID_OPTIONS, which does not repeat what was given */
export function checkedCredential(text: unknown): string {
  const isOne = typeof text === 'string' && /^[\x21-\x7e]+$/.test(text) && text.length >= SHORTEST
    && (!text.startsWith('svc_') || KEY.test(text));
  if (isOne) return text;
  const detail = 'The credential is none: a key (svc_root_…, svc_user_…, svc_agent_… with 64 hexadecimal digits) or a token is needed.';
  throw new CountersignError('INVALID_OPTIONS', { detail });
}

export const isToken = (text: string): boolean => JWT.test(text);

/** A key, which is what it is until somebody revokes it. */
export function fixedCredential(text: string): Credential {
  return { cookies: 'omit', authorization: async () => `Bearer ${text}`, renewedAfter: async () => false, sawTime: () => undefined };
}

/** The cookie that signing in has left in this browser. */
export const SESSION: Credential = {
  cookies: 'include', authorization: async () => undefined, renewedAfter: async () => false, sawTime: () => undefined,
};

import type { Request } from 'express';
import { cookieValue } from './cookies.js';

/**
 * The credential texts of a request: `Authorization: Bearer …`, for the root key only `x-api-key` (interface, section 5), and for
 * people the cookie of their session. A credential that is sent twice counts as malformed, since proxies differ in which one they keep.
 */
export interface PresentedCredentials {
  bearer?: string;
  apiKey?: string;
  session?: string;
  malformed?: string;
}

/** Where the clients of a vendor of models call: older ones send the key that they are given, here an agent's, as `x-api-key`. */
const VENDOR_ROUTES = /^\/api\/v1\/llm\//i;
const ROOT_KEY = /^svc_root_/;

/** The application's setting that names the cookie of sessions; without it no cookie is read. */
export const SESSION_COOKIE = 'countersign session cookie';

const BEARER = /^Bearer ([A-Za-z0-9._~+/=-]{1,16000})$/i;

export function presentedCredentials(request: Request): PresentedCredentials {
  const authorization = one(request, 'authorization');
  const apiKey = one(request, 'x-api-key');
  if (authorization === 'repeated' || apiKey === 'repeated') return { malformed: 'a credential header was sent twice' };
  const shown: PresentedCredentials = {};
  if (authorization !== undefined) {
    const bearer = BEARER.exec(authorization.value)?.[1];
    if (bearer === undefined) return { malformed: 'Authorization must be "Bearer <credential>"' };
    shown.bearer = bearer;
  }
  const isAgents = apiKey !== undefined && VENDOR_ROUTES.test(request.path) && !ROOT_KEY.test(apiKey.value);
  if (isAgents) {
    if (shown.bearer !== undefined && shown.bearer !== apiKey.value) {
      return { malformed: 'Authorization and x-api-key name different credentials' };
    }
    shown.bearer = apiKey.value;
  } else if (apiKey !== undefined) shown.apiKey = apiKey.value;
  if (request.headers.cookie !== undefined) {
    const name = request.app.get(SESSION_COOKIE) as string | undefined;
    const session = name === undefined ? undefined : cookieValue(request.headers.cookie, name);
    if (session === 'repeated') return { malformed: 'two cookies name different sessions' };
    if (session !== undefined) shown.session = session.value;
  }
  return shown;
}

function one(request: Request, name: string): { value: string } | 'repeated' | undefined {
  let value: string | undefined;
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const header = request.rawHeaders[i]!;
    if (header.length !== name.length || header.toLowerCase() !== name) continue;
    if (value !== undefined) return 'repeated';
    value = request.rawHeaders[i + 1]!;
  }
  return value === undefined ? undefined : { value };
}

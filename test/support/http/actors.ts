import type { TestServer } from '../servers/server.js';
import { holdAgainstDocument } from './held-answer.js';
import { ROOT_KEY } from '../servers/test-run.js';

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** Sent as the body as it stands, for what no serializer would write. */
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  readonly signal?: AbortSignal;
}

export interface Reply<T = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
  /** The member at a dotted path (`agent.id`, `entries.0.hash`); throws, with the body, where there is none. */
  at(path: string): unknown;
  text(path: string): string;
  number(path: string): number;
  list(path: string): unknown[];
  /** This reply, if its status is the wanted one (and its problem code, if one is given); else throws with the body. */
  expect(status: number, code?: string): Reply<T>;
}

type WithBody = <T = unknown>(path: string, body?: unknown, options?: CallOptions) => Promise<Reply<T>>;
type WithoutBody = <T = unknown>(path: string, options?: CallOptions) => Promise<Reply<T>>;

export interface Client {
  readonly get: WithoutBody;
  readonly delete: WithBody;
  readonly post: WithBody;
  readonly put: WithBody;
  readonly patch: WithBody;
  /** The same actor with headers on every call. */
  with(headers: Readonly<Record<string, string>>): Client;
}

export const asRoot = (server: TestServer): Client => as(server, ROOT_KEY);
export const asAgent = (server: TestServer, token: string): Client => as(server, token);
export const anonymous = (server: TestServer): Client => client(server, {});

/** Whoever holds the credential: root key, agent token, personal key. */
export const as = (server: TestServer, credential: string): Client =>
  client(server, { authorization: `Bearer ${credential}` });

function client(server: TestServer, headers: Readonly<Record<string, string>>): Client {
  const send = async <T>(method: string, path: string, body: unknown, options: CallOptions = {}): Promise<Reply<T>> => {
    const target = new URL(path, server.url);
    for (const [name, value] of Object.entries(options.query ?? {})) target.searchParams.set(name, String(value));
    const content = options.raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const type: Record<string, string> = content === undefined ? {} : { 'content-type': 'application/json' };
    try {
      const response = await fetch(target, {
        method,
        headers: { ...type, ...headers, ...options.headers },
        body: content,
        signal: options.signal,
        redirect: 'manual',
      });
      const answer = reply<T>(`${method} ${path}`, response.status, response.headers, await contentOf(response));
      holdAgainstDocument(method, path, answer);
      return answer;
    } catch (error) {
      // A dead server shows as a refused connection; its own last words say more.
      await server.assertAlive();
      throw error;
    }
  };
  return {
    get: (path, options) => send('GET', path, undefined, options),
    delete: (path, body, options) => send('DELETE', path, body, options),
    post: (path, body, options) => send('POST', path, body, options),
    put: (path, body, options) => send('PUT', path, body, options),
    patch: (path, body, options) => send('PATCH', path, body, options),
    with: (more) => client(server, { ...headers, ...more }),
  };
}

/** All of it; of a stream, which never ends, what it begins with. */
export async function contentOf(response: Response): Promise<string> {
  if (!/^text\/event-stream/.test(response.headers.get('content-type') ?? '')) return response.text();
  const reader = response.body!.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return Buffer.from(value ?? []).toString('utf8');
}

function reply<T>(call: string, status: number, headers: Headers, content: string): Reply<T> {
  const json = /\bjson\b/.test(headers.get('content-type') ?? '');
  const body = (content === '' ? undefined : json ? JSON.parse(content) : content) as T;
  const fail = (message: string): never => {
    throw new Error(`${call} answered ${status}: ${message}\n${content.slice(0, 4_000)}`);
  };
  const at = (path: string): unknown => {
    let value: unknown = body;
    for (const step of path.split('.')) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return fail(`no member ${path}`);
      value = (value as Record<string, unknown>)[step];
    }
    return value;
  };
  const self: Reply<T> = {
    status,
    headers,
    body,
    at,
    text: (path) => {
      const value = at(path);
      return typeof value === 'string' ? value : fail(`${path} is no text`);
    },
    number: (path) => {
      const value = at(path);
      return typeof value === 'number' ? value : fail(`${path} is no number`);
    },
    list: (path) => {
      const value = at(path);
      return Array.isArray(value) ? (value as unknown[]) : fail(`${path} is no list`);
    },
    expect: (wanted, code) => {
      if (status !== wanted) fail(`wanted ${wanted}`);
      if (code !== undefined && at('code') !== code) fail(`wanted the code ${code}`);
      return self;
    },
  };
  return self;
}

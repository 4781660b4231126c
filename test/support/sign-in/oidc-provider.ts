import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { originOf } from '../builders/tenants.js';
import type { TestServer } from '../servers/server.js';
import { CHECKOUT, type Environment } from '../servers/test-run.js';

export type ClaimsOfUser = Readonly<Record<string, unknown>>;

/** Whose signature a forged token has; see test/support/sign-in/oidc-forgery.mjs. */
export type Signer = 'own' | 'other-alg' | 'stranger' | 'none' | 'secret' | 'public';

export interface ForgedToken {
  /** Members put over the header and the claims; null takes one away. */
  readonly header?: ClaimsOfUser;
  readonly claims?: ClaimsOfUser;
  readonly by?: Signer;
  /** The payload as it stands, for what no serializer would write. */
  readonly text?: string;
}

/** What is done to the answers of /token; `kept` leaves the signature as it was; `body` is about the answer's own members. */
export interface Tampering {
  readonly header?: ClaimsOfUser;
  readonly claims?: ClaimsOfUser;
  readonly by?: Signer | 'kept';
  readonly body?: ClaimsOfUser;
}

export interface ProviderCounts {
  /** Requests by path. */
  readonly requests: Readonly<Record<string, number>>;
  /** How often each refresh token was shown, by its digest. */
  readonly refreshes: Readonly<Record<string, number>>;
  /** Requests to /token at once. */
  readonly mostInFlight: number;
  /** Names of the members of the last form that /token was sent. */
  readonly lastForm: readonly string[];
}

export interface TestProvider {
  readonly issuer: string;
  readonly audience: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** A second client of the provider's, which is none of ours. */
  readonly otherClient: { readonly id: string; readonly secret: string };
  /** Settings of a server that signs people in here. */
  readonly env: Environment;
  /** Registers where people reach these servers; the first one's is told of logouts. */
  serves(...servers: readonly (TestServer | string)[]): Promise<void>;
  /** Makes the account, or changes what it claims, and lets it in at the next sign-in (else by a browser's cookie `test-user`). */
  claims(sub: string, claims?: ClaimsOfUser): Promise<void>;
  /** Who is let in from now on, of browsers without the cookie: `nobody` refuses, undefined shows a form. */
  signsIn(sub: string | undefined): Promise<void>;
  /** The accounts that are there. */
  accounts(): Promise<readonly string[]>;
  rotateKeys(how?: { readonly keepOld?: boolean }): Promise<void>;
  /** Milliseconds before each answer, 0 for none; of one path (`/token`, `/jwks`, `/.well-known/openid-configuration`), or all. */
  slow(ms: number, path?: string): Promise<void>;
  /** Answers so, whatever is asked; undefined ends it. */
  status(code: number | undefined, path?: string): Promise<void>;
  /** Breaks off in the middle of each answer. */
  half(on: boolean, path?: string): Promise<void>;
  /** Nobody listens there any more. */
  away(on: boolean): Promise<void>;
  /** Of a disabled account, nothing is renewed. */
  disable(sub: string, on?: boolean): Promise<void>;
  /** Lifetime of access tokens in seconds. Default 600. */
  expiresIn(seconds: number): Promise<void>;
  /** Whether signing in gives access tokens that our API takes (then its userinfo takes them no more). Default no. */
  givesJwt(on: boolean): Promise<void>;
  /** Whether id tokens say who it is and no more, the rest being for userinfo (OpenID Connect Core 1.0, section 5.4). Default no. */
  conforms(on: boolean): Promise<void>;
  /** What is done to answers of /token from now on; undefined ends it. */
  tamper(change: Tampering | undefined): Promise<void>;
  counts(): Promise<ProviderCounts>;
  forgetCounts(): Promise<void>;
  /** A token of any content. */
  sign(token: ForgedToken): Promise<string>;
  /** An access token for our API, good for ten minutes, for tests of it as a credential. */
  accessToken(sub: string, claims?: ClaimsOfUser, forged?: Omit<ForgedToken, 'claims'>): Promise<string>;
  /** A logout token as the provider would send it. */
  logoutToken(claims: ClaimsOfUser, forged?: Omit<ForgedToken, 'claims'>): Promise<string>;
  /** What it has complained of. */
  output(): string;
  close(): Promise<void>;
}

interface Hello {
  readonly issuer: string;
  readonly clients: readonly (readonly [string, string])[];
  readonly audience: string;
}

interface Reported {
  readonly id: number;
  readonly value?: unknown;
  readonly failed?: string;
}

/** A real identity provider of the test's own, as a child process. Start the servers with its `env`, then say `serves(server)`. */
export async function startProvider(): Promise<TestProvider> {
  const child = fork(join(CHECKOUT, 'test/support/sign-in/oidc-process.mjs'), {
    cwd: CHECKOUT, env: { PATH: process.env.PATH }, execArgv: ['--no-warnings'], stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let output = '';
  child.stderr?.on('data', (chunk: Buffer) => void (output = (output + chunk.toString('utf8')).slice(-16_000)));
  const gone = once(child, 'exit');
  const lost = gone.then(() => Promise.reject(new Error(`the provider is gone\n${output}`)));
  lost.catch(() => undefined);
  const [{ issuer, clients, audience }] = (await Promise.race([once(child, 'message'), lost])) as [Hello];

  let asked = 0;
  const waiting = new Map<number, (reply: Reported) => void>();
  child.on('message', (reply: Reported) => waiting.get(reply.id)?.(reply));
  const tell = async <T = void>(act: string, ...args: unknown[]): Promise<T> => {
    const id = ++asked;
    const reported = new Promise<Reported>((resolve) => waiting.set(id, resolve));
    child.send({ id, act, args });
    const { value, failed } = await Promise.race([reported, lost]);
    waiting.delete(id);
    if (failed !== undefined) throw new Error(failed);
    return value as T;
  };
  const sign = (token: ForgedToken) => tell<string>('sign', token);
  const seconds = () => Math.floor(Date.now() / 1_000);
  const [[clientId, clientSecret], [otherId, otherSecret]] = clients as readonly [readonly [string, string], readonly [string, string]];

  return {
    issuer, audience, clientId, clientSecret,
    otherClient: { id: otherId, secret: otherSecret },
    env: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret, OIDC_AUDIENCE: audience },
    serves: (...servers) => tell('serves', servers.map((one) => (typeof one === 'string' ? one : originOf(one)))),
    claims: (sub, claims = {}) => tell('claims', sub, claims),
    signsIn: (sub) => tell('signsIn', sub),
    accounts: () => tell('accounts'),
    output: () => output,
    rotateKeys: (how) => tell('rotateKeys', how ?? {}),
    slow: (ms, path) => tell('slow', ms, path ?? '*'),
    status: (code, path) => tell('status', code ?? null, path ?? '*'),
    half: (on, path) => tell('half', on, path ?? '*'),
    away: (on) => tell('away', on),
    disable: (sub, on = true) => tell('disable', sub, on),
    expiresIn: (lifetime) => tell('expiresIn', lifetime),
    givesJwt: (on) => tell('givesJwt', on),
    conforms: (on) => tell('conforms', on),
    tamper: (change) => tell('tamper', change ?? null),
    counts: () => tell('counts'),
    forgetCounts: () => tell('forgetCounts'),
    sign,
    accessToken: (sub, claims = {}, forged = {}) => sign({
      ...forged,
      claims: {
        iss: issuer, aud: audience, sub, jti: randomUUID(), iat: seconds(), exp: seconds() + 600, client_id: clientId, ...claims,
      },
      header: { typ: 'at+jwt', ...forged.header },
    }),
    logoutToken: (claims, forged = {}) => sign({
      ...forged,
      claims: {
        iss: issuer, aud: clientId, jti: randomUUID(), iat: seconds(), exp: seconds() + 120,
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} }, ...claims,
      },
      header: { typ: 'logout+jwt', ...forged.header },
    }),
    close: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

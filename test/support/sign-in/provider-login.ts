import { Browser, type Page } from '../http/browser.js';
import { startProvider, type ClaimsOfUser, type TestProvider } from './oidc-provider.js';
import { startServer, type TestServer } from '../servers/server.js';
import { originOf } from '../builders/tenants.js';
import type { Environment } from '../servers/test-run.js';

export const LOGIN = '/api/v1/auth/login';
export const CALLBACK = '/api/v1/auth/callback';

export interface SignInScenario {
  readonly provider: TestProvider;
  readonly server: TestServer;
  stop(): Promise<void>;
}

/** A server that signs people in at a provider of the test's own; calls may say by X-Forwarded-For from where they come. */
export async function startSignIn(env: Environment = {}): Promise<SignInScenario> {
  const provider = await startProvider();
  const server = await startServer({ env: { ...provider.env, TRUSTED_PROXIES: '127.0.0.1', ...env } }).catch(async (error: unknown) => {
    await provider.close();
    throw error;
  });
  await provider.serves(server);
  return {
    provider,
    server,
    stop: async () => {
      await provider.close();
      await server.stop();
    },
  };
}

/** A browser whose user is this one of the provider's. */
export async function aBrowserOf(provider: TestProvider, sub: string, claims: ClaimsOfUser = {}): Promise<Browser> {
  await provider.claims(sub, claims);
  const browser = new Browser();
  browser.plant('127.0.0.1', 'test-user', sub);
  return browser;
}

/** Signs in, to the end. */
export async function signIn({ server }: SignInScenario, browser: Browser, returnTo = '/docs'): Promise<Page> {
  return browser.visit(`${originOf(server)}${LOGIN}?returnTo=${encodeURIComponent(returnTo)}`);
}

/** Signs in at the provider, and stops with the address that it sends the browser back to. */
export async function wayBack({ server }: SignInScenario, browser: Browser, headers: Readonly<Record<string, string>> = {}): Promise<URL> {
  let next = new URL(`${originOf(server)}${LOGIN}?returnTo=/docs`);
  for (let hops = 0; hops < 10; hops++) {
    const page = await browser.visit(next, { follow: 0, headers: next.pathname === LOGIN ? headers : {} });
    const location = page.headers.get('location');
    if (location === null) throw new Error(`${next.href} led nowhere: ${page.status} ${page.text.slice(0, 500)}`);
    next = new URL(location, next);
    if (next.pathname === CALLBACK) return next;
  }
  throw new Error('the provider sends the browser around');
}

/** The session's cookie of a browser, as a header. */
export function cookieOf(browser: Browser): string {
  return `countersign=${browser.cookie('localhost', 'countersign') ?? ''}`;
}

export interface StoredSession {
  readonly id: string;
  readonly user_id: string;
  readonly ended_at: Date | null;
  readonly end_reason: string | null;
  readonly renew_at: Date | null;
  readonly renew_failures: number;
  readonly renewing_until: Date | null;
}

/** Sessions of a provider's user, the newest first. */
export function sessionsOf(server: TestServer, sub: string): Promise<StoredSession[]> {
  return server.sql<StoredSession & Record<string, unknown>>(
    `select s.id, s.user_id, s.ended_at, s.end_reason, s.renew_at, s.renew_failures, s.renewing_until from sessions s
     join user_identities i on i.organization_id = s.organization_id and i.user_id = s.user_id and i.issuer = s.issuer
     where i.subject = $1 order by s.created_at desc, s.id desc`,
    [sub],
  );
}

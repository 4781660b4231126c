import { randomBytes, scryptSync } from 'node:crypto';
import type { BuiltPerson } from '../builders/people.js';
import type { TestServer } from '../servers/server.js';
import { originOf } from '../builders/tenants.js';

/** A password that the rules take. */
export const PASSWORD = 'velvet onion parade 41';

/** Gives somebody a password past the API: kept at a low cost, so that to judge it takes next to nothing. */
export async function aPassword(
  server: TestServer, { organizationId, id }: Pick<BuiltPerson, 'id' | 'organizationId'>, password = PASSWORD, N = 1_024,
): Promise<void> {
  const salt = randomBytes(16);
  const key = scryptSync(password, salt, 32, { N, r: 8, p: 1 });
  await server.sql(
    `insert into passwords (organization_id, user_id, hash, changed_at) values ($1, $2, $3, clock_timestamp())
     on conflict (organization_id, user_id) do update set hash = excluded.hash`,
    [organizationId, id, `scrypt$${N}$8$1$${salt.toString('base64url')}$${key.toString('base64url')}`],
  );
}

/** What a form answered. */
export interface FormAnswer {
  readonly status: number;
  readonly location: string | null;
  /** The header `Cookie` of the session that began. */
  readonly session: string | undefined;
  readonly retryAfter: string | null;
  readonly text: string;
}

export interface Visitor {
  /** Posts a form of ours, with the token that this browser was given. */
  post(path: string, fields: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>): Promise<FormAnswer>;
  signIn(
    email: string, password: string, more?: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>,
  ): Promise<FormAnswer>;
  /** Comes in by an invitation's link. */
  accept(link: string, password?: string): Promise<FormAnswer>;
}

/** A browser that has opened the sign-in page, from a network address where a proxy of ours says so (`TRUSTED_PROXIES`). */
export async function aVisitor(server: TestServer, address?: string): Promise<Visitor> {
  const from: Record<string, string> = address === undefined ? {} : { 'x-forwarded-for': address };
  const page = await fetch(new URL('/sign-in', server.url), { headers: from });
  const text = await page.text();
  const formToken = /name="formToken" value="([^"]+)"/.exec(text)?.[1];
  if (page.status !== 200 || formToken === undefined) throw new Error(`GET /sign-in answered ${page.status}:\n${text.slice(0, 2_000)}`);
  const cookie = page.headers.getSetCookie().map((line) => line.split(';')[0]!).join('; ');
  const post: Visitor['post'] = async (path, fields, headers = {}) => {
    const answer = await fetch(new URL(path, server.url), {
      method: 'POST', redirect: 'manual', body: new URLSearchParams({ formToken, ...fields }),
      headers: { cookie, origin: originOf(server), ...from, ...headers },
    });
    const session = answer.headers.getSetCookie().find((line) => /^countersign=./.test(line))?.split(';')[0];
    return {
      status: answer.status, location: answer.headers.get('location'), session, retryAfter: answer.headers.get('retry-after'),
      text: await answer.text(),
    };
  };
  return {
    post,
    signIn: (email, password, more = {}, headers = {}) =>
      post('/sign-in', { email, password, returnTo: '/docs', ...more }, headers),
    accept: (link, password = PASSWORD) => post(new URL(link).pathname, { password }),
  };
}

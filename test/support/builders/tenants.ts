import { createHash, randomBytes } from 'node:crypto';
import { newId } from '../../../src/domain/ids.js';
import type { Tier } from '../../../src/domain/access/tiers.js';
import { type Client, type Reply, anonymous, as } from '../http/actors.js';
import { anOrganization, type BuiltPerson } from './people.js';
import { FORM_TYPE } from '../routes/routes.js';
import type { TestServer } from '../servers/server.js';

/** The key of /internal/v1 of a server that was started with `INTERNAL`. */
export const INTERNAL_KEY = 'q3Vt8LmYx2Kd7Wp5Rz1Nc6Hs4Jf9BgTe';
export const INTERNAL = { INTERNAL_API_KEY: INTERNAL_KEY } as const;
export const asInternal = (server: TestServer): Client => as(server, INTERNAL_KEY);

/** Where people reach a server of the tests, as its cookies and its rule on browsers' calls know it. */
export const originOf = (server: TestServer): string => `http://localhost:${new URL(server.url).port}`;

export interface BuiltSession {
  readonly id: string;
  /** The header `Cookie`. */
  readonly cookie: string;
  /** A browser on a page of the server's own: with cookie and `Origin`. */
  readonly client: Client;
  /** The cookie alone, as a browser sends it along with calls of any other site. */
  readonly withoutOrigin: Client;
}

export interface SessionTerms {
  readonly method?: 'provider' | 'passkey' | 'password';
  /** Seconds since it began. Default a minute. */
  readonly age?: number;
  /** Seconds until it ends by itself: without use, and in any case. Default an hour. */
  readonly idle?: number;
  readonly left?: number;
  readonly endedBecause?: string;
}

/** A session of somebody, put into the database past the API: for tests of what one may do, not of how one signs in. */
export async function asSession(
  server: TestServer, person: Pick<BuiltPerson, 'id' | 'organizationId'>, terms: SessionTerms = {},
): Promise<BuiltSession> {
  const { method = 'passkey', age = 60, idle = 3_600, left = 3_600, endedBecause } = terms;
  const id = newId('sess');
  const token = randomBytes(32).toString('base64url');
  const at = (seconds: number) => new Date(Date.now() + seconds * 1_000);
  await server.sql(
    `insert into sessions (organization_id, id, user_id, token_hash, method, created_at, last_used_at, idle_until, expires_at, ended_at,
       end_reason)
     values ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9, $10)`,
    [
      person.organizationId, id, person.id, createHash('sha256').update(token).digest('hex'), method, at(-age), at(Math.min(idle, left)),
      at(left), endedBecause === undefined ? null : at(0), endedBecause ?? null,
    ],
  );
  const cookie = `countersign=${token}`;
  const withoutOrigin = anonymous(server).with({ cookie });
  return { id, cookie, withoutOrigin, client: withoutOrigin.with({ origin: originOf(server) }) };
}

/** The token of the forms that this browser is shown. */
async function formTokenOf(client: Client): Promise<string> {
  const page = (await client.get<string>('/sign-in')).expect(200);
  const token = /name="formToken" value="([^"]+)"/.exec(page.body)?.[1];
  if (token === undefined) throw new Error(`GET /sign-in shows no form:\n${page.body.slice(0, 2_000)}`);
  return token;
}

/** Posts a form of ours as the page would that this browser is shown in its session. */
export async function submits(client: Client, path: string, fields: Readonly<Record<string, string>> = {}): Promise<Reply> {
  const form = new URLSearchParams({ formToken: await formTokenOf(client), ...fields });
  return client.post(path, undefined, { raw: form.toString(), headers: { 'content-type': FORM_TYPE } });
}

export interface BuiltTenant {
  readonly id: string;
  /** Its organizations, the first one first. */
  readonly organizationIds: readonly string[];
}

/** A tenant with organizations, past the API. */
export async function aTenant(
  server: TestServer, tier: Tier, terms: { readonly active?: boolean; readonly organizations?: number } = {},
): Promise<BuiltTenant> {
  const { active = true, organizations = 1 } = terms;
  const id = newId('ten');
  await server.sql('insert into tenants (id, name, tier, subscription_active) values ($1, $1, $2, $3)', [id, tier, active]);
  const organizationIds: string[] = [];
  for (let i = 0; i < organizations; i++) organizationIds.push(await anOrganization(server, { tenantId: id }));
  await server.sql('update tenants set first_organization_id = $2 where id = $1', [id, organizationIds[0] ?? null]);
  return { id, organizationIds };
}

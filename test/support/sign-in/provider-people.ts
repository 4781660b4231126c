import { createHash, randomBytes } from 'node:crypto';
import { as, type Client } from '../http/actors.js';
import { Browser } from '../http/browser.js';
import type { ClaimsOfUser, TestProvider } from './oidc-provider.js';
import type { BuiltPerson } from '../builders/people.js';
import { originOf } from '../builders/tenants.js';
import type { TestServer } from '../servers/server.js';

/** Links somebody's account to a user of the provider, past the API. @returns the user's `sub` */
export async function linked(
  server: TestServer, provider: TestProvider, person: Pick<BuiltPerson, 'id' | 'organizationId'>, claimedRole: string | null = null,
): Promise<string> {
  const subject = `sub-${person.id}`;
  await server.sql(
    `insert into user_identities (organization_id, user_id, issuer, subject, claimed_role, claimed_role_since, claims_at, bound_at)
     values ($1, $2, $3, $4, $5, clock_timestamp() - interval '1 hour', clock_timestamp() - interval '1 hour', clock_timestamp())
     on conflict do nothing`,
    [person.organizationId, person.id, provider.issuer, subject, claimedRole],
  );
  return subject;
}

/** Somebody by a token of the provider that claims this: for tests of what one may do, not of how one comes to an account. */
export async function asProvider(
  server: TestServer, provider: TestProvider, person: Pick<BuiltPerson, 'id' | 'organizationId'>, claims: ClaimsOfUser = {},
): Promise<Client> {
  return as(server, await provider.accessToken(await linked(server, provider, person), claims));
}

/** What the provider itself gives a user who signs in for our client: nothing of it was signed by the tests. */
export async function realTokens(
  server: TestServer, provider: TestProvider, sub: string, claims: ClaimsOfUser = {},
): Promise<{ readonly accessToken: string; readonly idToken: string }> {
  await provider.claims(sub, claims);
  await provider.givesJwt(true);
  const verifier = randomBytes(32).toString('base64url');
  const redirect = `${originOf(server)}/api/v1/auth/callback`;
  const terms = new URLSearchParams({
    client_id: provider.clientId, redirect_uri: redirect, response_type: 'code', scope: 'openid profile email', state: 's', nonce: 'n',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256',
  });
  const browser = new Browser();
  let page = await browser.visit(`${provider.issuer}/auth?${terms.toString()}`, { follow: 0 });
  const next = () => new URL(page.headers.get('location') ?? '', page.url);
  while (next().origin === provider.issuer) page = await browser.visit(next(), { follow: 0 });
  const answer = await fetch(`${provider.issuer}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code', code: next().searchParams.get('code') ?? '', redirect_uri: redirect, code_verifier: verifier,
      client_id: provider.clientId, client_secret: provider.clientSecret,
    }),
  });
  const { access_token: accessToken, id_token: idToken } = (await answer.json()) as { access_token: string; id_token: string };
  await provider.givesJwt(false);
  return { accessToken, idToken };
}

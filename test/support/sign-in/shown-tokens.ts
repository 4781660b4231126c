import { afterAll, beforeAll } from '@jest/globals';
import { as, type Client, type Reply } from '../http/actors.js';
import { type ClaimsOfUser, startProvider, type TestProvider } from './oidc-provider.js';
import { startServer, type TestServer } from '../servers/server.js';

export let provider: TestProvider;
export let server: TestServer;
export let replica: TestServer;

export const me = (client: Client) => client.get('/api/v1/users/me');
/** Calls as a user of the provider with a verified address, unless the claims say otherwise. */
export async function shows(sub: string, claims: ClaimsOfUser = {}, at = server): Promise<Reply> {
  const token = await provider.accessToken(sub, { email: `${sub}@example.test`, email_verified: true, ...claims });
  return me(as(at, token));
}

export const linksOf = async (sub: string) =>
  (await server.sql<{ user_id: string }>('select user_id from user_identities where subject = $1', [sub])).map((row) => row.user_id);

export function startProviderBeside(): void {
  beforeAll(async () => {
    provider = await startProvider();
    server = await startServer({ env: provider.env });
    await provider.serves(server);
    // The same provider, and nobody gets an account at first sight.
    replica = await startServer({ replicaOf: server, env: { ...provider.env, OIDC_JIT: 'false' } });
  });
  afterAll(async () => {
    await replica?.stop();
    await server?.stop();
    await provider?.close();
  });
}

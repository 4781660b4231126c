import { afterAll, beforeAll } from '@jest/globals';
import { asRoot, type Client } from '../http/actors.js';
import { anOrganization, aPerson, type BuiltPerson, type Role } from './people.js';
import { startServer, type TestServer } from '../servers/server.js';

export const USERS = '/api/v1/users';
export const ABSENT = 'usr_00000000000000000000000000absent0000';

export let server: TestServer;
export let replica: TestServer;
export let root: Client;
let addresses = 0;

export const anAddress = () => `person-${++addresses}@example.test`;

export async function theRoles(organizationId?: string): Promise<Record<Role, BuiltPerson>> {
  const terms = { organizationId: organizationId ?? (await anOrganization(server)) };
  const [owner, admin, member, viewer] = await Promise.all([
    aPerson(server, 'owner', terms), aPerson(server, 'admin', terms), aPerson(server, 'member', terms), aPerson(server, 'viewer', terms),
  ]);
  return { owner, admin, member, viewer };
}

export const idsOf = async (client: Client, query: Record<string, string | number> = {}) =>
  ((await client.get(USERS, { query })).expect(200).list('users') as { id: string }[]).map(({ id }) => id);

export function startTwoServers(): void {
  beforeAll(async () => {
    server = await startServer();
    replica = await startServer({ replicaOf: server });
    root = asRoot(server);
  });
  afterAll(async () => {
    await replica.stop();
    await server.stop();
  });
}

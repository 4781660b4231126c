import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { aPerson } from '../support/people.js';
import { startServer, type TestServer } from '../support/server.js';
import { asSession } from '../support/signed-in.js';

jest.setTimeout(60_000);
let server: TestServer;
beforeAll(async () => { server = await startServer(); });
afterAll(() => server.stop());
test('smoke', async () => {
  const person = await aPerson(server, 'admin');
  const { client, withoutOrigin } = await asSession(server, person);
  (await client.get('/api/v1/users/me')).expect(200);
  (await withoutOrigin.get('/api/v1/users/me')).expect(200);
  (await withoutOrigin.post('/api/v1/organizations', { name: 'x' })).expect(403);
  const made = (await client.post('/api/v1/users', { email: 'a@b.example' })).expect(201);
  expect(made.text('user.role')).toBe('viewer');
  const dead = await asSession(server, person, { endedBecause: 'asked' });
  expect((await dead.client.get('/api/v1/users/me')).expect(401).body).toMatchObject({ detail: /./ });
});

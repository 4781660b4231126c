import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asRoot, type Reply } from '../../support/http/actors.js';
import { aPerson } from '../../support/builders/people.js';
import { done } from '../../support/proofs/races.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { asInternal, aTenant, INTERNAL } from '../../support/builders/tenants.js';

// Limits are a tenant's, whichever of its organizations and whichever server is asked.

let one: TestServer;
let other: TestServer;

beforeAll(async () => {
  one = await startServer({ env: INTERNAL });
  other = await startServer({ env: INTERNAL, replicaOf: one });
});

afterAll(async () => {
  await other.stop();
  await one.stop();
});

const times = <T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));
const among = (i: number): TestServer => (i % 2 === 0 ? one : other);
const codes = (answers: readonly Reply[]) => answers.map(({ status, body }) => (body as { code?: string }).code ?? status);

test('two organizations of one tenant make people at once: there is one, not more', async () => {
  for (let round = 0; round < 4; round++) {
    const { organizationIds } = await aTenant(one, 'personal', { organizations: 2 });
    const answers = await times(12, (i) => done(() => asRoot(among(i)).post('/api/v1/users', {
      email: `p${i}@race.test`, organizationId: organizationIds[(i >> 1) % 2],
    })));
    expect(codes(answers).sort()).toEqual([201, ...Array<string>(11).fill('TIER_REQUIRED')]);
    expect(await one.sql(`select id from users where organization_id = any ($1)`, [organizationIds])).toHaveLength(1);
  }
});

test('organizations are made at once, by owners and root: no more than the tier includes', async () => {
  const { id, organizationIds: [home] } = await aTenant(one, 'enterprise');
  const owner = await aPerson(one, 'owner', { organizationId: home! });
  const make = (i: number) => done(() => (i % 3 === 0 ? asRoot(among(i)) : owner.client).post('/api/v1/organizations', {
    name: `o${i}`, tenantId: id,
  }));
  expect(codes(await times(6, make))).toEqual(Array<number>(6).fill(201));
  (await asInternal(other).put(`/internal/v1/tenants/${id}/subscription`, { tier: 'teams', active: true })).expect(200);
  expect(codes(await times(6, make))).toEqual(Array<string>(6).fill('TIER_REQUIRED'));
});

test('once a downgrade is answered, nothing comes any more of what was allowed before it', async () => {
  let made = 0;
  for (let round = 0; round < 6; round++) {
    const { id, organizationIds } = await aTenant(one, 'enterprise', { organizations: 2 });
    const teams = async () => (await one.sql('select id from teams where organization_id = any ($1)', [organizationIds])).length;
    const making = times(16, (i) => done(() => asRoot(among(i)).post('/api/v1/teams', {
      name: `t${i}`, organizationId: organizationIds[(i >> 1) % 2],
    })));
    // Some have begun, and some have not.
    await done(() => asRoot(one).get('/api/v1/teams'));
    (await asInternal(among(round)).put(`/internal/v1/tenants/${id}/subscription`, { tier: 'personal', active: true })).expect(200);
    const there = await teams();
    const answers = codes(await making);
    expect(await teams()).toBe(there);
    expect(answers.filter((code) => code === 201)).toHaveLength(there);
    expect(answers.filter((code) => code !== 201 && code !== 'TIER_REQUIRED')).toEqual([]);
    made += there;
  }
  // Otherwise nothing was raced.
  expect(made).toBeGreaterThan(0);
});

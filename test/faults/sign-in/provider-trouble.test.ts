import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { as, type Reply } from '../../support/http/actors.js';
import { eventually } from '../../support/running/eventually.js';
import { startProvider, type TestProvider } from '../../support/sign-in/oidc-provider.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const DISCOVERY = '/.well-known/openid-configuration';
const KEYS = '/jwks';

let provider: TestProvider;
let server: TestServer;

beforeAll(async () => {
  provider = await startProvider();
  server = await startServer({ env: provider.env });
  await provider.serves(server);
});

afterAll(async () => {
  await server?.stop();
  await provider?.close();
});

const calls = (token: string, times = 1): Promise<Reply[]> =>
  Promise.all(Array.from({ length: times }, () => as(server, token).get('/api/v1/users/me')));
const statuses = async (token: string, times = 1) => [...new Set((await calls(token, times)).map(({ status }) => status))];
const asked = async (path: string) => (await provider.counts()).requests[path] ?? 0;
const comesBack = (token: string) => eventually(async () => expect(await statuses(token)).toEqual([200]), { within: 90_000 });

describe('a provider that was never reached', () => {
  test('is clearly answered for, asked now and then, and taken up when it is there', async () => {
    const token = await provider.accessToken('ada');
    const troubles: readonly [string, (on: boolean) => Promise<void>][] = [
      ['away', (on) => provider.away(on)],
      ['failing', (on) => provider.status(on ? 500 : undefined)],
      ['breaking off', (on) => provider.half(on)],
      ['slow', (on) => provider.slow(on ? 30_000 : 0)],
    ];
    for (const [, trouble] of troubles) {
      await trouble(true);
      await server.restart();
      await provider.forgetCounts();
      for (const reply of await calls(token, 40)) {
        reply.expect(503, 'UNAVAILABLE');
        expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      // Some come after the first pause of a second; most are answered from memory.
      expect(await asked(DISCOVERY)).toBeLessThan(10);
      await trouble(false);
    }
    await comesBack(token);
  });
});

describe('a provider that changes its keys', () => {
  test('costs one fetch, and no good token is refused meanwhile', async () => {
    expect(await statuses(await provider.accessToken('ada'))).toEqual([200]);
    const old = await provider.accessToken('ada');
    await provider.rotateKeys({ keepOld: true });
    await provider.forgetCounts();
    const fresh = await provider.accessToken('ada');
    const [before, after] = await Promise.all([statuses(old, 30), statuses(fresh, 30)]);
    expect([before, after]).toEqual([[200], [200]]);
    expect(await asked(KEYS)).toBe(1);
  });

  test('takes the old key’s tokens away with it, those that were verified before too', async () => {
    const old = await provider.accessToken('ada');
    expect(await statuses(old)).toEqual([200]);
    await provider.rotateKeys();
    expect(await statuses(await provider.accessToken('ada'))).toEqual([200]);
    expect(await statuses(old)).toEqual([401]);
  });

  test('is not asked more often for keys that nobody ever had', async () => {
    await server.restart();
    const good = await provider.accessToken('ada');
    expect(await statuses(good)).toEqual([200]);
    await provider.forgetCounts();
    const made = await Promise.all(Array.from({ length: 60 }, (_, i) => provider.accessToken('eve', {}, { header: { kid: `none-${i}` } })));
    for (const reply of (await Promise.all(made.map((token) => calls(token)))).flat()) reply.expect(401);
    expect(await asked(KEYS)).toBeLessThan(10);
    expect(await statuses(good)).toEqual([200]);
  });
});

describe('a provider that was there and is away', () => {
  test('keeps nobody out whose token it gave', async () => {
    const known = await provider.accessToken('ada');
    expect(await statuses(known)).toEqual([200]);
    for (const trouble of [provider.away, (on: boolean) => provider.slow(on ? 30_000 : 0)]) {
      await trouble(true);
      expect(await statuses(await provider.accessToken('ada', { jti: String(Math.random()) }), 10)).toEqual([200]);
      await trouble(false);
    }
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Countersign, type PendingApproval } from '@countersign/sdk';
import { eventually } from '../../support/running/eventually.js';
import { approve, sdkAsAgent } from '../../support/sdk/callers.js';
import { type Gateway, startGateway } from '../../support/sdk/gateway.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let gateway: Gateway;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());
beforeEach(async () => {
  gateway = await startGateway(() => [server.url]);
});
afterEach(() => gateway.close());

const PROPOSE = { 'email.send': { hitlMode: 'propose' } };

async function asked(): Promise<{ sdk: Countersign; pending: PendingApproval }> {
  const { sdk } = await sdkAsAgent(server, PROPOSE, { url: gateway.url });
  return { sdk, pending: await sdk.execute('email.send', { n: 1 }) as PendingApproval };
}

describe('more waits than are held', () => {
  const looks = () => gateway.count(/\/hitl\/hitl_/);
  /** Over some seconds; without pauses there would be thousands. */
  const looksMeanwhile = async () => {
    const before = looks();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    return looks() - before;
  };

  test('take few connections, do not hammer, and all hear of the decision', async () => {
    const { sdk, pending } = await asked();
    const waits = Array.from({ length: 100 }, () => sdk.waitFor(pending.hitlRequestId, { waitTimeoutMs: 120_000 }));
    await eventually(() => expect(looks()).toBeGreaterThanOrEqual(132));
    // 68 whose answer is not held: 40 a second at most.
    expect(await looksMeanwhile()).toBeLessThan(200);
    expect(gateway.open()).toBeLessThanOrEqual(48);
    await approve(server, pending.hitlRequestId);
    const outcomes = await Promise.all(waits);
    expect(outcomes.every(({ status }) => status === 'executed')).toBe(true);
    expect(new Set(outcomes.map(({ executionId }) => executionId)).size).toBe(1);
  });

  test('of three processes, who do not know of each other: what the service answers at once is not asked for at once again', async () => {
    const { agent, sdk } = await sdkAsAgent(server, PROPOSE, { url: gateway.url });
    const { hitlRequestId } = await sdk.execute('email.send', { n: 1 }) as PendingApproval;
    const processes = [sdk, ...[1, 2].map(() => new Countersign({ url: gateway.url, credential: agent.token }))];
    const waits = processes.flatMap((one) =>
      Array.from({ length: 32 }, () => one.waitFor(hitlRequestId, { waitTimeoutMs: 120_000 })));
    await eventually(() => expect(looks()).toBeGreaterThanOrEqual(192));
    // 32 are answered at once though a hold was asked for; their pauses grow.
    expect(await looksMeanwhile()).toBeLessThan(200);
    await approve(server, hitlRequestId);
    expect((await Promise.all(waits)).every(({ status }) => status === 'executed')).toBe(true);
  });
});

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Countersign, type Outcome } from '@countersign/sdk';
import { anAgentKey } from '../../support/builders/agents.js';
import { defineCapability } from '../../support/builders/gate.js';
import { verification } from '../../support/erasure/erasures.js';
import { asRoot } from '../../support/http/actors.js';
import { type Receiver, startReceiver } from '../../support/http/receiver.js';
import { Random } from '../../support/tampering/random.js';
import { type Gateway, startGateway } from '../../support/sdk/gateway.js';
import { sdkAsAgent } from '../../support/sdk/callers.js';
import { back, startServer, type TestServer } from '../../support/servers/server.js';

// One SDK before two servers that are killed and restarted, behind a gateway that answers 429 and 503, refuses connections and loses
// answers: whatever the SDK says was executed was executed once, by the log and by the receiver.

const EXECUTIONS = 600;
const AT_ONCE = 20;
const FAULTY = 0.2;
const SEED = 'sdk-faults';

let servers: [TestServer, TestServer];
let receiver: Receiver;
let gateway: Gateway;
beforeAll(async () => {
  const first = await startServer();
  servers = [first, await startServer({ replicaOf: first })];
  receiver = await startReceiver();
  gateway = await startGateway(() => servers.map(({ url }) => url));
  const connector = { type: 'http', method: 'POST', url: receiver.url, body: '{input}', idempotent: false };
  await defineCapability(first, 'shop.order', { connector });
});
afterAll(async () => {
  await gateway.close();
  await servers[1].stop();
  await servers[0].stop();
  await receiver.close();
});

test('each of 600 executions happens once', async () => {
  const { agent } = await sdkAsAgent(servers[0], { 'web.search': {}, 'shop.order': {} });
  const { secret } = await anAgentKey(servers[0], agent);
  const sdk = new Countersign({ url: gateway.url, credential: secret, timeoutMs: 600_000 });
  const random = new Random(SEED);
  const faults = { lost: 0, refused: 0, 429: 0, 503: 0 };
  gateway.fault(() => {
    if (random.next() >= FAULTY) return undefined;
    const kind = (['lost', 'refused', 429, 503] as const)[Math.floor(random.next() * 4)]!;
    faults[kind]++;
    return typeof kind === 'string' ? kind : { status: kind, headers: { 'retry-after': '0' } };
  });

  const outcomes: Outcome[] = [];
  let asked = 0;
  const execute = (n: number) => sdk.execute(n % 5 === 0 ? 'shop.order' : 'web.search', { n }, { timeoutMs: 600_000 });
  const caller = async () => {
    for (let n = asked++; n < EXECUTIONS; n = asked++) outcomes.push(await execute(n));
  };
  let restarts = 0;
  const callers = Promise.all(Array.from({ length: AT_ONCE }, caller)).finally(() => (asked = EXECUTIONS));
  const breaker = async () => {
    while (asked < EXECUTIONS) {
      const server = servers[restarts % 2]!;
      await (restarts % 4 < 2 ? server.restart() : server.kill().then(() => back(server)));
      restarts++;
    }
  };
  await Promise.all([callers, breaker()]);
  gateway.fault(() => undefined);

  expect(outcomes).toHaveLength(EXECUTIONS);
  expect(new Set(outcomes.map(({ executionId }) => executionId)).size).toBe(EXECUTIONS);
  expect(Math.min(...Object.values(faults))).toBeGreaterThan(10);
  expect(restarts).toBeGreaterThanOrEqual(2);
  const { body } = (await asRoot(servers[0]).get<{ total: number }>(`/api/v1/executions?agentId=${agent.id}&limit=1`)).expect(200);
  expect(body.total).toBe(EXECUTIONS);
  const numbers = receiver.requests.map((request) => (JSON.parse(request.body) as { n: number }).n);
  expect(new Set(numbers).size).toBe(numbers.length);
  // What was under way when a server was killed is said to be indeterminate, and nothing else is.
  const executed = outcomes.filter(({ status }) => status === 'executed').length;
  const indeterminate = outcomes.filter((outcome) => outcome.status === 'failed' && outcome.indeterminate === true).length;
  expect(executed + indeterminate).toBe(EXECUTIONS);
  const told = `${EXECUTIONS} executions, ${indeterminate} of them indeterminate; ${restarts} restarts; ${JSON.stringify(faults)}`;
  process.stdout.write(`${told}\n`);
  expect(await verification(servers[0])).toMatchObject({ valid: true, breaks: [] });
});

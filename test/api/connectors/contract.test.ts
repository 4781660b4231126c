import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability, executionOf } from '../../support/builders/gate.js';
import { type Answer, startReceiver, type Receiver } from '../../support/http/receiver.js';
import { type SmtpTerms, startSmtp, type TestSmtp } from '../../support/http/smtp-server.js';
import { auditOf } from '../../support/log/entries.js';
import { freePort } from '../../support/servers/server-process.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

/** The system behind a connector: how it behaves next, and what it was asked to do. */
interface Behind {
  readonly connector: Record<string, unknown>;
  /** Another connector to the same system. */
  readonly other: Record<string, unknown>;
  readonly keyHeader: RegExp;
  refuse(): Promise<void>;
  lose(): Promise<void>;
  leave(): Promise<void>;
  /** Each time that it was asked to act, by what it was told. */
  acted(): readonly string[];
  close(): Promise<void>;
}

const NOT_FITTING = { to: 'no address', n: 'x' };
const FITTING = { to: 'ada@example.test', n: 1 };
const SCHEMA = { type: 'object', properties: { n: { type: 'integer' } } };

let server: TestServer;
let smtpPort: number;
let names = 0;

beforeAll(async () => {
  smtpPort = await freePort();
  server = await startServer({ env: { SMTP_HOST: '127.0.0.1', SMTP_PORT: String(smtpPort), SMTP_FROM: 'from@example.test' } });
});
afterAll(() => server.stop());

async function byHttp(): Promise<Behind> {
  const receiver = await startReceiver();
  const connector = { type: 'http', method: 'POST', url: receiver.url, body: '{input}', timeoutSeconds: 2 };
  return behindReceiver(receiver, connector, { ...connector, url: `${receiver.url}/other` }, (answer) => receiver.standing(answer));
}

async function byMcp(): Promise<Behind> {
  const receiver = await startReceiver();
  let answer: Answer | undefined;
  receiver.standing(({ body }) => {
    const { id, method } = JSON.parse(body) as { id: number; method: string };
    if (method === 'tools/call' && answer) return answer;
    const tools = [{ name: 'do', inputSchema: SCHEMA }, { name: 'other', inputSchema: SCHEMA }];
    const told = { supportedVersions: ['2026-07-28'], tools, ttlMs: 60_000, content: [] };
    return { body: { jsonrpc: '2.0', id, result: { resultType: 'complete', ...told } } };
  });
  const connector = { type: 'mcp', url: receiver.url, tool: 'do', timeoutSeconds: 2 };
  return behindReceiver(receiver, connector, { ...connector, tool: 'other' }, (next) => void (answer = next));
}

function behindReceiver(
  receiver: Receiver, connector: Record<string, unknown>, other: Record<string, unknown>, set: (answer: Answer) => void,
): Behind {
  return {
    connector, other, keyHeader: /^idempotency-key: (.+)$/m,
    refuse: async () => set({ status: 409 }),
    lose: async () => set({ reset: true }),
    leave: () => receiver.close(),
    acted: () => receiver.requests.filter(({ body }) => !/server\/discover|tools\/list/.test(body))
      .map(({ headers }) => Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`).join('\n')),
    close: () => receiver.close().catch(() => undefined),
  };
}

async function byEmail(): Promise<Behind> {
  const servers: TestSmtp[] = [];
  const next = async (terms: SmtpTerms) => {
    await servers.at(-1)?.close();
    servers.push(await startSmtp({ port: smtpPort, ...terms }));
  };
  await next({});
  const connector = { type: 'email', to: '{input.to}', subject: 's', text: 't', timeoutSeconds: 2 };
  return {
    connector, other: { ...connector, subject: 'other' }, keyHeader: /^Message-ID: <(.+)@example\.test>\r$/m,
    refuse: () => next({ knowsNot: FITTING.to }),
    lose: () => next({ cuts: 'after the text' }),
    leave: async () => servers.pop()!.close(),
    acted: () => servers.flatMap(({ mails }) => mails.map(({ source }) => source)),
    close: async () => servers.pop()?.close(),
  };
}

describe.each([['http', byHttp], ['mcp', byMcp], ['email', byEmail]] as const)('a connector of type %s', (type, make) => {
  let behind: Behind;
  beforeEach(async () => {
    behind = await make();
  });
  afterEach(() => behind.close());

  async function holder(hitlMode = 'auto'): Promise<BuiltAgent & { readonly capability: string }> {
    const capability = `kind.${type}-${++names}`;
    await defineCapability(server, capability, { connector: behind.connector, inputSchema: SCHEMA });
    return { ...(await anAgent(server).granted(capability, { hitlMode }).create()), capability };
  }
  const call = ({ client, capability }: BuiltAgent & { readonly capability: string }, input: object = FITTING) =>
    client.post('/api/v1/execute', { capability, input });
  const outcomeOf = async (agent: BuiltAgent & { readonly capability: string }) => {
    const reply = (await call(agent)).expect(200);
    const { status, error } = await executionOf(server, reply.text('executionId'));
    return { status, code: error?.code };
  };

  test('acts once, under the id of its execution, between two entries', async () => {
    const agent = await holder();
    const reply = (await call(agent)).expect(200);
    expect(reply.at('status')).toBe('executed');
    expect(behind.acted().map((told) => behind.keyHeader.exec(told)?.[1])).toEqual([reply.text('executionId')]);
    expect((await auditOf(server, agent.id)).slice(-2).map(({ event }) => event)).toEqual(['execution.started', 'execution.completed']);
  });

  test('has failed where the other side says no, and where there is nobody', async () => {
    const agent = await holder();
    await behind.refuse();
    expect(await outcomeOf(agent)).toEqual({ status: 'failed', code: 'CONNECTOR_STATUS' });
    const before = behind.acted().length;
    await behind.leave();
    expect(await outcomeOf(agent)).toEqual({ status: 'failed', code: 'CONNECTOR_UNREACHABLE' });
    expect(behind.acted().length).toBeLessThanOrEqual(before);
  });

  test('is indeterminate where its answer is lost, and is not repeated', async () => {
    const agent = await holder();
    await behind.lose();
    expect(await outcomeOf(agent)).toEqual({ status: 'indeterminate', code: 'CONNECTOR_CONNECTION_LOST' });
    expect(behind.acted()).toHaveLength(1);
  });

  test('is asked about as it is: what does not fit asks nobody, and another connector ends the request', async () => {
    const agent = await holder('propose');
    (await call(agent, NOT_FITTING)).expect(422, 'INVALID_INPUT');
    const asked = (await call(agent)).expect(202);
    (await asRoot(server).patch(`/api/v1/capabilities/${agent.capability}`, { connector: behind.other })).expect(200);
    (await asRoot(server).post(`/api/v1/hitl/${asked.text('hitlRequestId')}/approve`)).expect(409, 'NOT_EXECUTABLE');
    expect(behind.acted()).toEqual([]);
  });
});

import { randomBytes } from 'node:crypto';
import { asRoot } from '../http/actors.js';
import { EXECUTE } from '../http/paths.js';
import { type Receiver, startReceiver } from '../http/receiver.js';
import { type ReceivedSpan, startTraceReceiver, type TraceReceiver } from '../http/trace-receiver.js';
import { startServer, type TestServer } from '../servers/server.js';
import { anAgent, type BuiltAgent } from './agents.js';
import { defineCapability } from './gate.js';

export const ROUTE = `POST ${EXECUTE}`;
export const TOOL = 'execute_tool traced.order';
/** The spans of a call that is decided; and of one that a connector runs. */
export const DECIDED = [ROUTE, TOOL, 'gate.decide', 'gate.commit'];
export const RAN = [...DECIDED, 'runtime connector', 'gate.close'];

/** A server whose calls are traced, the receiver of its spans, and a capability `traced.order` that a shop serves. */
export interface TracedScenario {
  readonly shop: Receiver;
  readonly traces: TraceReceiver;
  readonly server: TestServer;
  /** An agent whose calls belong to a trace that its own software began. */
  caller(grant?: Record<string, unknown>, flags?: string): Promise<TracedCaller>;
  traceOnRecord(agent: BuiltAgent): Promise<string>;
  close(): Promise<unknown>;
}

export interface TracedCaller {
  readonly traceId: string;
  readonly parent: string;
  readonly agent: BuiltAgent;
  call(input?: Record<string, unknown>, capability?: string): ReturnType<BuiltAgent['client']['post']>;
}

export async function tracedScenario(): Promise<TracedScenario> {
  const [shop, traces] = await Promise.all([startReceiver(), startTraceReceiver()]);
  const server = await startServer({ env: {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${traces.url}/`, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-receiver, x-team=a',
    OTEL_SERVICE_NAME: 'gate of tests',
  } });
  const connector = { type: 'http', method: 'POST', url: `${shop.url}/orders`, body: '{input}' };
  await defineCapability(server, 'traced.order', { connector });
  return {
    shop, traces, server,
    caller: async (grant = {}, flags = '01') => {
      const [traceId, parent] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
      const agent = await anAgent(server).granted('traced.order', grant).create();
      const client = agent.client.with({ traceparent: `00-${traceId}-${parent}-${flags}` });
      return { traceId, parent, agent, call: (input = {}, capability = 'traced.order') => client.post(EXECUTE, { capability, input }) };
    },
    traceOnRecord: async ({ id: agentId }) => {
      const reply = await asRoot(server).get('/api/v1/audit', { query: { event: 'execution.started', agentId } });
      const [entry] = reply.expect(200).list('entries') as { origin: { traceId: string } }[];
      return entry!.origin.traceId;
    },
    close: () => Promise.all([server.stop(), traces.close(), shop.close()]),
  };
}

/** The one span of this name. */
export function spanOf(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const [span, ...others] = spans.filter((one) => one.name === name);
  if (span === undefined || others.length > 0) throw new Error(`${others.length + 1} spans are called ${name}`);
  return span;
}

import { type BodyOf, Countersign, type ReplyOf } from '@countersign/sdk';
import { type Handler, runNode } from '@countersign/sdk/node';

// Compiled and never run: options, bodies and answers are those of the API document.

declare const sdk: Countersign;

export const clients = [
  new Countersign({ url: 'https://countersign.example', credential: 'svc_agent_…' }),
  new Countersign({ url: new URL('https://countersign.example'), credential: { session: true } }),
  new Countersign({ url: 'https://countersign.example', credential: { getToken: async () => 'token' } }),
  // @ts-expect-error -- nobody calls
  new Countersign({ url: 'https://countersign.example' }),
  // @ts-expect-error -- another name for a credential
  new Countersign({ url: 'https://countersign.example', apiKey: 'svc_agent_…' }),
  // @ts-expect-error -- a session is one or is not
  new Countersign({ url: 'https://countersign.example', credential: { session: false } }),
];

export async function calls(): Promise<unknown[]> {
  const { agent, token } = await sdk.agents.register({ name: 'purchasing', grants: [{ capability: 'email.send', hitlMode: 'propose' }] });
  // @ts-expect-error -- there is none where the answer is an earlier call's
  const text: string = token;
  return [
    agent.id, text,
    // @ts-expect-error -- the name is missing
    sdk.agents.register({ description: 'nameless' }),
    // @ts-expect-error -- no mode
    sdk.agents.register({ name: 'a', grants: [{ capability: 'email.send', hitlMode: 'sometimes' }] }),
    // @ts-expect-error -- no member of an agent
    agent.apiKey,
    // @ts-expect-error -- an option that there is not: it would not wait
    sdk.execute('email.send', {}, { wait: true }),
    // @ts-expect-error -- approvals are bound to what was shown
    sdk.hitl.approve({ id: 'hitl_1' }),
  ];
}

interface Mail {
  readonly to: string;
}
/** Without an index signature, as people write them. */
export async function interfaces(mail: Mail): Promise<unknown[]> {
  const send = sdk.governed((given: Mail) => given.to.length, 'email.send', { context: mail });
  const length: number = await send(mail);
  return [
    length, sdk.execute('email.send', mail, { context: mail }), sdk.gate.dryRun('email.send', mail),
    // @ts-expect-error -- an input is an object
    sdk.execute('email.send', 'to anna'),
    // @ts-expect-error -- another input than the function takes
    send({ too: 'anna' }),
  ];
}

export async function requests(): Promise<unknown[]> {
  const { agents } = await sdk.request('GET /api/v1/agents', { query: { limit: 5 } });
  const nothing: undefined | void = await sdk.request('DELETE /api/v1/agents/{id}', { path: { id: 'agt_1' } });
  const path = { id: 'agt_1' };
  const reply: ReplyOf<'GET /api/v1/agents/{id}'> = await sdk.request('GET /api/v1/agents/{id}', { path, timeoutMs: 5_000 });
  const body: BodyOf<'POST /api/v1/agents'> = { name: 'a' };
  return [
    agents[0]?.name, nothing, reply.agent.status, body,
    // @ts-expect-error -- no operation
    sdk.request('GET /api/v1/agent'),
    // @ts-expect-error -- the id is missing
    sdk.request('GET /api/v1/agents/{id}'),
    // @ts-expect-error -- no parameter
    sdk.request('GET /api/v1/agents', { query: { limits: 5 } }),
  ];
}

const handler: Handler = ({ pages }, { idempotencyKey }, signal) => ({ pages, idempotencyKey, over: signal.aborted });
export const node = () => runNode({
  url: 'https://countersign.example', credential: 'svc_agent_…', journal: 'journal.jsonl', handlers: { 'press.print': handler },
});
// @ts-expect-error -- without a journal a crash would be forgotten
export const forgetful = () => runNode({ url: 'https://countersign.example', credential: 'svc_agent_…', handlers: {} });

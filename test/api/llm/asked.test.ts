import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import type { BuiltAgent, GrantTerms } from '../../support/builders/agents.js';
import { executionBecomes, requestOf } from '../../support/builders/gate.js';
import { columnsWith, verification } from '../../support/erasure/erasures.js';
import { ADDRESS, gatewayScene, LLM } from '../../support/llm/gateway-scene.js';
import { says } from '../../support/llm/vendor-answers.js';
import { auditOf } from '../../support/log/entries.js';
import { eventually } from '../../support/running/eventually.js';

const scene = gatewayScene({}, async (server) => expect(await verification(server)).toMatchObject({ valid: true, breaks: [] }));

const caller = (terms: GrantTerms = {}) => scene.caller({ pii: { action: 'tokenize' } }, { hitlMode: 'propose', ...terms });
const messages = [{ role: 'user' as const, content: `write to ${ADDRESS}` }];
const openai = { model: 'gpt-test', messages };
const anthropic = { model: 'claude-test', max_tokens: 64, messages };
const approve = (id: string) => scene.root.post(`/api/v1/hitl/${id}/approve`);
/** The agent's request, once there is one. */
const requestOfAgent = ({ id }: BuiltAgent) => eventually(async () => {
  const [row] = await scene.server.sql<{ id: string }>(`select id from hitl_requests where agent_id = $1 and status = 'pending'`, [id]);
  if (!row) throw new Error('nobody has asked');
  return row.id;
});

describe('where a person has to decide first', () => {
  test('/chat is answered 202, the person sees the redacted call, and the answer is the output of the execution', async () => {
    const agent = await caller();
    const before = scene.provider.requests.length;
    const reply = (await agent.client.post(`${LLM}/chat`, openai)).expect(202);
    expect(reply.body).toMatchObject({ status: 'pending_hitl', executionId: expect.any(String), hitlRequestId: expect.any(String) });
    expect(scene.provider.requests.length).toBe(before);
    const request = await requestOf(scene.server, reply.text('hitlRequestId'));
    expect(request.input).toMatchObject({ model: 'gpt-test', body: { messages: [{ content: 'write to <EMAIL_ADDRESS_1>' }] } });
    scene.provider.script(says({ text: `Dear <EMAIL_ADDRESS_1>, by the way: charles@difference.example` }));
    (await approve(reply.text('hitlRequestId'))).expect(200);
    const execution = await executionBecomes(scene.server, reply.text('executionId'), 'executed');
    // What is kept has placeholders, for what was sent and for what the model wrote itself.
    expect(execution.output).toMatchObject({ model: 'gpt-test', content: 'Dear <EMAIL_ADDRESS_1>, by the way: <EMAIL_ADDRESS>' });
    expect(await columnsWith(scene.server, 'lovelace')).toEqual([]);
    expect(await columnsWith(scene.server, 'charles@')).toEqual([]);
    const events = (await auditOf(scene.server, agent.id)).map(({ event }) => event);
    expect(events.filter((event) => /^(execution|llm|hitl)/.test(event))).toEqual([
      'hitl.created', 'llm.pii_detected', 'hitl.approved', 'execution.started', 'llm.request', 'execution.completed',
    ]);
  });

  test.each([
    ['chat/completions', openai], ['messages', anthropic],
  ])('%s is answered 409 with the ids, which a client does not retry', async (path, body) => {
    const agent = await caller();
    const reply = (await agent.client.post(`${LLM}/${path}`, body)).expect(409);
    expect(reply.at('error')).toMatchObject({ code: 'HITL_PENDING', executionId: expect.any(String), hitlRequestId: expect.any(String) });
    expect(reply.headers.get('x-should-retry')).toBe('false');
  });

  test('with wait both clients are held, and get their completion, with the values', async () => {
    const agent = await caller();
    const settings = { baseURL: `${scene.server.url}${LLM}`, apiKey: agent.token, defaultQuery: { wait: '50' }, maxRetries: 0 };
    const answer = says({ text: 'Dear <EMAIL_ADDRESS_1>' });

    scene.provider.script(answer);
    const completion = new OpenAI(settings).chat.completions.create(openai);
    (await approve(await requestOfAgent(agent))).expect(200);
    expect((await completion).choices[0]!.message.content).toBe(`Dear ${ADDRESS}`);

    scene.provider.script(answer);
    const message = new Anthropic(settings).messages.create(anthropic);
    (await approve(await requestOfAgent(agent))).expect(200);
    expect((await message).content).toEqual([{ type: 'text', text: `Dear ${ADDRESS}` }]);
  });

  test.each([['/chat/completions', openai], ['/messages', anthropic]] as const)(
    'a stream on %s is not held: its client would take the whole answer for an empty one', async (path, body) => {
      const agent = await caller();
      const call = agent.client.post(`${LLM}${path}`, { ...body, stream: true }, { query: { wait: 50 } });
      (await approve(await requestOfAgent(agent))).expect(200);
      expect((await call).expect(409).at('error.code')).toBe('HITL_PENDING');
    });

  test('an image that was approved is counted as everywhere', async () => {
    const agent = await caller();
    const image = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }];
    const call = agent.client.post(`${LLM}/chat/completions`, { model: 'gpt-test', messages: [{ role: 'user', content: image }] }, {
      query: { wait: 50 },
    });
    (await approve(await requestOfAgent(agent))).expect(200);
    (await call).expect(200);
    const [entry] = (await auditOf(scene.server, agent.id)).filter(({ event }) => event === 'llm.request');
    expect(entry!.metadata).toMatchObject({ unscanned: 1 });
    // The organization requires the scan by the time of the approval.
    const reply = (await agent.client.post(`${LLM}/chat/completions`, { model: 'gpt-test', messages: [{ role: 'user', content: image }] }))
      .expect(409);
    (await scene.root.patch(`/api/v1/organizations/${agent.organizationId}`, { settings: { scanPii: 'required' } })).expect(200);
    const before = scene.provider.requests.length;
    (await approve(reply.text('error.hitlRequestId'))).expect(200);
    expect(await executionBecomes(scene.server, reply.text('error.executionId'), 'failed')).toMatchObject({
      error: { code: 'PII_SCAN_REQUIRED' },
    });
    expect(scene.provider.requests.length).toBe(before);
  });

  test('a call without the scan is shown as one, and not sent where the scan is required by its approval', async () => {
    const agent = await caller();
    const ask = async () => (await agent.client.post(`${LLM}/chat`, { ...openai, scanPii: false })).expect(202);
    const [sent, kept] = [await ask(), await ask()];
    expect((await requestOf(scene.server, sent.text('hitlRequestId'))).input).toMatchObject({ scanSkipped: true });
    (await approve(sent.text('hitlRequestId'))).expect(200);
    await executionBecomes(scene.server, sent.text('executionId'), 'executed');
    const [entry] = (await auditOf(scene.server, agent.id)).filter(({ event }) => event === 'llm.request');
    expect(entry!.metadata).toMatchObject({ scanSkipped: true });

    (await scene.root.patch(`/api/v1/organizations/${agent.organizationId}`, { settings: { scanPii: 'required' } })).expect(200);
    const before = scene.provider.requests.length;
    (await approve(kept.text('hitlRequestId'))).expect(200);
    const failed = await executionBecomes(scene.server, kept.text('executionId'), 'failed');
    expect(failed).toMatchObject({ error: { code: 'PII_SCAN_REQUIRED' } });
    expect(scene.provider.requests.length).toBe(before);
  });

  test('what a client says of versions goes along with what was approved, and is part of it', async () => {
    const agent = await caller();
    const more = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'context-1m-2025-08-07' };
    const asked = (await agent.client.with(more).post(`${LLM}/messages`, anthropic)).expect(409);
    const id = asked.text('error.hitlRequestId');
    expect((await requestOf(scene.server, id)).input).toMatchObject({ headers: more });
    (await approve(id)).expect(200);
    await executionBecomes(scene.server, asked.text('error.executionId'), 'executed');
    expect(scene.provider.last().headers).toMatchObject(more);
    const chat = (await agent.client.post(`${LLM}/chat`, { model: 'claude-test', messages })).expect(202);
    (await approve(chat.text('hitlRequestId'))).expect(200);
    await executionBecomes(scene.server, chat.text('executionId'), 'executed');
    expect(scene.provider.last().headers).toMatchObject({ 'anthropic-version': '2023-06-01' });
    const odd = agent.client.with({ 'anthropic-beta': `mail ${ADDRESS}` });
    expect((await odd.post(`${LLM}/messages`, anthropic)).status).toBe(400);
  });

  test('a count of tokens is 403: it would send what nobody has approved', async () => {
    const agent = await caller();
    const before = scene.provider.requests.length;
    const count = (await agent.client.post(`${LLM}/v1/messages/count_tokens`, anthropic)).expect(403);
    expect(count.at('error.code')).toBe('CAPABILITY_BLOCKED');
    expect(scene.provider.requests.length).toBe(before);
  });

  test('rejected: 403, and nothing was sent', async () => {
    const agent = await caller();
    const before = scene.provider.requests.length;
    const call = agent.client.post(`${LLM}/chat/completions`, openai, { query: { wait: 50 } });
    (await scene.root.post(`/api/v1/hitl/${await requestOfAgent(agent)}/reject`)).expect(200);
    expect((await call).expect(403).at('error.code')).toBe('HITL_REJECTED');
    expect(scene.provider.requests.length).toBe(before);
  });

  test('nobody edits it: 422', async () => {
    const agent = await caller();
    const id = (await agent.client.post(`${LLM}/chat`, openai)).expect(202).text('hitlRequestId');
    const { input } = await requestOf(scene.server, id);
    const edited = { ...(input as object), maxTokens: 1 };
    for (const editedInput of [edited, input]) {
      (await scene.root.post(`/api/v1/hitl/${id}/approve`, { editedInput })).expect(422, 'INVALID_INPUT');
    }
    expect((await requestOf(scene.server, id)).status).toBe('pending');
  });

  test('a body that was changed below the service runs nothing, and verification names it', async () => {
    const agent = await caller();
    const reply = (await agent.client.post(`${LLM}/chat`, openai)).expect(202);
    const before = scene.provider.requests.length;
    const id = reply.text('hitlRequestId');
    const replaced = (from: string, to: string) =>
      scene.server.sql('update hitl_requests set input = replace(input, $2, $3) where id = $1', [id, from, to]);
    await replaced('write to', 'wire it');
    await approve(id);
    expect(await executionBecomes(scene.server, reply.text('executionId'), 'cancelled')).toMatchObject({ status: 'cancelled' });
    expect(scene.provider.requests.length).toBe(before);
    expect((await verification(scene.server)).breaks).toEqual([expect.objectContaining({ detail: expect.stringContaining(id) })]);
    await replaced('wire it', 'write to');
  });

  test('more than people can be shown is refused, and less is decided alike: body is hidden from conditions and schema', async () => {
    const large = { ...openai, messages: [{ role: 'user', content: 'x'.repeat(300_000) }] };
    expect((await (await caller()).client.post(`${LLM}/chat/completions`, large)).expect(413).at('error.code')).toBe('BODY_TOO_LARGE');
    const agent = await caller({ conditions: [{ when: 'has(input.body)', hitlMode: 'block' }] });
    const reply = (await agent.client.post(`${LLM}/chat`, openai)).expect(202);
    (await approve(reply.text('hitlRequestId'))).expect(200);
    await executionBecomes(scene.server, reply.text('executionId'), 'executed');
  });
});

describe('an Idempotency-Key that comes again', () => {
  test('of a call that was made: 409 with its execution, since no answer is kept', async () => {
    const agent = await caller({ hitlMode: 'auto' });
    const once = agent.client.with({ 'idempotency-key': 'one' });
    (await once.post(`${LLM}/chat/completions`, openai)).expect(200);
    const before = scene.provider.requests.length;
    const again = (await once.post(`${LLM}/chat/completions`, openai)).expect(409);
    expect(again.at('error')).toMatchObject({ code: 'CONFLICT', executionId: expect.stringMatching(/^exec_/) });
    expect(again.headers.get('x-should-retry')).toBe('false');
    expect(scene.provider.requests.length).toBe(before);
    expect((await once.post(`${LLM}/chat/completions`, anthropic)).status).toBe(400);
    const other = await once.post(`${LLM}/chat/completions`, { ...openai, temperature: 1 });
    expect(other.expect(422).at('error.code')).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  test('of a call that a person approved: its answer', async () => {
    const agent = await caller();
    const once = agent.client.with({ 'idempotency-key': 'two' });
    const body = { ...openai, messages: [...messages, { role: 'user', content: 'and to bea@example.com' }] };
    const asked = (await once.post(`${LLM}/chat`, body)).expect(202);
    scene.provider.script(says({ text: 'Dear <EMAIL_ADDRESS_1>' }));
    (await approve(asked.text('hitlRequestId'))).expect(200);
    await executionBecomes(scene.server, asked.text('executionId'), 'executed');
    expect((await once.post(`${LLM}/chat`, body)).expect(200).body).toMatchObject({ content: `Dear ${ADDRESS}` });
    // Under other settings the placeholders would be numbered otherwise: none gets somebody else's value.
    const settings = { pii: { action: 'tokenize', allow: [ADDRESS] } };
    (await scene.root.patch(`/api/v1/organizations/${agent.organizationId}`, { settings })).expect(200);
    expect((await once.post(`${LLM}/chat`, body)).expect(200).body).toMatchObject({ content: 'Dear <EMAIL_ADDRESS_1>' });
  });
});

import { describe, expect, test } from '@jest/globals';
import type { BuiltAgent } from '../../support/builders/agents.js';
import { anOrganization } from '../../support/builders/people.js';
import { columnsWith } from '../../support/erasure/erasures.js';
import type { Reply } from '../../support/http/actors.js';
import { ADDRESS, gatewayScene, LLM } from '../../support/llm/gateway-scene.js';
import { postedStream, textOfStream } from '../../support/llm/posted-stream.js';
import { says } from '../../support/llm/vendor-answers.js';
import { auditOf } from '../../support/log/entries.js';

const OTHER = 'charles.babbage@difference.example';

const scene = gatewayScene();
const caller = (settings: object = {}) => scene.caller(settings);
const llmEntries = async ({ id }: BuiltAgent) => (await auditOf(scene.server, id)).filter(({ event }) => event.startsWith('llm.'));
const asked = (content: unknown, more: object = {}) => ({ model: 'gpt-test', messages: [{ role: 'user', content }], ...more });
const post = (agent: BuiltAgent, body: object, path = 'chat/completions', headers = {}): Promise<Reply> =>
  agent.client.post(`${LLM}/${path}`, body, { headers });
const piiHeaders = ({ headers }: Reply) => [headers.get('x-pii-detected'), headers.get('x-pii-redacted')];
const content = (reply: Reply) => reply.expect(200).text('choices.0.message.content');

describe('before anything leaves', () => {
  test('what is found is replaced: the log is told how many of which type, and never a value', async () => {
    const agent = await caller();
    const reply = (await post(agent, asked(`write to ${ADDRESS} and ${OTHER}`))).expect(200);
    expect(piiHeaders(reply)).toEqual(['true', 'true']);
    expect(scene.provider.last().body).toMatchObject({ messages: [{ content: 'write to <EMAIL_ADDRESS> and <EMAIL_ADDRESS>' }] });
    const [detected, request] = await llmEntries(agent);
    expect(detected).toMatchObject({
      event: 'llm.pii_detected', metadata: { model: 'gpt-test', counts: { EMAIL_ADDRESS: 2 }, action: 'redacted' },
    });
    expect(request!.metadata).toMatchObject({ piiDetected: true, piiRedacted: true });
    const [row] = await scene.server.sql<{ input: string }>('select input from executions where agent_id = $1', [agent.id]);
    expect(JSON.parse(row!.input)).toMatchObject({ pii: ['EMAIL_ADDRESS'] });
    expect(await columnsWith(scene.server, 'lovelace')).toEqual([]);
    expect(scene.server.output()).not.toContain('lovelace');
  });

  const called = (json: string) => ({ id: '1', type: 'function', function: { name: 'f', arguments: json } });
  const everywhere: Readonly<Record<string, [path: string, body: object]>> = {
    'a part': ['chat/completions', asked([{ type: 'text', text: ADDRESS }])],
    'the description of a tool': ['chat/completions',
      asked('x', { tools: [{ type: 'function', function: { name: 'f', description: ADDRESS } }] })],
    'the arguments of a tool': ['chat/completions', asked('x', {
      messages: [{ role: 'assistant', tool_calls: [called(`{"to":"${ADDRESS}"}`)] }],
    })],
    'arguments that JSON has escaped': ['chat/completions', asked('x', {
      messages: [{ role: 'assistant', tool_calls: [called(`{"to":"ada.lovelace\\u0040analytical.example"}`)] }],
    })],
    'the result of a tool': ['chat/completions', asked('x', { messages: [{ role: 'tool', tool_call_id: '1', content: ADDRESS }] })],
    'a member that nobody knows': ['chat/completions', asked('x', { metadata_of_ours: { who: [ADDRESS] } })],
    'the name of a member': ['chat/completions', asked('x', { metadata_of_ours: { [ADDRESS]: 1 } })],
    'a system prompt': ['messages', { model: 'claude-test', max_tokens: 9, system: ADDRESS, messages: [{ role: 'user', content: 'x' }] }],
    'a block of a result': ['messages', {
      model: 'claude-test', max_tokens: 9,
      messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: '1', content: [{ type: 'text', text: ADDRESS }] }] }],
    }],
    'the input of a tool': ['messages', {
      model: 'claude-test', max_tokens: 9,
      messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'f', input: { deep: { to: ADDRESS } } }] }],
    }],
    'JSON that a tool has answered': ['chat/completions', asked('x', {
      messages: [{ role: 'tool', tool_call_id: '1', content: '{"to":"Hi\\nada.lovelace\\u0040analytical.example"}' }],
    })],
    'the input of a custom tool': ['chat/completions', asked('x', {
      messages: [{ role: 'assistant', tool_calls: [{ id: '1', type: 'custom', custom: { name: 'f', input: `"to\\n${ADDRESS}` } }] }],
    })],
    'a member of a choice of tools': ['chat/completions', asked('x', { tool_choice: { type: 'function', note: ADDRESS } })],
    'a count of tokens': ['v1/messages/count_tokens', { model: 'claude-test', messages: [{ role: 'user', content: ADDRESS }] }],
    'a chat': ['chat', asked(ADDRESS)],
  };
  test.each(Object.entries(everywhere))('it is found in %s', async (_where, [path, body]) => {
    const agent = await caller();
    const reply = (await post(agent, body, path)).expect(200);
    expect(piiHeaders(reply)).toEqual(['true', 'true']);
    expect(scene.provider.last().text).not.toMatch(/lovelace/);
    expect(scene.provider.last().text).toContain('EMAIL_ADDRESS');
  });

  test('mask', async () => {
    const agent = await caller({ pii: { action: 'mask' } });
    (await post(agent, asked(`to ${ADDRESS}.`))).expect(200);
    expect(scene.provider.last().body).toMatchObject({ messages: [{ content: 'to ***.********@**********.*******.' }] });
  });

  test('block: 403 with the types, nothing is sent, and the log has it', async () => {
    const agent = await caller({ pii: { action: 'block' } });
    const before = scene.provider.requests.length;
    const reply = (await post(agent, asked(ADDRESS))).expect(403);
    expect(reply.at('error')).toMatchObject({ code: 'PII_BLOCKED', types: ['EMAIL_ADDRESS'] });
    expect(piiHeaders(reply)).toEqual(['true', 'false']);
    (await post(agent, asked(ADDRESS), 'chat')).expect(403, 'PII_BLOCKED');
    expect(scene.provider.requests.length).toBe(before);
    expect((await llmEntries(agent)).map(({ event, metadata }) => [event, metadata.action])).toEqual([
      ['llm.pii_detected', 'blocked'], ['llm.pii_detected', 'blocked'],
    ]);
    (await post(agent, asked('nothing'))).expect(200);
  });

  test('entities, allow and terms', async () => {
    const agent = await caller({ pii: { entities: ['EMAIL_ADDRESS', 'TERM'], allow: [OTHER.toUpperCase()], terms: ['Project Halley'] } });
    (await post(agent, asked(`${ADDRESS}, ${OTHER}, 192.168.7.9, project halley`))).expect(200);
    expect(scene.provider.last().body).toMatchObject({ messages: [{ content: `<EMAIL_ADDRESS>, ${OTHER}, 192.168.7.9, <TERM>` }] });
  });

  test('without the scan it goes as it is, and the log says so; where it is required it does not go', async () => {
    const agent = await caller();
    (await post(agent, asked(ADDRESS), 'chat/completions', { 'x-scan-pii': 'false' })).expect(200);
    expect(scene.provider.last().text).toContain(ADDRESS);
    (await post(agent, { ...asked(ADDRESS), scanPii: false }, 'chat')).expect(200);
    expect((await llmEntries(agent)).map(({ metadata }) => metadata.scanSkipped)).toEqual([true, true]);
    (await scene.root.patch(`/api/v1/organizations/${agent.organizationId}`, { settings: { scanPii: 'required' } })).expect(200);
    const before = scene.provider.requests.length;
    const refused = await post(agent, asked(ADDRESS), 'chat/completions', { 'x-scan-pii': 'false' });
    expect(refused.expect(403).at('error.code')).toBe('PII_SCAN_REQUIRED');
    (await post(agent, { ...asked(ADDRESS), scanPii: false }, 'chat')).expect(403, 'PII_SCAN_REQUIRED');
    const unclear = await post(agent, asked('x'), 'chat/completions', { 'x-scan-pii': 'maybe' });
    expect(unclear.expect(400).at('error.code')).toBe('VALIDATION_FAILED');
    expect(scene.provider.requests.length).toBe(before);
  });

  test('an image is counted, and does not leave where the scan is required', async () => {
    const image = asked([{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }]);
    const agent = await caller();
    (await post(agent, image)).expect(200);
    expect((await llmEntries(agent))[0]!.metadata).toMatchObject({ unscanned: 1 });
    const strict = await caller({ scanPii: 'required' });
    expect((await post(strict, image)).expect(403).at('error.code')).toBe('PII_SCAN_REQUIRED');
  });

  const blocks = (...content: object[]) => ({ model: 'claude-test', max_tokens: 9, messages: [{ role: 'user', content }] });
  const pdf = Buffer.from('%PDF-1.7 of the person '.repeat(9)).toString('base64');
  test.each<[string, string, object]>([
    ['a video', 'chat/completions', asked([{ type: 'video_url', video_url: { url: 'https://example.com/v' } }])],
    ['an image that does not say so', 'chat/completions', asked([{ image_url: { url: 'https://example.com/i' } }])],
    ['an image among the blocks of a document', 'messages', blocks({ type: 'document', source: { type: 'content', content: [
      { type: 'image', source: { type: 'url', url: 'https://example.com/i' } }] } })],
    ['bytes beside a text', 'messages', blocks({ type: 'text', text: 'x', data: 'QUJD' })],
    ['a page that a tool has fetched', 'v1/messages/count_tokens', blocks({ type: 'web_fetch_tool_result', tool_use_id: 't', content: {
      type: 'web_fetch_result', url: 'https://example.com', content: { type: 'document', source: { type: 'base64', data: pdf } } } })],
    ['bytes as a text', 'chat/completions', asked(pdf)],
  ])('%s does not leave where the scan is required, and is counted elsewhere', async (_what, path, body) => {
    const before = scene.provider.requests.length;
    const strict = await caller({ scanPii: 'required' });
    expect((await post(strict, body, path)).expect(403).at('error.code')).toBe('PII_SCAN_REQUIRED');
    expect(scene.provider.requests.length).toBe(before);
    const agent = await caller();
    (await post(agent, body, path)).expect(200);
    if (!path.endsWith('tokens')) expect((await llmEntries(agent))[0]!.metadata).toMatchObject({ unscanned: 1 });
  });

  test.each([ADDRESS, 'DE89370400440532013000'])('a model whose name holds a value is not asked: the log names it (%s)', async (value) => {
    const reply = await post(await caller(), { ...asked('x'), model: `gpt-${value}` });
    expect(reply.expect(400).at('error')).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ pointer: '/model' }] });
  });

  test('a long body is scanned in a thread', async () => {
    const agent = await caller();
    (await post(agent, asked(`${'a prompt of many words '.repeat(40_000)}${ADDRESS}`))).expect(200);
    expect(scene.provider.last().text).not.toContain(ADDRESS);
    expect(scene.provider.last().text).toContain('<EMAIL_ADDRESS>');
  });
});

describe('tokens', () => {
  const said = (token: string) => `You wrote to <EMAIL_ADDRESS_1> and ${token}, did you not?`;

  test('stand for values at the provider, the same at every turn, and the client gets the values back', async () => {
    const agent = await caller({ pii: { action: 'tokenize' } });
    scene.provider.script(says({ text: said('<EMAIL_ADDRESS_2>') }), says({ text: said('<EMAIL_ADDRESS_9>') }));
    expect(content(await post(agent, asked(`${ADDRESS} ${OTHER} ${ADDRESS}`)))).toBe(`You wrote to ${ADDRESS} and ${OTHER}, did you not?`);
    expect(scene.provider.last().body).toMatchObject({ messages: [{ content: '<EMAIL_ADDRESS_1> <EMAIL_ADDRESS_2> <EMAIL_ADDRESS_1>' }] });
    // A token that nobody gave stays as it is; one that the text forges is nobody's.
    const forged = await post(agent, asked(`${ADDRESS} <EMAIL_ADDRESS_9>`));
    expect(content(forged)).toBe(`You wrote to ${ADDRESS} and <EMAIL_ADDRESS_9>, did you not?`);
    expect(await columnsWith(scene.server, 'lovelace')).toEqual([]);
  });

  test('in the arguments of tools, as the JSON that they are', async () => {
    const agent = await caller({ pii: { action: 'tokenize', terms: ['the "old" man'] } });
    scene.provider.script(says({ tools: { mail: { to: '<EMAIL_ADDRESS_1>', about: '<TERM_1>' } } }));
    const reply = (await post(agent, asked(`${ADDRESS} wrote to the "old" man`))).expect(200);
    expect(JSON.parse(reply.text('choices.0.message.tool_calls.0.function.arguments'))).toEqual({ to: ADDRESS, about: 'the "old" man' });
  });

  test.each([
    ['openai', 'chat/completions', asked(`${ADDRESS} and ${OTHER}`)],
    ['anthropic', 'messages', { ...asked(`${ADDRESS} and ${OTHER}`), model: 'claude-test', max_tokens: 9 }],
  ] as const)('%s: come back in streams, whatever the cuts', async (family, path, body) => {
    const agent = await caller({ pii: { action: 'tokenize', answers: 'off' } });
    const text = said('<EMAIL_ADDRESS_2> <EMAIL_ADDRESS_3> <EMAIL_');
    for (const piece of [1, 2, 3, 7, 19, 100]) {
      scene.provider.script(says({ text, tools: { mail: { to: '<EMAIL_ADDRESS_2>' } }, piece }));
      const stream = textOfStream(family, await postedStream(scene.server, agent, path, body));
      expect(stream).toEqual({
        text: `You wrote to ${ADDRESS} and ${OTHER} <EMAIL_ADDRESS_3> <EMAIL_, did you not?`, json: JSON.stringify({ to: OTHER }),
      });
    }
  });
});

describe('the answer', () => {
  const leak = `The address is ${OTHER}, I believe.`;

  test.each([
    ['off', {}, leak, undefined],
    ['report', {}, leak, { EMAIL_ADDRESS: 1 }],
    ['redact', {}, 'The address is <EMAIL_ADDRESS>, I believe.', { EMAIL_ADDRESS: 1 }],
  ])('%s, whole and streamed, of both families', async (answers, _none, wanted, counts) => {
    const agent = await caller({ pii: { answers } });
    scene.provider.script(says({ text: leak }), says({ text: leak, piece: 3 }), says({ text: leak, piece: 3 }));
    expect(content(await post(agent, asked('who')))).toBe(wanted);
    expect(textOfStream('openai', await postedStream(scene.server, agent, 'chat/completions', asked('who'))).text).toBe(wanted);
    const body = { ...asked('who'), model: 'claude-test', max_tokens: 9 };
    expect(textOfStream('anthropic', await postedStream(scene.server, agent, 'messages', body)).text).toBe(wanted);
    expect((await llmEntries(agent)).map(({ metadata }) => metadata.answerCounts)).toEqual([counts, counts, counts]);
  });
});

describe('POST /scan', () => {
  test('shows what the organization’s settings make of a text, and records nothing', async () => {
    const agent = await caller({ pii: { action: 'tokenize' } });
    const before = (await auditOf(scene.server, agent.id)).length;
    const reply = (await agent.client.post(`${LLM}/scan`, { text: `to ${ADDRESS}` })).expect(200);
    expect(reply.body).toEqual({
      detected: true, entities: [{ type: 'EMAIL_ADDRESS', value: ADDRESS, redacted: '<EMAIL_ADDRESS_1>' }],
      redactedText: 'to <EMAIL_ADDRESS_1>',
    });
    const json = '{"dateOfBirth": "1985-03-12", "card":4111111111111111}';
    expect((await agent.client.post(`${LLM}/scan`, { text: json })).at('redactedText')).toBe(
      '{"dateOfBirth": "<DATE_OF_BIRTH_1>", "card":"<CREDIT_CARD_1>"}');
    const none = await agent.client.post(`${LLM}/scan`, { text: 'nothing' });
    expect(none.body).toEqual({ detected: false, entities: [], redactedText: 'nothing' });
    (await scene.root.post(`${LLM}/scan`, { text: ADDRESS })).expect(200);
    expect((await auditOf(scene.server, agent.id)).length).toBe(before);
  });
});

describe('settings.pii', () => {
  test.each([
    [{ action: 'redakt' }, '/settings/pii/action'], [{ entities: ['EMAIL'] }, '/settings/pii/entities/0'],
    [{ answers: true }, '/settings/pii/answers'],
    [{ terms: ['x'] }, '/settings/pii/terms/0'], [{ terms: ['abc', 'abc'] }, '/settings/pii/terms/1'],
    [{ hide: true }, '/settings/pii/hide'],
  ])('%j is refused at %s', async (pii, pointer) => {
    const organizationId = await anOrganization(scene.server);
    const reply = await scene.root.patch(`/api/v1/organizations/${organizationId}`, { settings: { pii } });
    expect(reply.expect(400, 'VALIDATION_FAILED').text('errors.0.pointer')).toBe(pointer);
  });

  test('are shown with what was left out, and {} is the default', async () => {
    const path = `/api/v1/organizations/${await anOrganization(scene.server)}`;
    expect((await scene.root.patch(path, { settings: { pii: { action: 'mask' } } })).at('organization.settings')).toMatchObject({
      scanPii: 'optional', pii: { action: 'mask', answers: 'report', allow: [], terms: [] },
    });
    expect((await scene.root.patch(path, { settings: { pii: {} } })).at('organization.settings.pii')).toMatchObject({ action: 'redact' });
  });
});

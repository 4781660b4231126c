import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { asRoot } from '../../support/http/actors.js';
import { executionBecomes } from '../../support/builders/gate.js';
import { startModelProvider, type ModelProvider } from '../../support/llm/model-provider.js';
import { postedStream } from '../../support/llm/posted-stream.js';
import { refuses, says } from '../../support/llm/vendor-answers.js';
import { auditOf } from '../../support/log/entries.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const LLM = '/api/v1/llm';

let vendor: ModelProvider;
let local: ModelProvider;
let server: TestServer;
let agent: BuiltAgent;
let folder: string;

beforeAll(async () => {
  vendor = await startModelProvider();
  local = await startModelProvider();
  folder = mkdtempSync(join(process.env.COUNTERSIGN_TEST_RUN ?? tmpdir(), 'providers-'));
  const file = join(folder, 'providers.json');
  writeFileSync(file, JSON.stringify({
    providers: [
      { name: 'local', family: 'openai', baseUrl: `${local.url}/v1`, models: ['llama*', 'gpt-local'] },
      {
        name: 'careful', family: 'openai', baseUrl: `${vendor.url}/v1`, keyVariable: 'CAREFUL_KEY',
        models: ['careful-*'], fallbacks: ['llama3:8b'],
      },
      { name: 'closed', family: 'openai', baseUrl: 'http://127.0.0.1:1/v1', models: ['closed'], fallbacks: ['claude-test', 'llama3:8b'] },
    ],
  }));
  server = await startServer({ env: { ...vendor.env, LLM_PROVIDERS_FILE: file, CAREFUL_KEY: 'sk-careful' } });
  agent = await anAgent(server).granted('llm:invoke').create();
});
afterAll(async () => {
  await server.stop();
  await vendor.close();
  await local.close();
  rmSync(folder, { recursive: true });
});

const asked = (model: string) => ({ model, messages: [{ role: 'user', content: 'Good morning' }] });
const newestEntry = async () => (await auditOf(server, agent.id)).filter(({ event }) => event === 'llm.request').at(-1)!;

describe('a model is run by the provider whose patterns it fits', () => {
  test.each(['gpt-4o-mini', 'o3', 'o4-mini', 'chatgpt-4o-latest'])('%s by OpenAI', async (model) => {
    (await agent.client.post(`${LLM}/chat/completions`, asked(model))).expect(200);
    expect(vendor.last().body.model).toBe(model);
  });

  test('those of the file by theirs, without a key where it names none', async () => {
    for (const model of ['llama3:8b', 'gpt-local']) {
      (await agent.client.post(`${LLM}/chat/completions`, asked(model))).expect(200);
      expect(local.last().body.model).toBe(model);
      expect(local.last().headers.authorization).toBeUndefined();
      expect((await newestEntry()).metadata).toMatchObject({ provider: 'local', model });
    }
  });

  test.each([
    ['chat/completions', { ...asked('claude-test'), max_tokens: 1 }, /other family.*POST \/api\/v1\/llm\/messages/],
    ['messages', { ...asked('gpt-test'), max_tokens: 1 }, /other family.*POST \/api\/v1\/llm\/chat\/completions/],
    ['chat/completions', asked('ollama'), /run by no provider/],
    ['chat/completions', { model: 'gpt-test' }, undefined],
    ['chat/completions', { model: 'gpt-test', messages: [] }, undefined],
    ['chat/completions', { ...asked('gpt-test'), max_tokens: -1 }, undefined],
    ['chat/completions', { ...asked('gpt-test'), n: 1_000 }, undefined],
    ['chat/completions', { ...asked('gpt-test'), stream: 'yes' }, undefined],
    ['messages', { model: 7, messages: 'x' }, undefined],
  ])('%s of %j: 400, and nothing has begun', async (path, body, message) => {
    const before = [vendor.requests.length, (await auditOf(server, agent.id)).length];
    const reply = (await agent.client.post(`${LLM}/${path}`, body)).expect(400);
    expect(reply.at('error')).toMatchObject({ code: 'VALIDATION_FAILED', type: 'invalid_request_error' });
    if (message) expect(reply.text('error.errors.0.message')).toMatch(message);
    expect([vendor.requests.length, (await auditOf(server, agent.id)).length]).toEqual(before);
  });

  test('both /chat routes take both families', async () => {
    const kind = [{ role: 'system', content: 'Be kind' }, ...asked('').messages];
    (await agent.client.post(`${LLM}/chat`, { ...asked('claude-test'), messages: kind })).expect(200);
    expect(vendor.last().body).toMatchObject({ system: 'Be kind', max_tokens: 4_096, messages: asked('').messages });
    (await agent.client.post(`${LLM}/chat`, { ...asked('nobody'), messages: [] })).expect(400, 'VALIDATION_FAILED');
  });
});

describe('fallbacks', () => {
  test('are asked where nothing can have been generated, and the log says who answered', async () => {
    const busy = refuses(503, 'busy', { 'retry-after': '0' });
    vendor.script(busy, busy, busy);
    const before = vendor.requests.length;
    (await agent.client.post(`${LLM}/chat/completions`, asked('careful-1'))).expect(200);
    expect(vendor.requests.length).toBe(before + 3);
    expect(vendor.last().headers.authorization).toBe('Bearer sk-careful');
    expect(local.last().body.model).toBe('llama3:8b');
    expect((await newestEntry()).metadata).toMatchObject({ provider: 'local', model: 'llama3:8b' });
    // Nobody listens there; the model of the other family is left out.
    (await agent.client.post(`${LLM}/chat/completions`, asked('closed'))).expect(200);
    expect(local.last().body.model).toBe('llama3:8b');
  });

  test('are not asked for what people approved: that runs at its own model, or not at all', async () => {
    const careful = await anAgent(server).granted('llm:invoke', { hitlMode: 'propose' }).create();
    const body = { model: 'closed', messages: [{ role: 'user', content: 'Good morning' }] };
    const id = (await careful.client.post(`${LLM}/chat`, body)).expect(202).text('hitlRequestId');
    const before = local.requests.length;
    (await asRoot(server).post(`/api/v1/hitl/${id}/approve`)).expect(200);
    await eventually(async () => expect((await auditOf(server, careful.id)).map(({ event }) => event)).toContain('execution.failed'));
    expect(local.requests.length).toBe(before);
  });

  test.each([
    ['a condition on the model', { conditions: [{ when: 'input.model.startsWith("llama")', hitlMode: 'block' }] }],
    ['a condition on the provider', { conditions: [{ when: 'input.provider != "closed"', hitlMode: 'propose' }] }],
  ])('are not asked where the gate would not let them run: %s', async (_what, terms) => {
    const careful = await anAgent(server).granted('llm:invoke', terms).create();
    const before = local.requests.length;
    const reply = await careful.client.post(`${LLM}/chat/completions`, asked('closed'));
    expect(reply.expect(502).at('error.code')).toBe('PROVIDER_ERROR');
    expect(local.requests.length).toBe(before);
    expect((await auditOf(server, careful.id)).map(({ event }) => event).slice(-3)).toEqual([
      'execution.started', 'llm.provider_error', 'execution.failed',
    ]);
  });

  test('are asked where conditions and limits leave them room', async () => {
    const careful = await anAgent(server).granted('llm:invoke', {
      conditions: [{ when: 'input.model.startsWith("gpt")', hitlMode: 'block' }], limits: [{ max: 2, per: 'hour', then: 'block' }],
    }).create();
    (await careful.client.post(`${LLM}/chat/completions`, asked('closed'))).expect(200);
    expect(local.last().body.model).toBe('llama3:8b');
    // The second use is the last: for the dry run there is none.
    expect((await careful.client.post(`${LLM}/chat/completions`, asked('closed'))).status).toBe(502);
  });

  test('are not asked where something may have been generated', async () => {
    const before = local.requests.length;
    for (const answer of [refuses(500), refuses(400)]) {
      vendor.script(answer);
      expect((await agent.client.post(`${LLM}/chat/completions`, asked('careful-1'))).status).toBeGreaterThanOrEqual(400);
    }
    expect(local.requests.length).toBe(before);
  });
});

describe('the log', () => {
  async function refuseEntries(only: string): Promise<() => Promise<unknown>> {
    // What a sequence has counted stays counted when all else is taken back.
    await server.sql('create sequence if not exists test_refused');
    await server.sql(`create or replace function test_refuse_entries() returns trigger language plpgsql as
      $$ begin perform nextval('test_refused'); raise exception 'no entry today' using errcode = '53100'; end $$`);
    await server.sql(`create trigger test_refuse_entries before insert on audit_entries for each row when (${only})
      execute function test_refuse_entries()`);
    return () => server.sql('drop trigger test_refuse_entries on audit_entries');
  }

  test('cannot be written: 503, and nothing is sent', async () => {
    const before = vendor.requests.length;
    const allow = await refuseEntries('true');
    try {
      expect((await agent.client.post(`${LLM}/chat/completions`, asked('gpt-test'))).expect(503).at('error.code')).toBe('UNAVAILABLE');
    } finally {
      await allow();
    }
    expect(vendor.requests.length).toBe(before);
  });

  test('cannot be written after the call: no answer leaves without its entry, and no stream ends', async () => {
    const allow = await refuseEntries(`new.event = 'execution.completed'`);
    const refused = async () => Number((await server.sql<{ n: string }>('select last_value as n from test_refused'))[0]!.n);
    const so = await refused();
    const before = vendor.requests.length;
    vendor.script(says({ text: 'whole' }), says({ text: 'whole' }));
    let answered = 0;
    const body = asked('gpt-test');
    const calls = [agent.client.post(`${LLM}/chat/completions`, body), postedStream(server, agent, 'chat/completions', body)];
    for (const call of calls) void call.then(() => answered++);
    try {
      await vendor.received(before + 2);
      await Promise.all(vendor.requests.slice(before).map(({ over }) => over));
      await eventually(async () => expect(await refused()).toBeGreaterThanOrEqual(so + 2));
      expect(answered).toBe(0);
    } finally {
      await allow();
    }
    const [whole, stream] = (await Promise.all(calls)) as [{ status: number }, string];
    expect(whole.status).toBe(200);
    expect(stream).toMatch(/data: \[DONE\]\n\n$/);
    const rows = await server.sql<{ id: string }>(`select id from executions where agent_id = $1 order by id desc limit 2`, [agent.id]);
    for (const { id } of rows) await executionBecomes(server, id, 'executed');
  });
});

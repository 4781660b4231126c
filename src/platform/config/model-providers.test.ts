import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from './config.js';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-providers-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const KEYS = { OPENAI_API_KEY: 'sk-x', LOCAL_KEY: ' sk-local ' };
const local = { name: 'local', family: 'openai', baseUrl: 'http://127.0.0.1:11434/v1', models: ['llama*'] };

function load(content: unknown, env: NodeJS.ProcessEnv = KEYS) {
  const file = join(folder, 'providers.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return loadConfig({ ...env, LLM_PROVIDERS_FILE: file }).modelProviders;
}

describe('the providers of models', () => {
  it('are those of the families whose keys or addresses are set', () => {
    expect(loadConfig({}).modelProviders).toEqual([]);
    expect(loadConfig({ OPENAI_API_KEY: 'sk-x' }).modelProviders.map(({ name, key }) => [name, key])).toEqual([['openai', 'sk-x']]);
    const { modelProviders } = loadConfig({ ANTHROPIC_BASE_URL: 'http://localhost:9' });
    expect(modelProviders).toEqual([{ name: 'anthropic', family: 'anthropic', baseUrl: 'http://localhost:9', models: ['claude-*'], fallbacks: [] }]);
  });

  it('of the file come first, each with the key of its variable, and replace one of the same name', () => {
    expect(load({ providers: [{ ...local, keyVariable: 'LOCAL_KEY', fallbacks: ['gpt-4o'] }] })).toMatchObject([
      { name: 'local', key: 'sk-local', fallbacks: ['gpt-4o'] }, { name: 'openai' },
    ]);
    expect(load({ providers: [{ ...local, name: 'openai' }] })).toMatchObject([{ name: 'openai', models: ['llama*'] }]);
  });

  it.each<[string, unknown, RegExp]>([
    ['no JSON', '{', /is no JSON/],
    ['no list', {}, /\/providers/],
    ['an empty list', { providers: [] }, /\/providers/],
    ['a member that nobody obeys', { providers: [{ ...local, retries: 3 }] }, /retries/],
    ['an unknown family', { providers: [{ ...local, family: 'gemini' }] }, /\/providers\/0\/family/],
    ['no address', { providers: [{ ...local, baseUrl: 'local' }] }, /\/providers\/0\/baseUrl/],
    ['no model', { providers: [{ ...local, models: [] }] }, /\/providers\/0\/models/],
    ['one name twice', { providers: [local, local] }, /called local/],
    ['a key that is not set', { providers: [{ ...local, keyVariable: 'NOBODYS_KEY' }] }, /NOBODYS_KEY.*is not set/],
  ])('%s stops the start with a line that says why', (_what, content, message) => {
    expect(() => load(content)).toThrow(message);
    expect(() => load(content)).toThrow(/LLM_PROVIDERS_FILE/);
  });

  it('a file that is not there stops it, too', () => {
    expect(() => loadConfig({ LLM_PROVIDERS_FILE: join(folder, 'nowhere.json') })).toThrow(/cannot read the file \(ENOENT\)/);
  });
});

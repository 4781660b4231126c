import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MODELS } from '../../../src/platform/config/config.schema.js';
import { anAgent, anAgentKey } from '../../support/builders/agents.js';
import { startModelProvider, type ModelProvider } from '../../support/llm/model-provider.js';
import { asShown, commandsIn, type RanCommands, runCommands } from '../../support/proofs/documented-commands.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { CHECKOUT } from '../../support/servers/test-run.js';

const GUIDE = readFileSync(join(CHECKOUT, 'docs/llm.md'), 'utf8');
const run = promisify(execFile);

describe('docs/llm.md', () => {
  const story = commandsIn(GUIDE);
  let provider: ModelProvider;
  let server: TestServer;
  let reported: RanCommands;

  beforeAll(async () => {
    provider = await startModelProvider();
    server = await startServer({ env: provider.env });
    reported = await runCommands(server, story);
  });
  afterAll(async () => {
    reported?.forget();
    await server?.stop();
    await provider.close();
  });

  test('its calls are answered as it says, from the first to the last', () => {
    const { code, statuses, output } = reported;
    expect({ code, statuses, output }).toEqual({ code: 0, statuses: story.statuses, output });
    expect(statuses.length).toBeGreaterThanOrEqual(11);
    for (const { call, body } of story.answers) expect(reported.answerTo(call)).toEqual(asShown(body));
    expect(reported.left()).toEqual([]);
  });

  const programs = [...GUIDE.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = '']) => code);
  const clients = programs.map((code, at) => [/from '([^']+)'/.exec(code)![1]!, at] as const);
  test.each(clients)('its program with %s runs as it stands', async (_client, at) => {
    const { secret } = await anAgentKey(server, await anAgent(server).granted('llm:invoke').create());
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', programs[at]!], {
      cwd: CHECKOUT, env: { PATH: process.env.PATH, COUNTERSIGN_URL: server.url, AGENT_KEY: secret },
    });
    expect(stdout).toBe('Good morning to you\n');
  });

  test('tells of every variable', () => {
    expect(programs).toHaveLength(2);
    for (const name of Object.keys(MODELS)) expect(GUIDE).toContain(`\`${name}\``);
  });
});

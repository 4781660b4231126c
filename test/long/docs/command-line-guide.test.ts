import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandsIn, runCommands } from '../../support/proofs/documented-commands.js';
import { countersign } from '../../support/servers/command-line.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { CHECKOUT } from '../../support/servers/test-run.js';

const GUIDE = readFileSync(join(CHECKOUT, 'docs/command-line.md'), 'utf8');

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.stop());

test('the commands of docs/command-line.md do what it says, from the first to the last', async () => {
  const ran = await runCommands(server, commandsIn(GUIDE));
  expect({ code: ran.code, output: ran.output }).toEqual({ code: 0, output: ran.output });
  for (const said of ['invoice-bot', 'hitl_', 'ada@example.com', 'approved', 'it mails too much', 'lifted', 'deactivated']) {
    expect(ran.output).toContain(said);
  }
  expect(ran.left()).toEqual([]);
  ran.forget();
});

test('it tells of every command that there is', async () => {
  const { stdout } = await countersign(['--help']);
  const names = [...stdout.slice(stdout.indexOf('Commands:')).matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name!);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => name !== 'help' && !GUIDE.includes(`\`${name}`))).toEqual([]);
});

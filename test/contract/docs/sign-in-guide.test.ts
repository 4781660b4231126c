import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SIGN_IN } from '../../../src/platform/config/config.schema.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { asShown, commandsIn, runCommands, type RanCommands } from '../../support/proofs/documented-commands.js';
import { INTERNAL } from '../../support/builders/tenants.js';
import { CHECKOUT } from '../../support/servers/test-run.js';

const GUIDE = readFileSync(join(CHECKOUT, 'docs/sign-in.md'), 'utf8');
const EXAMPLE = readFileSync(join(CHECKOUT, '.env.example'), 'utf8');

describe('the calls of docs/sign-in.md', () => {
  const story = commandsIn(GUIDE);
  let server: TestServer;
  let reported: RanCommands;

  beforeAll(async () => {
    server = await startServer({ env: INTERNAL });
    reported = await runCommands(server, story, { env: INTERNAL });
  });
  afterAll(async () => {
    reported?.forget();
    await server?.stop();
  });

  test('are answered as it says, from the first to the last', () => {
    const { code, statuses, output } = reported;
    expect({ code, statuses, output }).toEqual({ code: 0, statuses: story.statuses, output });
    expect(statuses.length).toBeGreaterThanOrEqual(10);
    for (const { call, body } of story.answers) expect(reported.answerTo(call)).toEqual(asShown(body));
    expect(reported.left()).toEqual([]);
  });
});

test('docs/sign-in.md tells of every variable of signing in, with its default', () => {
  const rows = new Map([...GUIDE.matchAll(/^\| `([A-Z_]+)` \| (.*?) \|/gm)].map(([, name = '', standard = '']) => [name, standard]));
  for (const name of Object.keys(SIGN_IN)) {
    const fixed = new RegExp(`^#${name}=(.*)$`, 'm').exec(EXAMPLE)?.[1] ?? '';
    expect([name, rows.get(name)]).toEqual([name, fixed === '' ? expect.not.stringMatching(/^$/) : `\`${fixed}\``]);
  }
});

test('docs/sign-in.md leads to what is there', () => {
  const targets = [...GUIDE.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target).filter((target) => !/^https?:/.test(target));
  expect(targets.length).toBeGreaterThan(4);
  const headings = (text: string) => [...text.matchAll(/^#+ (.+)$/gm)]
    .map(([, heading = '']) => heading.toLowerCase().replaceAll(/[^\p{L}\p{N} -]/gu, '').replaceAll(' ', '-'));
  for (const target of targets) {
    const [file = '', anchor] = target.split('#');
    const path = join(CHECKOUT, 'docs', file === '' ? 'sign-in.md' : file);
    expect([target, existsSync(path)]).toEqual([target, true]);
    if (anchor !== undefined) expect([target, headings(readFileSync(path, 'utf8')).includes(anchor)]).toEqual([target, true]);
  }
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../support/servers/server-process.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { asShown, commandsIn, runCommands, type RanCommands } from '../../support/proofs/documented-commands.js';
import { CHECKOUT } from '../../support/servers/test-run.js';

const MINUTE = 60_000;
const README = readFileSync(join(CHECKOUT, 'README.md'), 'utf8');

describe('the story of README.md', () => {
  const story = commandsIn(README);
  let server: TestServer;
  let reported: RanCommands;

  beforeAll(async () => {
    // The record is verified before a checkpoint covers it, as it says, however long the story takes here.
    server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '600' } });
    const shop = await freePort();
    reported = await runCommands(server, story, { script: story.script.replaceAll('4010', String(shop)) });
  }, MINUTE);
  afterAll(async () => {
    reported?.forget();
    await server?.stop();
  }, MINUTE);

  test('runs from the first line to the last, and each call is answered as it says', () => {
    const { code, statuses, output } = reported;
    expect({ code, statuses, output }).toEqual({ code: 0, statuses: story.statuses, output });
    expect(statuses.length).toBeGreaterThanOrEqual(15);
  });

  test('each answer that is shown is the answer', () => {
    expect(story.answers.length).toBeGreaterThanOrEqual(10);
    for (const { call, body } of story.answers) expect(reported.answerTo(call)).toEqual(asShown(body));
  });

  test('the shop got the small order, and the large one never', () => {
    // Its own output stands between the server's answers; only there does the bare input begin.
    const printed = [...reported.output.matchAll(/}(\{[^{}]*"item"[^{}]*})/g)];
    expect(printed.map(([, order = '']) => JSON.parse(order) as unknown)).toEqual([
      { item: 'steel sheet, 1 t', amount: 480 },
      { item: 'steel sheet', amount: 465 },
    ]);
  });

  test('leaves no files behind', () => {
    expect(reported.left()).toEqual([]);
  });
});

describe('README.md', () => {
  test('links to what is there', () => {
    const targets = [...README.matchAll(/\]\(([^)#\s]+)/g)].map(([, target = '']) => target);
    const local = targets.filter((target) => !/^https?:/.test(target));
    expect(local.length).toBeGreaterThan(5);
    expect(local.filter((target) => !existsSync(join(CHECKOUT, target)))).toEqual([]);
  });

  test('its commands are scripts of the package', () => {
    const { scripts } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
    const named = [...README.matchAll(/npm (?:run )?(start|test|demo)\b/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
    expect(new Set(named)).toEqual(new Set(['start', 'demo', 'test']));
  });

  test('its picture is whole and has words for those who do not see it', () => {
    const picture = readFileSync(join(CHECKOUT, 'docs/pictures/gate.svg'), 'utf8');
    expect(picture).toMatch(/^<svg [^>]*role="img"/);
    expect(picture).toContain('prefers-color-scheme: dark');
    expect(picture).not.toMatch(/<script|href=/);
  });
});

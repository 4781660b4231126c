import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/server-process.js';
import { startServer, type TestServer } from '../support/server.js';
import { CHECKOUT, ROOT_KEY } from '../support/test-run.js';

const MINUTE = 60_000;
const README = readFileSync(join(CHECKOUT, 'README.md'), 'utf8');

/** What the text says: the lines to type, the status of each call, and answers as far as they are shown. */
interface Story {
  readonly script: string;
  readonly statuses: readonly number[];
  /** A shown answer, and which call (from 0) it belongs to: the last one before it. */
  readonly answers: readonly { readonly call: number; readonly body: unknown }[];
}

function readStory(text: string): Story {
  const script: string[] = [];
  const statuses: number[] = [];
  const answers: { call: number; body: unknown }[] = [];
  for (const [, language, content = ''] of text.matchAll(/^```(\w+)\n(.*?)^```$/gms)) {
    if (language === 'json') answers.push({ call: statuses.length - 1, body: JSON.parse(content) });
    if (language !== 'sh') continue;
    script.push(content);
    const lines = content.split('\n');
    lines.forEach((line, at) => {
      if (!/\bcurl\b/.test(line)) return;
      const status = /^# (\d{3}): /.exec(lines[at - 1] ?? '')?.[1];
      if (status === undefined) throw new Error(`README.md does not say what this answers: ${line}`);
      statuses.push(Number(status));
    });
  }
  return { script: script.join(''), statuses, answers };
}

// Stands before the real curl, and writes down what each call of the script was answered.
const WATCHED = `
curl() {
  command curl -o "$LOG/body" -w '%{http_code}\\n' "$@" >> "$LOG/statuses"
  cp "$LOG/body" "$LOG/$(wc -l < "$LOG/statuses" | tr -d ' ').json"
  cat "$LOG/body"
}
set -eu
`;

/** Texts ending in an ellipsis stand for whatever goes on like that. */
function asShown(value: unknown): unknown {
  if (typeof value === 'string' && value.endsWith('…')) return expect.stringMatching(new RegExp(`^${value.slice(0, -1)}.`));
  if (Array.isArray(value)) return value.map(asShown);
  if (typeof value !== 'object' || value === null) return value;
  return expect.objectContaining(Object.fromEntries(Object.entries(value).map(([name, part]) => [name, asShown(part)])));
}

describe('the story of README.md', () => {
  const story = readStory(README);
  const log = mkdtempSync(join(tmpdir(), 'countersign-readme-'));
  let server: TestServer;
  let outcome: { code: number | null; output: string };

  beforeAll(async () => {
    server = await startServer();
    const shop = await freePort();
    const child = spawn('sh', ['-c', `${WATCHED}${story.script.replaceAll('4010', String(shop))}`], {
      cwd: log,
      env: { PATH: process.env.PATH, LOG: log, COUNTERSIGN_URL: server.url, COUNTERSIGN_KEY: ROOT_KEY },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (part: Buffer) => (output += part.toString('utf8')));
    child.stderr.on('data', (part: Buffer) => (output += part.toString('utf8')));
    outcome = await new Promise((done) => child.once('close', (code) => done({ code, output })));
  }, MINUTE);
  afterAll(async () => {
    rmSync(log, { recursive: true, force: true });
    await server.stop();
  }, MINUTE);

  const answerTo = (call: number) => JSON.parse(readFileSync(join(log, `${call + 1}.json`), 'utf8')) as unknown;

  test('runs from the first line to the last, and each call is answered as it says', () => {
    const statuses = readFileSync(join(log, 'statuses'), 'utf8').trim().split('\n').map(Number);
    const { code, output } = outcome;
    expect({ code, statuses, output }).toEqual({ code: 0, statuses: story.statuses, output });
    expect(statuses.length).toBeGreaterThanOrEqual(15);
  });

  test('each answer that is shown is the answer', () => {
    expect(story.answers.length).toBeGreaterThanOrEqual(10);
    for (const { call, body } of story.answers) expect(answerTo(call)).toEqual(asShown(body));
  });

  test('the shop got the small order, and the large one never', () => {
    // Its own output stands between the server's answers; only there does the bare input begin.
    const printed = [...outcome.output.matchAll(/}(\{[^{}]*"item"[^{}]*})/g)];
    expect(printed.map(([, order = '']) => JSON.parse(order) as unknown)).toEqual([
      { item: 'steel sheet, 1 t', amount: 480 },
      { item: 'steel sheet', amount: 465 },
    ]);
  });

  test('leaves no files behind', () => {
    expect(readdirSync(log).filter((name) => !/^(\d+\.json|body|statuses)$/.test(name))).toEqual([]);
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

import { expect } from '@jest/globals';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestServer } from '../servers/server.js';
import { CHECKOUT, type Environment, ROOT_KEY } from '../servers/test-run.js';

/** What a document says: the lines to type, the status of each call, and answers as far as they are shown. */
export interface DocumentedCommands {
  readonly script: string;
  readonly statuses: readonly number[];
  /** A shown answer, and which call (from 0) it belongs to: the last one before it. */
  readonly answers: readonly { readonly call: number; readonly body: unknown }[];
}

/** What came of a story that was typed in. */
export interface RanCommands {
  readonly code: number | null;
  readonly output: string;
  readonly statuses: readonly number[];
  answerTo(call: number): unknown;
  /** Files that it left where it was told. */
  left(): string[];
  forget(): void;
}

/** The story of a document: its blocks `sh` and `json`, with the status of each `curl` in the line before it. */
export function commandsIn(text: string): DocumentedCommands {
  const script: string[] = [];
  const statuses: number[] = [];
  const answers: { call: number; body: unknown }[] = [];
  for (const [, language, content = ''] of text.matchAll(/^```(\w+)\n(.*?)^```$/gms)) {
    if (language === 'json') answers.push({ call: statuses.length - 1, body: JSON.parse(content) });
    if (language !== 'sh') continue;
    // How often it is asked until something is done, no document can say.
    script.push(content.replace(/^until curl\b/gm, 'until command curl'));
    const lines = content.split('\n');
    lines.forEach((line, at) => {
      if (!/\bcurl\b/.test(line) || line.startsWith('until ')) return;
      const status = /^# (\d{3}): /.exec(lines[at - 1] ?? '')?.[1];
      if (status === undefined) throw new Error(`the document does not say what this answers: ${line}`);
      statuses.push(Number(status));
    });
  }
  return { script: script.join(''), statuses, answers };
}

// Stands before the real curl, and writes down what each call of the script was answered. The story runs in a folder
// of its own, with a link to the checkout's `bin`.
const WATCHED = `
curl() {
  command curl -o "$LOG/body" -w '%{http_code}\\n' "$@" >> "$LOG/statuses"
  cp "$LOG/body" "$LOG/$(wc -l < "$LOG/statuses" | tr -d ' ').json"
  cat "$LOG/body"
}
: > "$LOG/statuses"
set -eu
`;

/** Types a story into a shell, against a server. */
export async function runCommands(
  server: TestServer, story: DocumentedCommands,
  { script = story.script, env = {} }: { readonly script?: string; readonly env?: Environment } = {},
): Promise<RanCommands> {
  const log = mkdtempSync(join(tmpdir(), 'countersign-story-'));
  symlinkSync(join(CHECKOUT, 'bin'), join(log, 'bin'));
  const child = spawn('sh', ['-c', `${WATCHED}${script}`], {
    cwd: log,
    env: { PATH: process.env.PATH, LOG: log, CHECKOUT, COUNTERSIGN_URL: server.url, COUNTERSIGN_KEY: ROOT_KEY, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (part: Buffer) => (output += part.toString('utf8')));
  child.stderr.on('data', (part: Buffer) => (output += part.toString('utf8')));
  const code = await new Promise<number | null>((done) => child.once('close', done));
  return {
    code, output,
    statuses: readFileSync(join(log, 'statuses'), 'utf8').split('\n').filter((line) => line !== '').map(Number),
    answerTo: (call) => JSON.parse(readFileSync(join(log, `${call + 1}.json`), 'utf8')) as unknown,
    left: () => readdirSync(log).filter((name) => !/^(\d+\.json|bin|body|statuses)$/.test(name)),
    forget: () => rmSync(log, { recursive: true, force: true }),
  };
}

/** Texts ending in an ellipsis stand for whatever goes on like that. */
export function asShown(value: unknown): unknown {
  if (typeof value === 'string' && value.endsWith('…')) return expect.stringMatching(new RegExp(`^${value.slice(0, -1)}.`));
  if (Array.isArray(value)) return value.map(asShown);
  if (typeof value !== 'object' || value === null) return value;
  return expect.objectContaining(Object.fromEntries(Object.entries(value).map(([name, part]) => [name, asShown(part)])));
}

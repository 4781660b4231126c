// What the commands show on a terminal, as a page: real output of a server of its own, with its colours, of a request whose author would
// rather not have it read.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { prepareOrExit, root } from '../prepare.mjs';
import { askedIn } from './asked-requests.mjs';
import { taker } from './chromium.mjs';
import { asRoot } from './sign-in-steps.mjs';

const COLUMNS = 110;
const STYLES = { 1: 'font-weight:bold', 2: 'opacity:.65', 31: 'color:#d33', 32: 'color:#2a8a3e', 33: 'color:#b07a00', 36: 'color:#0a84a8' };
const PAGE = `<meta charset=utf-8><meta name=color-scheme content="light dark"><title>countersign</title>
<style>body{margin:1rem}pre{font:13px/1.45 monospace;white-space:pre-wrap;overflow-wrap:anywhere}</style><pre>`;

export async function terminalInBrowser(chromium, judge, { pictures }) {
  prepareOrExit({ development: true });
  const { startOwnServer } = await import('../../dist/demo/own-server.js');
  const stops = [];
  try {
    const server = await startOwnServer(new AbortController().signal, (stop) => stops.push(stop), { LOG_LEVEL: 'error' });
    const { request } = await askedIn(server);
    const key = await ownersKey(server);
    const id = await request();
    const lines = [['hitl', 'list'], ['hitl', 'approve', id, '--note', 'they expect it'], ['hitl', 'list', '--status', 'approved']];
    // Whatever has to be built first is no part of what is shown.
    await onTerminal(['environment'], server.url, key);
    const shown = [];
    for (const words of lines) {
      const typed = words.map((word) => (word.includes(' ') ? `"${word}"` : word)).join(' ');
      shown.push(`$ node bin/countersign.mjs ${typed}\n${await onTerminal(words, server.url, key)}`);
    }
    const text = stripVTControlCharacters(shown.join('\n'));
    const isSeen = text.includes('crew-⟦U+202E⟧gnp.pdf') && !/[^\P{Cc}\n]|\p{Cf}/u.test(text);
    judge('what would hide is seen, and nothing drives the terminal', isSeen, text);
    judge('a yes approves', /Type yes: yes\n +approved +hitl_/.test(text), text);
    const page = await chromium.page();
    await page.go(`data:text/html;charset=utf-8,${encodeURIComponent(PAGE + html(shown.join('\n')))}`);
    await taker(pictures)(page, 'commands');
    if (pictures !== undefined) await page.picture(join(pictures, 'commands.png'), { width: 900, scheme: 'light', whole: true });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** The key of a person who may decide. */
async function ownersKey(server) {
  const { user } = await asRoot(server, 'POST', '/api/v1/users', { email: 'grace@example.test', name: 'Grace Hopper', role: 'owner' });
  return (await asRoot(server, 'POST', `/api/v1/users/${user.id}/keys`, { name: 'terminal' })).secret;
}

/** By util-linux's `script`, which gives a command a terminal of its own. */
function onTerminal(words, url, key) {
  const quoted = [process.execPath, join(root, 'bin', 'countersign.mjs'), ...words].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', `stty cols ${COLUMNS}; exec ${quoted}`, '/dev/null'], {
    cwd: root, env: { PATH: process.env.PATH, TERM: 'xterm-256color', NODE_ENV: 'test', COUNTERSIGN_URL: url, COUNTERSIGN_KEY: key },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (part) => {
    if (!/Type yes: /.test(said) && /Type yes: /.test(said + part)) child.stdin.write('yes\n');
    said += part;
  });
  return new Promise((done, failed) => {
    child.once('error', failed);
    // What a prompt does to its own line is no part of what is read.
    child.once('close', () => done(said.replaceAll('\r', '').replaceAll(/\u001b\[(?:\d+G|0J|\d*K)/g, '')));
  });
}

/** Colours of a terminal as those of a page. */
function html(text) {
  let open = 0;
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll(/\u001b\[(\d+)m/g, (_, code) => {
    if (STYLES[code] === undefined) return open-- > 0 ? '</span>' : '';
    open++;
    return `<span style="${STYLES[code]}">`;
  });
}

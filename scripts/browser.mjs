// npm run browser [-- verifier|sign-in|docs|decisions|sdk|terminal] [--files <folder>] [--pictures <folder>]: what is for people, in a
// headless Chromium. The packed verifier must find in every vector what Node finds, and with --files in the exports of tampered logs in
// that folder, which the proof `tamper` writes where TAMPERED_FILES names it; people must come in by passkey, by password without scripts,
// and through an identity provider; the documentation must be searched by keyboard, and on a phone; people decide on the pages of requests,
// which no machine does that reads their mail; the SDK's bundle calls by a person's session; and what commands show on a terminal is seen
// as it is. Ends with 0 when all is as it should be, 1 when not, 2 without a Chromium.
import { mkdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Chromium, installed } from './browser/chromium.mjs';
import { decisionsInBrowser } from './browser/decisions.mjs';
import { docsInBrowser } from './browser/docs.mjs';
import { sdkInBrowser } from './browser/sdk.mjs';
import { signInInBrowser } from './browser/sign-in.mjs';
import { terminalInBrowser } from './browser/terminal.mjs';
import { verifierInBrowser } from './browser/verifier.mjs';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { files: { type: 'string' }, pictures: { type: 'string' } } });
const PARTS = {
  verifier: verifierInBrowser, 'sign-in': signInInBrowser, docs: docsInBrowser, decisions: decisionsInBrowser, sdk: sdkInBrowser,
  terminal: terminalInBrowser,
};
const wanted = positionals[0] === undefined ? Object.keys(PARTS) : positionals;
const unknown = wanted.find((name) => !Object.hasOwn(PARTS, name));
if (unknown !== undefined) {
  process.stderr.write(`There is no part ${unknown}; there are ${Object.keys(PARTS).join(', ')}.\n`);
  process.exit(1);
}
if (installed === undefined) {
  process.stderr.write('The pages are checked in Chromium, which is not here.\nDebian, Ubuntu: apt-get install chromium\n');
  process.exit(2);
}

let wrong = 0;
const judge = (name, fits, said) => {
  if (!fits) wrong++;
  process.stdout.write(`${fits ? 'ok   ' : 'WRONG'}  ${name}${fits ? '' : `: ${said}`}\n`);
};

if (values.pictures) mkdirSync(values.pictures, { recursive: true });
const chromium = new Chromium();
try {
  // One reads while the other's servers start.
  await Promise.all(wanted.map(async (name) => {
    const began = performance.now();
    const judgePart = (what, ...rest) => judge(`${name}: ${what}`, ...rest);
    await PARTS[name](chromium, judgePart, values).catch((error) => judge(name, false, error.message));
    process.stdout.write(`${name}: ${((performance.now() - began) / 1_000).toFixed(1)} s\n`);
  }));
} finally {
  await chromium.close();
}
process.stdout.write(`${wrong} wrong\n`);
process.exit(wrong === 0 ? 0 : 1);

// npm run browser [-- --files <folder>] [--pictures <folder>]: opens the packed verifier in a headless Chromium, drops every vector on
// it and requires the verdict and breaks that Node finds; --files tries the exports of tampered logs in that folder as well, which
// the proof `tamper` writes where TAMPERED_FILES names it. Ends with 0 when all agree, 1 when not, 2 without a Chromium.
import { spawn, spawnSync } from 'node:child_process';
import { createReadStream, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { pack } from '../verifier/pack.mjs';
import { linesOf, verify } from '../verifier/verify.mjs';

const VECTORS = join(import.meta.dirname, '..', 'verifier', 'vectors');
const SECONDS = 60;
/** Of so many sorts of tampering there must be files at least. */
const SORTS = 50;
const { values } = parseArgs({ options: { files: { type: 'string' }, pictures: { type: 'string' } } });

const browser = ['chromium', 'chromium-browser', 'google-chrome'].find((name) => spawnSync(name, ['--version']).status === 0);
if (browser === undefined) {
  process.stderr.write('The page is checked in Chromium, which is not here.\nDebian, Ubuntu: apt-get install chromium\n');
  process.exit(2);
}

/** Chromium's own protocol over two pipes: messages end with a zero byte. */
class Chromium {
  replies = new Map();
  events = [];
  last = 0;

  constructor(folder) {
    const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const quiet = ['--headless', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
    const args = [...quiet, ...root, `--user-data-dir=${folder}`, '--remote-debugging-pipe', 'about:blank'];
    this.process = spawn(browser, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    let text = '';
    this.process.stdio[4].setEncoding('utf8').on('data', (chunk) => {
      const messages = (text + chunk).split('\0');
      text = messages.pop();
      for (const message of messages.map((one) => JSON.parse(one))) {
        if (message.id === undefined) this.events.push(message);
        else this.replies.get(message.id)?.(message);
      }
    });
  }

  /** Sends one command, in the page once there is one, and gives its result. */
  send(method, params = {}) {
    const id = ++this.last;
    this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: this.session })}\0`);
    return new Promise((resolve, reject) => {
      this.replies.set(id, ({ result, error }) => (error ? reject(new Error(`${method}: ${error.message}`)) : resolve(result)));
    });
  }

  async open(url) {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    this.session = (await this.send('Target.attachToTarget', { targetId, flatten: true })).sessionId;
    for (const domain of ['Page', 'Runtime', 'DOM', 'Network', 'Log']) await this.send(`${domain}.enable`);
    await this.send('Page.navigate', { url });
    await this.until("document.readyState === 'complete' && !!document.getElementById('file')");
  }

  async evaluate(expression) {
    return (await this.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })).result.value;
  }

  async until(expression) {
    for (const end = Date.now() + SECONDS * 1_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 25))) {
      if (await this.evaluate(expression)) return;
    }
    throw new Error(`it never came to ${expression}`);
  }

  async choose(file) {
    const { root } = await this.send('DOM.getDocument');
    const { nodeId } = await this.send('DOM.querySelector', { nodeId: root.nodeId, selector: '#file' });
    await this.evaluate("document.getElementById('result').dataset.done = ''; document.getElementById('result').dataset.json = ''");
    await this.send('DOM.setFileInputFiles', { nodeId, files: [file] });
    await this.until("document.getElementById('result').dataset.done === 'yes'");
    return this.evaluate("document.getElementById('result').dataset.json || document.getElementById('meaning').textContent");
  }

  async picture(file, width, scheme) {
    await this.send('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: false });
    await this.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
    writeFileSync(file, Buffer.from((await this.send('Page.captureScreenshot', { format: 'png' })).data, 'base64'));
  }
}

const folder = mkdtempSync(join(tmpdir(), 'countersign-browser-'));
const chromium = new Chromium(join(folder, 'profile'));
let wrong = 0;
const judge = (name, fits, said) => {
  if (!fits) wrong++;
  process.stdout.write(`${fits ? 'ok   ' : 'WRONG'}  ${name}${fits ? '' : `: ${said}`}\n`);
};

try {
  const page = join(folder, 'verifier.html');
  pack(page);
  await chromium.open(pathToFileURL(page).href);
  const zipped = join(folder, 'valid.jsonl.gz');
  writeFileSync(zipped, gzipSync(readFileSync(join(VECTORS, 'valid.jsonl'))));
  const filesIn = (where) => readdirSync(where).filter((name) => name.endsWith('.jsonl')).map((name) => join(where, name));
  const tampered = values.files ? filesIn(values.files) : [];
  let found = 0;
  for (const file of [...filesIn(VECTORS), zipped, ...tampered]) {
    const wanted = await verify(linesOf(createReadStream(file === zipped ? join(VECTORS, 'valid.jsonl') : file)));
    const said = await chromium.choose(file);
    judge(basename(file), said === JSON.stringify(wanted), said);
    if (tampered.includes(file) && wanted.verdict === 'tampered') found++;
  }
  if (values.files) judge(`finds ${found} of ${tampered.length} sorts of tampering, as Node does`, found >= SORTS, `fewer than ${SORTS}`);
  const asked = chromium.events.filter(({ method }) => method === 'Network.requestWillBeSent').map(({ params }) => params.request.url);
  const abroad = asked.filter((url) => !/^(file|blob|data):/.test(url));
  judge('asks the network for nothing', abroad.length === 0, abroad.join(' '));
  const refused = chromium.events.filter(({ method, params }) => method === 'Log.entryAdded' && params.entry.level === 'error');
  judge('has no error in the console', refused.length === 0, refused.map(({ params }) => params.entry.text).join(' '));
  if (values.pictures) {
    mkdirSync(values.pictures, { recursive: true });
    for (const name of ['valid', 'valid-unanchored', 'edited-and-rehashed', 'chain-removed']) {
      await chromium.choose(join(VECTORS, `${name}.jsonl`));
      for (const [width, scheme] of [[380, 'light'], [380, 'dark'], [1280, 'light'], [1280, 'dark']]) {
        await chromium.picture(join(values.pictures, `${name}-${width}-${scheme}.png`), width, scheme);
      }
    }
  }
} catch (error) {
  judge('the page', false, error.message);
} finally {
  chromium.process.kill();
  await new Promise((resolve) => chromium.process.once('close', resolve));
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
process.stdout.write(`${wrong} wrong\n`);
process.exitCode = wrong === 0 ? 0 : 1;

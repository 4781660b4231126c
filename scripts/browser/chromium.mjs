// Chromium's own protocol over two pipes: messages end with a zero byte. No more of it than the proofs need.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const SECONDS = 60;
const KEYS = { Enter: [13, '\r'], Escape: [27], ArrowUp: [38], ArrowDown: [40], '/': [191, '/'] };

/** The Chromium of this machine, or undefined. */
export const installed = ['chromium', 'chromium-browser', 'google-chrome'].find((name) => spawnSync(name, ['--version']).status === 0);

export class Chromium {
  #replies = new Map();
  #last = 0;
  #folder = mkdtempSync(join(tmpdir(), 'countersign-browser-'));
  /** Events of the browser, of all pages. */
  events = [];

  constructor() {
    const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const quiet = ['--headless', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--hide-scrollbars'];
    const args = [...quiet, ...root, `--user-data-dir=${join(this.#folder, 'profile')}`, '--remote-debugging-pipe', 'about:blank'];
    this.process = spawn(installed, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    let text = '';
    this.process.stdio[4].setEncoding('utf8').on('data', (chunk) => {
      const messages = (text + chunk).split('\0');
      text = messages.pop();
      for (const message of messages.map((one) => JSON.parse(one))) {
        if (message.id === undefined) this.events.push(message);
        else this.#replies.get(message.id)?.(message);
      }
    });
  }

  /** Sends one command and gives its result. */
  send(method, params = {}, sessionId = undefined) {
    const id = ++this.#last;
    this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => {
      this.#replies.set(id, ({ result, error }) => {
        this.#replies.delete(id);
        if (error) reject(new Error(`${method}: ${error.message}`));
        else resolve(result);
      });
    });
  }

  /** A page with cookies of its own: a browser of somebody else's. */
  async page() {
    const { browserContextId } = await this.send('Target.createBrowserContext');
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank', browserContextId });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, sessionId);
    for (const domain of ['Page', 'Runtime', 'DOM', 'Network', 'Log']) await page.send(`${domain}.enable`);
    await page.send('Emulation.setFocusEmulationEnabled', { enabled: true });
    return page;
  }

  async close() {
    this.process.kill();
    if (this.process.exitCode === null) await new Promise((resolve) => this.process.once('close', resolve));
    // Its helpers go a moment after it, and may write until then; `rmSync` tries again only for the folder itself.
    for (let attempt = 1; ; attempt++) {
      try {
        return rmSync(this.#folder, { recursive: true, force: true });
      } catch (error) {
        if (attempt === 50) throw error;
        await pause(100);
      }
    }
  }
}

class Page {
  constructor(chromium, session) {
    this.chromium = chromium;
    this.session = session;
  }

  send(method, params) {
    return this.chromium.send(method, params, this.session);
  }

  events(method) {
    return this.chromium.events.filter((event) => event.sessionId === this.session && event.method === method).map(({ params }) => params);
  }

  /** The addresses of the page's requests, in their order. */
  requestedUrls() {
    return this.events('Network.requestWillBeSent').map(({ request }) => request.url);
  }

  /** What it complains of in its console. */
  errors() {
    const entries = this.events('Log.entryAdded').map(({ entry }) => entry);
    return entries.filter(({ level }) => level === 'error').map(({ text, url = '' }) => `${text} ${url}`);
  }

  async go(url, ready = 'true') {
    await this.leave(() => this.send('Page.navigate', { url }));
    await this.until(`!!(${ready})`);
  }

  /** Does what leads to another document, and waits for that one: until it comes the old one is asked, which may say the same. */
  async leave(act) {
    await this.evaluate('window.isLeft = true');
    await act();
    await this.until("!window.isLeft && document.readyState === 'complete'");
  }

  async evaluate(expression) {
    return (await this.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })).result.value;
  }

  /** Waits for something to be so, and gives it; while the page changes, nothing is. */
  async until(expression) {
    for (const end = Date.now() + SECONDS * 1_000; Date.now() < end; await pause(25)) {
      const value = await this.evaluate(expression).catch(() => undefined);
      if (value) return value;
    }
    const text = await this.evaluate('`${location.href}\\n${document.body.innerText}`');
    throw new Error(`it never came to ${expression}; the page says\n${text}`);
  }

  /** Waits for the page, or one after it, to say this. */
  says(text) {
    return this.until(`document.readyState === 'complete' && document.body.innerText.includes(${JSON.stringify(text)})`);
  }

  /** Clicks with the mouse, as people do: what is hidden or covered cannot be clicked. */
  async click(selector) {
    const [x, y] = await this.until(`(() => {
      const element = document.querySelector(${JSON.stringify(selector)});
      if (element === null) return undefined;
      element.scrollIntoView({ block: 'center' });
      const { left, top, width, height } = element.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    })()`);
    for (const type of ['mousePressed', 'mouseReleased']) {
      await this.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
    }
  }

  async type(selector, text) {
    await this.click(selector);
    await this.evaluate(`document.querySelector(${JSON.stringify(selector)}).select()`);
    await this.send('Input.insertText', { text });
  }

  /** @param whole beyond what fits on the screen, as long as the page is */
  async picture(file, { width, scheme, height = 900, whole = false }) {
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    // What changes slowly would be caught half way.
    const features = [{ name: 'prefers-color-scheme', value: scheme }, { name: 'prefers-reduced-motion', value: 'reduce' }];
    await this.send('Emulation.setEmulatedMedia', { features });
    const beyond = whole ? { captureBeyondViewport: true, ...(await this.#clip(width)) } : {};
    const { data } = await this.send('Page.captureScreenshot', { format: 'png', ...beyond });
    writeFileSync(file, Buffer.from(data, 'base64'));
  }

  /** Presses one key, as people do. */
  async press(key) {
    const [windowsVirtualKeyCode, text] = KEYS[key];
    for (const type of ['keyDown', 'keyUp']) {
      const typed = type === 'keyDown' && text !== undefined ? { text } : {};
      await this.send('Input.dispatchKeyEvent', { type, key, code: key, windowsVirtualKeyCode, ...typed });
    }
  }

  async #clip(width) {
    const { cssContentSize } = await this.send('Page.getLayoutMetrics');
    return { clip: { x: 0, y: 0, width, height: cssContentSize.height, scale: 1 } };
  }
}

/** Makes four pictures of a page, where pictures are wanted: narrow and wide, light and dark. */
export function taker(folder) {
  return async (page, name, { whole = true } = {}) => {
    if (folder === undefined) return;
    for (const [width, scheme] of [[390, 'light'], [390, 'dark'], [1280, 'light'], [1280, 'dark']]) {
      await page.picture(join(folder, `${name}-${width}-${scheme}.png`), { width, scheme, height: 844, whole });
    }
    await page.send('Emulation.clearDeviceMetricsOverride');
  };
}

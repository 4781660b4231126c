// The packed verifier in a browser: every vector is dropped on it, and every export of a tampered log; it must find what Node finds.
import { createReadStream, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { pack } from '../../verifier/pack.mjs';
import { linesOf, verify } from '../../verifier/verify.mjs';

/** Of so many sorts of tampering there must be files at least. */
const SORTS = 50;
const VECTORS = join(import.meta.dirname, '..', '..', 'verifier', 'vectors');

export async function verifierInBrowser(chromium, judge, { files, pictures }) {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-vectors-'));
  try {
    const file = join(folder, 'verifier.html');
    pack(file);
    const page = await chromium.page();
    await page.go(pathToFileURL(file).href, "document.getElementById('file')");
    const zipped = join(folder, 'valid.jsonl.gz');
    writeFileSync(zipped, gzipSync(readFileSync(join(VECTORS, 'valid.jsonl'))));
    const tampered = files ? filesIn(files) : [];
    let found = 0;
    for (const dropped of [...filesIn(VECTORS), zipped, ...tampered]) {
      const wanted = await verify(linesOf(createReadStream(dropped === zipped ? join(VECTORS, 'valid.jsonl') : dropped)));
      const said = await choose(page, dropped);
      judge(basename(dropped), said === JSON.stringify(wanted), said);
      if (tampered.includes(dropped) && wanted.verdict === 'tampered') found++;
    }
    for (const [name, heading, meaning] of SHOWN) {
      await choose(page, join(VECTORS, `${name}.jsonl`));
      const shown = await page.evaluate("['verdict', 'name', 'meaning'].map((id) => document.getElementById(id).textContent)");
      const isSo = shown[0] === heading && shown[1] === `${name}.jsonl` && meaning.test(shown[2]);
      judge(`shows ${name} as ${heading}, by name`, isSo, shown.join(' | '));
    }
    await choose(page, join(VECTORS, 'retired-key.jsonl'));
    const [text] = await page.evaluate("[...document.querySelectorAll('#breaks li span')].map((one) => one.textContent)");
    judge('shows names as they are written', /^countersign-/.test(text), text);
    judge('names a file that was dropped in its picker, too', await drop(page, zipped) === 'valid.jsonl.gz', 'another one, or none');
    if (files) judge(`finds ${found} of ${tampered.length} sorts of tampering, as Node does`, found >= SORTS, `fewer than ${SORTS}`);
    const abroad = page.requestedUrls().filter((url) => !/^(file|blob|data):/.test(url));
    judge('asks the network for nothing', abroad.length === 0, abroad.join(' '));
    judge('has no error in the console', page.errors().length === 0, page.errors().join(' '));
    if (pictures) await picturesOf(page, pictures);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const PART = /of the rest it says nothing/;
const SHOWN = [
  ['valid', 'Valid', /^(?!.*part).*none is missing but what signed sweeps took out/],
  ['valid-agent', 'Valid', PART], ['valid-person', 'Valid', PART],
  ['valid-unanchored', 'Valid so far', /^(?!.*part)/], ['file-cut-off', 'Incomplete', /ends before its end/],
  ['truncated', 'Tampered', /not the log/], ['file-changed', 'Tampered', /not the log/],
];

const filesIn = (folder) => readdirSync(folder).filter((name) => name.endsWith('.jsonl')).map((name) => join(folder, name));

async function choose(page, file) {
  const { root } = await page.send('DOM.getDocument');
  const { nodeId } = await page.send('DOM.querySelector', { nodeId: root.nodeId, selector: '#file' });
  await page.evaluate("document.getElementById('result').dataset.done = ''; document.getElementById('result').dataset.json = ''");
  await page.send('DOM.setFileInputFiles', { nodeId, files: [file] });
  await page.until("document.getElementById('result').dataset.done === 'yes'");
  return page.evaluate("document.getElementById('result').dataset.json || document.getElementById('meaning').textContent");
}

/** Drops a file on the page, as a person does. @returns what the picker then names */
async function drop(page, file) {
  await page.evaluate("document.getElementById('result').dataset.done = ''");
  const [x, y] = await page.evaluate("(({ x, y }) => [x + 9, y + 9])(document.getElementById('drop').getBoundingClientRect())");
  const data = { items: [], files: [file], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop']) await page.send('Input.dispatchDragEvent', { type, x, y, data });
  await page.until("document.getElementById('result').dataset.done === 'yes'");
  return page.evaluate("document.getElementById('file').files[0]?.name");
}

async function picturesOf(page, folder) {
  for (const name of ['valid', 'valid-unanchored', 'edited-and-rehashed', 'chain-removed']) {
    await choose(page, join(VECTORS, `${name}.jsonl`));
    for (const [width, scheme] of [[380, 'light'], [380, 'dark'], [1280, 'light'], [1280, 'dark']]) {
      await page.picture(join(folder, `${name}-${width}-${scheme}.png`), { width, scheme });
    }
  }
}

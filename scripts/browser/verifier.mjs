// The packed verifier in a browser: every vector is dropped on it, and it must find what Node finds.
import { createReadStream, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { pack } from '../../verifier/pack.mjs';
import { linesOf, verify } from '../../verifier/verify.mjs';

const VECTORS = join(import.meta.dirname, '..', '..', 'verifier', 'vectors');

export async function verifierInBrowser(chromium, judge, pictures) {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-vectors-'));
  try {
    const file = join(folder, 'verifier.html');
    pack(file);
    const page = await chromium.page();
    await page.go(pathToFileURL(file).href, "document.getElementById('file')");
    const zipped = join(folder, 'valid.jsonl.gz');
    writeFileSync(zipped, gzipSync(readFileSync(join(VECTORS, 'valid.jsonl'))));
    const vectors = readdirSync(VECTORS).filter((name) => name.endsWith('.jsonl')).map((name) => join(VECTORS, name));
    for (const vector of [...vectors, zipped]) {
      const wanted = JSON.stringify(await verify(linesOf(createReadStream(vector === zipped ? join(VECTORS, 'valid.jsonl') : vector))));
      const said = await choose(page, vector);
      judge(basename(vector), said === wanted, said);
    }
    const abroad = page.asked().filter((url) => !/^(file|blob|data):/.test(url));
    judge('asks the network for nothing', abroad.length === 0, abroad.join(' '));
    judge('has no error in the console', page.errors().length === 0, page.errors().join(' '));
    if (pictures) await picturesOf(page, pictures);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function choose(page, file) {
  const { root } = await page.send('DOM.getDocument');
  const { nodeId } = await page.send('DOM.querySelector', { nodeId: root.nodeId, selector: '#file' });
  await page.evaluate("document.getElementById('result').dataset.done = ''; document.getElementById('result').dataset.json = ''");
  await page.send('DOM.setFileInputFiles', { nodeId, files: [file] });
  await page.until("document.getElementById('result').dataset.done === 'yes'");
  return page.evaluate("document.getElementById('result').dataset.json || document.getElementById('meaning').textContent");
}

async function picturesOf(page, folder) {
  for (const name of ['valid', 'valid-unanchored', 'edited-and-rehashed', 'chain-removed']) {
    await choose(page, join(VECTORS, `${name}.jsonl`));
    for (const [width, scheme] of [[380, 'light'], [380, 'dark'], [1280, 'light'], [1280, 'dark']]) {
      await page.picture(join(folder, `${name}-${width}-${scheme}.png`), { width, scheme });
    }
  }
}

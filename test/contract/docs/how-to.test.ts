import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { GLOSSARY_PATH, HOW_TO_NAMES, HOW_TO_PATH } from '../../../src/platform/http/openapi/guides/guides.js';
import { freePort } from '../../support/servers/server-process.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { asShown, commandsIn, runCommands } from '../../support/proofs/documented-commands.js';
import { partOf } from '../../support/running/whole-form.js';
import { CHECKOUT, type Environment } from '../../support/servers/test-run.js';

const FOLDER = join(CHECKOUT, 'docs/how-to');
const SECTIONS = ['Set up', 'The story', 'What can go wrong'];
const LINES_MAX = 80;
// What shells that take no comments from the keyboard (zsh) would read otherwise than as words: quotes, patterns, brackets.
const REMARK = /^# \d{3}: [A-Za-z0-9 ,;-]+$/;

const textOf = (name: string) => readFileSync(join(FOLDER, `${name}.md`), 'utf8');

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
});
afterAll(() => server?.stop());

// The last one rotates the root key, so the order counts. Three of them are tried with each run.
describe.each(partOf(HOW_TO_NAMES, 4, 2))('docs/how-to/%s.md', (name) => {
  test('runs from the first line to the last, and is answered as it says', async () => {
    const story = commandsIn(textOf(name));
    const script = story.script.replaceAll('4010', String(await freePort()));
    const env: Environment = name === 'rotation' ? { DATABASE_URL: server.database.url } : {};
    const reported = await runCommands(server, story, { script, env });
    try {
      const { code, statuses, output } = reported;
      expect({ code, statuses, output }).toEqual({ code: 0, statuses: story.statuses, output });
      expect(story.answers.length).toBeGreaterThan(0);
      for (const { call, body } of story.answers) expect(reported.answerTo(call)).toEqual(asShown(body));
      expect(reported.left()).toEqual([]);
      if (name === 'verification') expect(output).toMatch(/^found out: 1$/m);
    } finally {
      reported.forget();
    }
  });
});

describe.each(HOW_TO_NAMES)('docs/how-to/%s.md', (name) => {
  const text = textOf(name);

  test('is short, in the parts that all have, and can be typed into any shell', () => {
    expect(text.split('\n').length - 1).toBeLessThanOrEqual(LINES_MAX);
    expect([...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title)).toEqual(SECTIONS);
    const remarks = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(([, block = '']) => block.match(/^\s*#.*$/gm) ?? []);
    expect(remarks.filter((line) => !REMARK.test(line))).toEqual([]);
  });

  test('is a page of the server', async () => {
    const page = await (await fetch(`${server.url}${HOW_TO_PATH}/${name}`)).text();
    for (const section of SECTIONS) expect(page).toContain(`<h2 id="${section.toLowerCase().replaceAll(' ', '-')}">`);
  });
});

test('the index lists the pages that there are, in their order', () => {
  const listed = [...textOf('README').matchAll(/^\d+\. \[.+]\((.+)\.md\)/gm)].map(([, name]) => name);
  expect(listed).toEqual([...HOW_TO_NAMES]);
  expect(readdirSync(FOLDER).sort()).toEqual([...HOW_TO_NAMES, 'README'].map((name) => `${name}.md`).sort());
});

test('each link of the pages leads on, in the checkout and on the server', async () => {
  for (const name of [...HOW_TO_NAMES, 'README']) {
    const targets = [...textOf(name).matchAll(/\]\(([^)#\s]+)/g)].map(([, target = '']) => target);
    expect(targets.filter((target) => !target.startsWith('https:') && !existsSync(join(FOLDER, target)))).toEqual([]);
  }
  const pages = new Map<string, Promise<string>>();
  const pageAt = (path: string) => {
    const asked = pages.get(path) ?? fetch(`${server.url}${path}`).then(async (answer) => (answer.status === 200 ? answer.text() : ''));
    pages.set(path, asked);
    return asked;
  };
  for (const from of [HOW_TO_PATH, GLOSSARY_PATH, ...HOW_TO_NAMES.map((name) => `${HOW_TO_PATH}/${name}`)]) {
    const links = [...(await pageAt(from)).matchAll(/<a [^>]*?href="(\/[^"]*|#[^"]*)"/g)].map(([, href = '']) => href);
    expect(links.length).toBeGreaterThan(5);
    for (const link of links) {
      const { pathname, hash } = new URL(link, `http://docs${from}`);
      const text = await pageAt(pathname);
      expect([from, link, text === '', hash === '' || text.includes(`id="${hash.slice(1)}"`)]).toEqual([from, link, false, true]);
    }
  }
});

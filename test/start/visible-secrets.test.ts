import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { countersign } from '../support/servers/command-line.js';
import { runFolder } from '../support/servers/test-run.js';

const SECRET = `svc_user_${'0123456789abcdef'.repeat(4)}`;

test('a key among the arguments, which every user of the machine sees, is told so; one in a file is not', async () => {
  const given = { COUNTERSIGN_URL: 'http://127.0.0.1:1' };
  const { stderr } = await countersign(['hitl', 'list', '--key', SECRET], given);
  expect(stderr).toMatch(/^countersign hitl list: other users of this machine see --key: give --key-file, COUNTERSIGN_KEY/);
  expect(stderr).not.toContain(SECRET.slice(9, 40));
  const file = join(mkdtempSync(join(runFolder(), 'key-')), 'key');
  writeFileSync(file, `${SECRET}\n`);
  const otherwise = [[['--key-file', file], {}], [[], { COUNTERSIGN_KEY_FILE: file }], [[], { COUNTERSIGN_KEY: SECRET }]] as const;
  for (const [words, env] of otherwise) {
    expect((await countersign(['hitl', 'list', ...words], { ...given, ...env })).stderr).toMatch(/^countersign hitl list: UNREACHABLE/);
  }
});

test('and so is a password in the address of a database', async () => {
  const { stderr } = await countersign(['doctor', '--database-url', 'postgres://me:hidden@127.0.0.1:1/none'], {});
  expect(stderr).toMatch(/^countersign doctor: other users of this machine see the password in --database-url: give DATABASE_URL or/);
  expect(stderr).not.toContain('hidden');
  expect((await countersign(['doctor', '--database-url', 'postgres://me@127.0.0.1:1/none'], {})).stderr).toBe('');
});

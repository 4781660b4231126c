import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../../support/servers/test-run.js';

const FOLDERS = ['docs', 'src', 'deploy', 'demo', 'bin', 'examples', 'sdk/src', 'scripts'];
const FILES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', '.env.example', 'docker-compose.yml', 'Dockerfile'];

test('no text tells anybody to run our command by npx, which asks a registry for a name that is not ours', () => {
  const inFolders = FOLDERS.flatMap((folder) => readdirSync(join(CHECKOUT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.png')).map((entry) => join(entry.parentPath, entry.name)));
  const texts = [...FILES.map((name) => join(CHECKOUT, name)), ...inFolders];
  expect(texts.length).toBeGreaterThan(300);
  expect(texts.filter((path) => /npx (--\S+ )?countersign\b/.test(readFileSync(path, 'utf8')))).toEqual([]);
});

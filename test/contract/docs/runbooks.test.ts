import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAULT_DETAILS } from '../../../src/platform/http/reply/database-faults.js';
import { CHECKOUT } from '../../support/servers/test-run.js';

test('every fault of the database that an answer or the log may name has its runbook, which begins with that sentence', () => {
  const sections = readFileSync(join(CHECKOUT, 'docs/runbooks.md'), 'utf8').split(/^## /m).slice(1)
    .map((section) => ({ name: section.split('\n', 1)[0]!, sentence: /^\*(.+?)\*/m.exec(section)?.[1] }));
  expect(sections).toEqual(expect.arrayContaining(Object.entries(FAULT_DETAILS).map(([name, sentence]) => ({ name, sentence }))));
});

import { expect, test } from '@jest/globals';
import { COPIED, LEFT_OUT } from '../../../src/cli/backup/database/copied-tables.js';
import { createTestDatabase } from '../../support/servers/database.js';

test('every table is in a backup, or left out by its name', async () => {
  const database = await createTestDatabase();
  try {
    const rows = await database.sql<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`);
    expect([...COPIED, ...LEFT_OUT].sort()).toEqual(expect.arrayContaining(rows.map(({ name }) => name).sort()));
    expect(COPIED.filter((name) => LEFT_OUT.includes(name))).toEqual([]);
  } finally {
    await database.drop();
  }
});

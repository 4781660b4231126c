import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { thinOut } from '../../../src/modules/audit/checkpoints/checkpoint.store.js';
import type { TestDatabase } from '../../support/servers/database.js';
import { quietDatabase } from '../../support/log/tree-database.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await quietDatabase();
  // Of two trees, every ten minutes from 08:00 to 09:50; sizes count on.
  await database.sql(`
    insert into audit_checkpoints (organization_id, size, root, note, platform_size, made_at)
    select tree, n, '', '', n, timestamptz '2026-01-05 08:00Z' + n * interval '10 minutes'
    from generate_series(0, 11) n cross join unnest(array['platform', 'org_a']) tree`);
});
afterAll(() => database.drop());

const sizes = async (tree: string) => (await database.sql<{ size: string }>(
  'select size from audit_checkpoints where organization_id = $1 order by size', [tree])).map(({ size }) => Number(size));
const thin = (since: string, limit = 100) =>
  thinOut((sql, parameters) => database.sql(sql, parameters), new Date(since), limit);

test('of an hour each tree keeps its first, its newest of all, and what somebody counts on', async () => {
  await database.sql(`insert into audit_anchors (destination, size) values ('file:/a', 2)`);
  await database.sql(`insert into audit_sweeps (organization_id, id, state, before, cuts, checkpoint, made_at)
    values ('org_a', 'swp_1', 'done', now(), '[]', '{"size":3,"root":"","platformSize":4,"platformRoot":""}', now())`);
  await database.sql(`insert into audit_signing_keys (key_id, verifier_key, from_size) values ('0a0a0a0a', '', 5)
    on conflict do nothing`);
  expect(await thin('2026-01-05T08:00:00Z')).toBe(5);
  expect(await sizes('platform')).toEqual([0, 2, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect(await sizes('org_a')).toEqual([0, 3, 5, 6, 7, 8, 9, 10, 11]);
  expect(await thin('2026-01-05T09:00:00Z', 3)).toBe(3);
  expect(await thin('2026-01-05T09:00:00Z')).toBe(5);
  expect(await sizes('platform')).toEqual([0, 2, 4, 5, 6, 11]);
  expect(await sizes('org_a')).toEqual([0, 3, 5, 6, 11]);
});

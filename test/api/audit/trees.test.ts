import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { openCheckpoint, originOf, PLATFORM_TREE } from '../../../src/domain/audit/notes/checkpoint.js';
import { readVerifierKey } from '../../../src/domain/audit/notes/note.js';
import { entryLeaf } from '../../../src/domain/audit/tree/tree-leaf.js';
import { checkInclusion } from '../../../src/domain/audit/tree/tree-proofs.js';
import { hashText, leafHash, readHash } from '../../../src/domain/audit/tree/rfc6962.js';
import { mapRoot, keyedLeaf } from '../../../src/domain/audit/tree/organization-map.js';
import { instanceName, verifierKeys } from '../../../src/modules/audit/checkpoints/checkpoint.query.js';
import { inclusionOf } from '../../../src/modules/audit/proofs/proof.query.js';
import { leavesOf, platformRunsOf } from '../../../src/modules/audit/checkpoints/tree-reader.query.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { naiveRoot } from '../../support/memory/memory-tree.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { newestCheckpoints } from '../../support/log/tree-database.js';

let server: TestServer;
let agent: BuiltAgent;
let reader: pg.Client;
const run = async (sql: string, parameters: readonly unknown[]) => (await reader.query<object>(sql, [...parameters])).rows;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  reader = new pg.Client({ connectionString: server.database.url });
  await reader.connect();
  agent = await anAgent(server).granted('web.search').create();
  for (let i = 0; i < 5; i++) (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { i } })).expect(200);
});
afterAll(async () => {
  await reader.end();
  await server.stop();
});

/** Waits until everything that was written is under a signed checkpoint. */
async function signed(): Promise<void> {
  await eventually(async () => {
    const [row] = await server.sql<{ missing: string }>(`
      select (select count(*) from audit_entries) - (select sum(newest) from (
        select max(size) newest from audit_checkpoints where organization_id <> 'platform' group by organization_id) signed) as missing`);
    expect(row!.missing).toBe('0');
  });
}

test('every entry comes into its tree, every head into the map, and all are signed', async () => {
  await signed();
  expect(await server.sql('select * from audit_tree_queue')).toEqual([]);
  const instance = await instanceName(run);
  const keys = (await verifierKeys(run)).map(({ key }) => readVerifierKey(key)!);
  expect(keys).toHaveLength(1);
  const checkpoints = await newestCheckpoints(run);
  for (const { organizationId, note, size, root } of checkpoints) {
    expect(openCheckpoint(note, keys, originOf(instance, organizationId))).toMatchObject({ checkpoint: { size, root } });
  }
  const organizations = checkpoints.filter(({ organizationId }) => organizationId !== PLATFORM_TREE);
  for (const { organizationId, size, root } of organizations) {
    const leaves: Uint8Array[] = [];
    for await (const batch of leavesOf(run, organizationId)) leaves.push(...batch.map((leaf) => leafHash(entryLeaf(leaf))));
    expect(leaves).toHaveLength(size);
    expect(hashText(naiveRoot(leaves))).toBe(root);
    for (const [index, leaf] of leaves.entries()) {
      const proof = (await inclusionOf(run, organizationId, index, size)).map((hash) => readHash(hash)!);
      expect(checkInclusion(leaf, index, size, proof, readHash(root)!)).toBe(true);
    }
  }
  const heads = organizations.map(({ organizationId: organization, size, root }) => keyedLeaf({ organization, size, root }));
  const platform: { map: string; timestamp: string }[] = [];
  for await (const { texts } of platformRunsOf(run)) {
    platform.push(...texts.map((text) => JSON.parse(text) as { map: string; timestamp: string }));
  }
  expect(platform.at(-1)!.map).toBe(hashText(mapRoot(heads)));
});

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openCheckpoint } from '../../../src/domain/audit/notes/checkpoint.js';
import { readVerifierKey } from '../../../src/domain/audit/notes/note.js';
import { entryLeaf, platformLeaf } from '../../../src/domain/audit/tree/tree-leaf.js';
import { mapRootOver } from '../../support/memory/map-root-over.js';
import { keyedLeaf } from '../../../src/domain/audit/tree/organization-map.js';
import { checkInclusion } from '../../../src/domain/audit/tree/tree-proofs.js';
import { hashText, leafHash, readHash } from '../../../src/domain/audit/tree/rfc6962.js';
import { anonymous, asRoot, asAgent } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { aPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

interface Path {
  readonly level: string;
  readonly index: number;
  readonly size: number;
  readonly hashes: readonly string[];
}

interface MapPath {
  readonly level: string;
  readonly siblings: readonly (readonly [number, string])[];
  readonly timestamp: string;
}

interface Proof {
  readonly agentId?: string;
  readonly capability?: string;
  readonly payload: string;
  readonly prevHash?: string;
  readonly hash: string;
  readonly chain: string;
  readonly seq: number;
  readonly disclosures: readonly unknown[];
  readonly inclusion: readonly [Path, MapPath, Path];
  readonly checkpoint: { readonly organization: string; readonly platform: string };
}

let server: TestServer;
let agent: BuiltAgent;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  agent = await anAgent(server).granted('web.search').create();
  // Other organizations, so that the map has more than one place.
  for (const name of ['north', 'south', 'east']) (await asRoot(server).post('/api/v1/organizations', { name })).expect(201);
});
afterAll(() => server.stop());

const execute = async () => (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { q: 'steel' } })).expect(200);

const idsOf = async () => (await auditOf(server, agent.id)).map(({ id }) => id);

/** The proof, once a checkpoint covers the entry. */
const proven = (id: string): Promise<Proof> => eventually(
  async () => (await asRoot(server).get(`/api/v1/audit/${id}/proof`)).expect(200).body as Proof, { every: 100 });

const keys = async () => (await anonymous(server).get('/api/v1/audit/keys')).expect(200).list('keys') as string[];

test('the proof of every entry leads to a signed checkpoint, by our own checks', async () => {
  for (let i = 0; i < 3; i++) await execute();
  // The key is there with the first signature.
  await proven((await idsOf())[0]!);
  const known = (await keys()).map((key) => readVerifierKey(key)!);
  for (const id of await idsOf()) {
    const { inclusion: [organization, map, platform], ...proof } = await proven(id);
    const { organizationId } = JSON.parse(proof.payload) as { organizationId: string };
    const [instance] = known[0]!.text.split('+');
    const own = openCheckpoint(proof.checkpoint.organization, known, `${instance}/${organizationId}`);
    const above = openCheckpoint(proof.checkpoint.platform, known, `${instance}/platform`);
    if (!('checkpoint' in own) || !('checkpoint' in above)) throw new Error(JSON.stringify([own, above]));
    const { size, root } = own.checkpoint;
    const bytes = (hashes: readonly string[]) => hashes.map((hash) => readHash(hash)!);
    expect([organization.size, platform.size]).toEqual([size, above.checkpoint.size]);
    expect(checkInclusion(leafHash(entryLeaf(proof)), organization.index, size, bytes(organization.hashes), readHash(root)!)).toBe(true);
    // Whose root the map has is what the platform's leaf says; the map's root follows from the path.
    const { map: mapRoot } = await leafOf(map.timestamp, platform);
    const siblings = map.siblings.map(([depth, hash]) => [depth, readHash(hash)!] as const);
    expect(hashText(mapRootOver(keyedLeaf({ organization: organizationId, size, root }), siblings))).toBe(mapRoot);
    const leaf = leafHash(platformLeaf({ map: mapRoot, timestamp: map.timestamp }));
    expect(checkInclusion(leaf, platform.index, platform.size, bytes(platform.hashes), readHash(above.checkpoint.root)!)).toBe(true);
  }
});

/** The platform's leaf, past the server: its timestamp is in the proof, its map's root follows from it. */
async function leafOf(timestamp: string, { index }: Path): Promise<{ map: string }> {
  const [row] = await server.sql<{ size: string; data: string[] }>(
    `select size, tail_data as data from audit_trees where organization_id = 'platform'`);
  const leaf = JSON.parse(row!.data[index]!) as { map: string; timestamp: string };
  expect(leaf.timestamp).toBe(timestamp);
  return leaf;
}

describe('walked by hand', () => {
  const sha = (...parts: readonly (Uint8Array | string)[]) => {
    const digest = createHash('sha256');
    for (const part of parts) digest.update(part);
    return digest.digest();
  };
  const leaf = (text: string) => sha(Buffer.of(0), text);
  const node = (left: Uint8Array, right: Uint8Array) => sha(Buffer.of(1), left, right);

  /** Root of a tree by the definition of its shape: split at the largest power of two below its size. */
  function rootBy(hash: Buffer, index: number, size: number, path: Buffer[]): Buffer {
    if (size === 1) return hash;
    let split = 1;
    while (split * 2 < size) split *= 2;
    const beside = path.pop()!;
    if (index < split) return node(rootBy(hash, index, split, path), beside);
    return node(beside, rootBy(hash, index - split, size - split, path));
  }

  const upTree = (hash: Buffer, { index, size, hashes }: Path) =>
    rootBy(hash, index, size, hashes.map((one) => Buffer.from(one, 'base64')));
  const rootIn = (note: string) => Buffer.from(note.split('\n')[2]!, 'base64');

  test('the hash follows from the members, the roots from the hashes', async () => {
    await execute();
    const id = (await idsOf()).at(-1)!;
    const { payload, agentId, capability, prevHash, hash, chain, seq, inclusion, checkpoint } = await proven(id);
    const [organization, map, platform] = inclusion;
    const member = (name: string, value?: string) => (value === undefined ? '' : `"${name}":"${value}",`);
    const preimage = `{${member('agentId', agentId)}${member('capability', capability)}"payload":${payload},"prevHash":"${prevHash}"}`;
    expect(sha(preimage).toString('hex')).toBe(hash);
    expect(upTree(leaf(`{"chain":"${chain}","hash":"${hash}","seq":${seq}}`), organization)).toEqual(rootIn(checkpoint.organization));
    const { organizationId } = JSON.parse(payload) as { organizationId: string };
    const place = sha(organizationId);
    const root = rootIn(checkpoint.organization).toString('base64');
    let found = leaf(`{"organization":"${organizationId}","root":"${root}","size":${organization.size}}`);
    const beside = new Map(map.siblings.map(([depth, sibling]) => [depth, Buffer.from(sibling, 'base64')]));
    for (let depth = 255; depth >= 0; depth--) {
      const other = beside.get(depth) ?? Buffer.alloc(32);
      found = (place[depth >> 3]! >> (7 - (depth % 8))) & 1 ? node(other, found) : node(found, other);
    }
    const above = leaf(`{"map":"${found.toString('base64')}","timestamp":"${map.timestamp}"}`);
    expect(upTree(above, platform)).toEqual(rootIn(checkpoint.platform));
    expect(beside.size).toBeGreaterThan(0);
  });
});

describe('who may have what proven', () => {
  test('an entry of another organization is as absent as one that never was', async () => {
    const [id] = await idsOf();
    const absent = (await asRoot(server).get(`/api/v1/audit/audit_${'0'.repeat(36)}/proof`)).expect(404).body;
    const listed = (await asRoot(server).get('/api/v1/organizations')).expect(200).list('organizations');
    const elsewhere = listed as { id: string; name: string }[];
    const { client } = await aPerson(server, 'admin', { organizationId: elsewhere.find(({ name }) => name === 'north')!.id });
    const foreign = (await client.get(`/api/v1/audit/${id}/proof`)).expect(404);
    expect(foreign.at('detail')).toBe((absent as { detail: string }).detail);
  });

  test('nobody without a credential, no agent; a member what is about them', async () => {
    const [id] = await idsOf();
    (await anonymous(server).get(`/api/v1/audit/${id}/proof`)).expect(401);
    (await asAgent(server, agent.token).get(`/api/v1/audit/${id}/proof`)).expect(403);
    const member = await aPerson(server, 'member');
    (await member.client.get(`/api/v1/audit/${id}/proof`)).expect(404);
    (await member.client.post(`/api/v1/users/${member.id}/keys`, { name: 'second' })).expect(201);
    const own = (await member.client.get('/api/v1/audit')).expect(200).list('entries') as { id: string }[];
    await proven(own[0]!.id);
    (await member.client.get(`/api/v1/audit/${own[0]!.id}/proof`)).expect(200);
  });
});

test('an entry that no checkpoint covers yet is not proven: 409, and when to ask again', async () => {
  const slow = await startServer({ replicaOf: server, env: { AUDIT_CHECKPOINT_SECONDS: '600' } });
  try {
    await server.kill();
    const late = await anAgent(slow).create();
    const [entry] = await auditOf(slow, late.id);
    const refused = (await asRoot(slow).get(`/api/v1/audit/${entry!.id}/proof`)).expect(409);
    expect([refused.at('code'), refused.headers.get('retry-after')]).toEqual(['CONFLICT', '600']);
    await server.restart();
  } finally {
    await slow.stop();
  }
});

test('anybody reads the platform\'s checkpoints, newest first, page by page, and nothing of any organization', async () => {
  await eventually(async () => {
    await execute();
    const found = (await anonymous(server).get('/api/v1/audit/checkpoints')).expect(200).list('checkpoints');
    expect(found.length).toBeGreaterThan(2);
  }, { every: 200 });
  const sizes: number[] = [];
  for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages++) {
    const query = { limit: 1, ...(cursor ? { cursor } : {}) };
    const page = (await anonymous(server).get('/api/v1/audit/checkpoints', { query })).expect(200);
    const [one] = page.list('checkpoints') as { origin: string; size: number; note: string }[];
    expect(one!.origin).toMatch(/^countersign-[0-9a-f]{12}\/platform$/);
    expect(one!.note.startsWith(`${one!.origin}\n${one!.size}\n`)).toBe(true);
    sizes.push(one!.size);
    cursor = (page.body as { nextCursor?: string }).nextCursor;
  }
  expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
  expect(new Set(sizes).size).toBe(sizes.length);
  expect(JSON.stringify(await keys())).toMatch(/^\["countersign-[0-9a-f]{12}\+[0-9a-f]{8}\+/);
});

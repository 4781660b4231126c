import { expect, it } from '@jest/globals';
import { checkpoint, append, type MemoryLog } from '../../../../../test/support/memory/memory-log.js';
import { exportSourceOf } from '../../../../../test/support/memory/memory-export.js';
import { organizationChain } from '../../entry/chain.js';
import { logLines } from '../log-lines.js';
import { sealed } from '../sealed-export.js';
import { signingKey, verifierKey } from '../../notes/note.js';
import { verifyLines } from './verify-lines.js';

const SEED = Buffer.alloc(32, 1).toString('base64');
const KEY = signingKey('countersign-test', SEED);
const ORGANIZATIONS = Array.from({ length: 9 }, (_, n) => `org_${n}`);

async function signed(): Promise<MemoryLog> {
  const log: MemoryLog = { entries: [], heads: [], leaves: [] };
  for (const [n, organization] of ORGANIZATIONS.entries()) {
    append(log, { chain: organizationChain(organization), type: 'auth.login', metadata: { method: 'password' } },
      { id: `audit_${n}`, actorId: 'usr_ada', timestamp: new Date(1_795_000_000_000 + n) });
  }
  await checkpoint(log, KEY);
  return log;
}

async function found(log: MemoryLog) {
  const source = exportSourceOf(log, KEY, { keys: [{ key: verifierKey('countersign-test', SEED) }] });
  const lines = async function* () {
    for await (const text of sealed(logLines(source, { organizations: ORGANIZATIONS, all: true }, '2026-11-23T00:00:00.000Z'), KEY)) {
      yield Buffer.from(text.slice(0, -1));
    }
  };
  const { breaks } = await verifyLines(lines());
  return breaks.map(({ chain, detail }) => `${chain}: ${detail}`);
}

it('a file of everything that is as it was written names nothing', async () => {
  expect(await found(await signed())).toEqual([]);
});

it('names the organization whose leaf is another in the map that is stored, not only those beside whose paths it is shown', async () => {
  const log = await signed();
  const { nodes } = log.trees!.map;
  const [name, leaf] = [...nodes].find(([, { head }]) => head?.organization === 'org_4')!;
  nodes.set(name, { ...leaf, hash: Buffer.alloc(32, 9) });
  const named = await found(log);
  expect(named.length).toBeGreaterThan(1);
  expect(named).toContainEqual(expect.stringMatching(/^org_4: the tree of org_4 is not, beside the path of org_\d in the map/));
  expect(named.filter((one) => one.includes('is not, beside')).every((one) => one.startsWith('org_4: '))).toBe(true);
});

it('names over how many organizations a stored node is another', async () => {
  const log = await signed();
  const { nodes } = log.trees!.map;
  for (const [name, node] of [...nodes].filter(([, { depth }]) => depth === 1)) nodes.set(name, { ...node, hash: Buffer.alloc(32, 9) });
  expect(await found(log)).toContainEqual(expect.stringMatching(/^platform: .* has a node over \d organizations that is not/));
});

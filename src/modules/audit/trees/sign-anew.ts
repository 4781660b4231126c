import { PLATFORM_TREE } from '../../../domain/audit/checkpoint.js';
import type { RunStatement } from '../../../platform/auth/credential-source.js';
import { withTakenLead } from '../../../platform/database/taken-lead.js';
import { makeCheckpoints } from './checkpoint-round.js';
import { forgetMap } from './checkpoint.store.js';
import { KnownTrees, LogRewritten } from './known-trees.js';
import { mapHeads } from './map.query.js';
import { reading } from './reading.js';
import { assertSigns, liveKey, signerOf } from './signer.js';
import { treeHeads } from './tree-reader.query.js';

/**
 * Everything in the database that does not continue what this key has signed; nothing where another key signs, which has to tell.
 *
 * @param seed base64 of the 32 bytes of the Ed25519 key
 */
export async function rewrittenTrees(run: RunStatement, seed: string): Promise<LogRewritten[]> {
  const found = new Map<string, LogRewritten>();
  const unlessRewritten = <Read>(read: Promise<Read>): Promise<Read | undefined> => read.catch((error: unknown) => {
    if (!(error instanceof LogRewritten)) throw error;
    // One map is that of all of them.
    found.set(error.tree, error);
    return undefined;
  });
  const signer = await signerOf(run, seed);
  if ((await liveKey(run))?.verifierKey !== signer.verifierKey) return [];
  const trees = await unlessRewritten(KnownTrees.asSigned(run, signer));
  if (trees) for (const name of await everyTree(run)) await unlessRewritten(trees.of(run, name));
  return [...found.values()];
}

/** Also of organizations of whose tree, or of whose place in the map, nothing is left. */
async function everyTree(run: RunStatement): Promise<Set<string>> {
  const names = new Set((await treeHeads(reading(run))).map(({ tree }) => tree));
  for (const { organization } of await mapHeads(reading(run))) names.add(organization);
  names.delete(PLATFORM_TREE);
  return names;
}

/**
 * Signs the log as it stands, whatever was signed before: for an operator who has given that up. What others remember of it, anchors
 * and whoever keeps checkpoints, goes on to contradict.
 *
 * @param url of the database, past a pooler
 */
export async function signAnew(url: string, seed: string): Promise<void> {
  await withTakenLead(url, (lead) => lead.transact(async (run) => {
    const signer = await signerOf(run, seed);
    await assertSigns(run, signer);
    await forgetMap(run);
    await makeCheckpoints(run, { instance: signer.instance, keys: [signer.key], trees: KnownTrees.unproven(), organizations: null });
  }));
}

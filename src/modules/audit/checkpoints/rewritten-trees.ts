import { PLATFORM_TREE } from '../../../domain/audit/notes/checkpoint.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { OtherKey, otherKey, signerOf } from '../keys/signer.js';
import { mapHeads } from './map.query.js';
import { LogRewritten, SignedState } from './signed-state.js';
import { treeHeads } from './tree-reader.query.js';

/**
 * Everything in the database that does not continue what this key has signed. Nothing where another key signs for which this key has
 * vouched: what that one has signed only its owner knows.
 */
export async function rewrittenTrees(run: RunStatement, seed: string): Promise<LogRewritten[]> {
  const found = new Map<string, LogRewritten>();
  const collect = <Read>(read: Promise<Read>): Promise<Read | undefined> => read.catch((error: unknown) => {
    if (!(error instanceof LogRewritten)) throw error;
    // Every organization is looked up in the one map, so that a rewritten map is found for each of them.
    found.set(error.tree, error);
    return undefined;
  });
  const signer = await signerOf(run, seed);
  const other = await otherKey(run, signer);
  if (other?.isVouchedFor) return [];
  if (other) found.set(PLATFORM_TREE, new LogRewritten(PLATFORM_TREE));
  const signed = await collect(SignedState.asSigned(run, signer));
  if (signed) for (const organization of await everyOrganization(run)) await collect(signed.of(run, organization));
  return [...found.values()];
}

/** Also the organizations of which no tree, or no leaf of the map, is left. */
async function everyOrganization(run: RunStatement): Promise<Set<string>> {
  const names = new Set((await treeHeads(run)).map(({ tree }) => tree));
  for (const { organization } of await mapHeads(run)) names.add(organization);
  names.delete(PLATFORM_TREE);
  return names;
}

/** The message of an error that shows a rewritten database; undefined for every other error. */
export function rewrittenMessage(error: unknown): string | undefined {
  if (error instanceof LogRewritten) return error.message;
  if (!(error instanceof OtherKey) || error.isVouchedFor) return undefined;
  const { keyId, ownId } = error;
  return `The database says that key ${keyId} signs the audit log now, and this installation's key ${ownId} (AUDIT_SIGNING_KEY) `
    + 'has not vouched for it: the audit log was rewritten in the database.';
}

/** The message to operators about a rewritten database. */
export const rewrittenText = (message: string): string =>
  `${message} Put the right database, or a backup, back; what a backup misses is accepted by \`countersign recover --accept-loss\`.`;

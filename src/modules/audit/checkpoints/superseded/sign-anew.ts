import { PLATFORM_TREE } from '../../../../domain/audit/notes/checkpoint.js';
import type { OrganizationHead } from '../../../../domain/audit/tree/organization-map.js';
import { hashText } from '../../../../domain/audit/tree/rfc6962.js';
import type { RunStatement } from '../../../../platform/auth/credentials/credential-source.js';
import { StartRefused } from '../../../../platform/config/start-refused.js';
import { withClaimedLeadership } from '../../../../platform/database/leadership/claimed-leadership.js';
import { signHeads } from '../sign-checkpoints.js';
import { forgetMap } from '../checkpoint.store.js';
import { isOrganization, SignedState, LogRewritten, storedTree } from '../signed-state.js';
import { mapHeads } from '../map.query.js';
import { readStatementOf } from '../read-statement.js';
import { assertSigns, otherKey, signerOf } from '../../keys/signer.js';
import { takeBack } from './take-back.js';
import { treeHeads } from '../tree-reader.query.js';

/**
 * Everything in the database that does not continue what this key has signed; nothing where another key signs for which it has vouched:
 * that one has to tell.
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
  const other = await otherKey(run, signer);
  if (other?.isVouchedFor) return [];
  if (other) found.set(PLATFORM_TREE, new LogRewritten(PLATFORM_TREE));
  const trees = await unlessRewritten(SignedState.asSigned(run, signer));
  if (trees) for (const name of await everyTree(run)) await unlessRewritten(trees.of(run, name));
  return [...found.values()];
}

/** Also of organizations of whose tree, or of whose place in the map, nothing is left. */
async function everyTree(run: RunStatement): Promise<Set<string>> {
  const names = new Set((await treeHeads(readStatementOf(run))).map(({ tree }) => tree));
  for (const { organization } of await mapHeads(readStatementOf(run))) names.add(organization);
  names.delete(PLATFORM_TREE);
  return names;
}

/**
 * Signs these trees as they stand, whatever was signed of them before: for an operator who has given that up. All others must be as they
 * were signed: whoever rewrote one may rewrite another while the first is given up. Where nothing tells how they were, since the map or the
 * platform's tree is given up, all are signed as they stand. What others remember, anchors and whoever keeps checkpoints, goes on to
 * contradict.
 *
 * @param url of the database, past a pooler
 * @param givenUp as `rewrittenTrees` names them
 * @throws StartRefused where another tree was rewritten, too
 */
export async function signAnew(url: string, seed: string, givenUp: readonly string[]): Promise<void> {
  await withClaimedLeadership(url, (lead) => lead.transact(async (run) => {
    const signer = await signerOf(run, seed);
    await takeBack(run, signer);
    await assertSigns(run, signer);
    const isAllGivenUp = givenUp.includes(PLATFORM_TREE) || givenUp.includes('map');
    const known = isAllGivenUp ? SignedState.unproven() : await SignedState.asSigned(run, signer);
    const heads = await headsAnew(run, known, new Set(givenUp));
    await forgetMap(run);
    await signHeads(run, { instance: signer.instance, keys: [signer.key], trees: known.withoutMap() }, heads);
  })).catch((error: unknown) => {
    if (!(error instanceof LogRewritten)) throw error;
    throw new StartRefused(`${error.message} That was not so when it was looked at: run this again, and see what would be given up`);
  });
}

async function headsAnew(run: RunStatement, known: SignedState, givenUp: ReadonlySet<string>): Promise<OrganizationHead[]> {
  const heads: OrganizationHead[] = [];
  for (const organization of await everyTree(run)) {
    const isGivenUp = givenUp.has(organization) && isOrganization(organization);
    const { size, root } = isGivenUp ? await storedTree(run, organization) : await known.of(run, organization);
    if (size > 0) heads.push({ organization, size, root: hashText(root) });
  }
  return heads;
}

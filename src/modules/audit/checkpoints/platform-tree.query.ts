import { PLATFORM_TREE } from '../../../domain/audit/notes/checkpoint.js';
import { rangeOf } from '../../../domain/audit/tree/tree-proofs.js';
import { rootOf } from '../../../domain/audit/tree/compact-range.js';
import { hashText } from '../../../domain/audit/tree/rfc6962.js';
import type { OurTree } from '../../../platform/audit/anchor.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { newestCheckpoint } from './checkpoint.query.js';
import { consistencyOf } from '../proofs/proof.query.js';
import { readerOf } from './tree-reader.query.js';

/** The platform's tree as anchors are shown it; undefined while nothing of it is signed. */
export async function ourTree(run: ReadStatement): Promise<OurTree | undefined> {
  const newest = await newestCheckpoint(run);
  if (!newest) return undefined;
  const { size, root, note } = newest;
  return { newest: { size, root, note }, prove: (from) => consistencyOf(run, PLATFORM_TREE, from, size) };
}

/** The root that our tree had when it had so many leaves; it has at least as many now. */
export async function rootAt(run: ReadStatement, size: number): Promise<string> {
  return hashText(rootOf(await rangeOf(readerOf(run, PLATFORM_TREE, size), size)));
}

import { openCheckpoint, originOf, PLATFORM_TREE, type StoredCheckpoint } from '../../../domain/audit/notes/checkpoint.js';
import { readVerifierKey } from '../../../domain/audit/notes/note.js';
import { GrowingTree } from '../../../domain/audit/tree/growing-tree.js';
import {
  EMPTY_SUBTREE, mapLeaf, mapKeyOf, mapRoot, keyedLeaf, type OrganizationHead,
} from '../../../domain/audit/tree/organization-map.js';
import { checkConsistency, checkInclusion, consistencyProof, inclusionProof, rangeOf } from '../../../domain/audit/tree/tree-proofs.js';
import { EMPTY_ROOT, hashText, leafHash, readHash, sameHash } from '../../../domain/audit/tree/rfc6962.js';
import { lookUp } from '../../../domain/audit/tree/stored-map-nodes.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { newestCheckpoint } from './checkpoint.query.js';
import { mapHeadAt, mapHeads, mapSourceOf } from './map.query.js';
import type { Signer } from '../keys/signer.js';
import { platformLeafAt, readerOf, treeHead } from './tree-reader.query.js';

/** Edges of trees that are kept in memory, of some 2 KB each. */
const KEPT_TREES = 4_096;

/** Nothing else is signed as an organization's tree: it might pass for another word of the key, or for the platform's tree. */
const isOrganization = (tree: string): boolean => /^org_\w+$/.test(tree);

/** What was signed last: the platform's tree, and the map that its newest leaf stands for. */
export interface Signed {
  readonly platform: GrowingTree;
  readonly map: Uint8Array;
}

/** What stands in the database does not continue what this installation has signed: somebody has rewritten it. */
export class LogRewritten extends Error {
  override readonly name = 'LogRewritten';

  /** @param tree an organization's id, `platform`, or `map` for the heads of all organizations */
  constructor(readonly tree: string) {
    super(`${NAMES.get(tree) ?? `The tree of the organization ${tree}`} is not the one that this installation has signed: `
      + 'the audit log was rewritten in the database.');
  }
}

const NAMES = new Map([[PLATFORM_TREE, "The platform's tree"], ['map', 'The map of the organizations']]);

/**
 * The trees as whoever integrates and signs knows them. A signature vouches for everything before it, so that nothing of what the database
 * holds is believed for having been there: the platform's tree is proven by the newest signature, the map by that tree's newest leaf,
 * and an organization's tree by its head in that map. From there on the tree is known, and not proven again.
 */
export class SignedState {
  /** Right edges as they were committed, those used last at the end. */
  private readonly edges = new Map<string, GrowingTree>();

  private constructor(private signed: Signed | undefined) {}

  /** Believes what is stored, whoever wrote it: for tests and benchmarks, which write trees past the service. */
  static unproven(): SignedState {
    return new SignedState(undefined);
  }

  /**
   * Believes what its own key has signed.
   *
   * @throws LogRewritten where the platform's tree or the map is not what the newest checkpoint says
   */
  static async asSigned(run: RunStatement, signer: Signer): Promise<SignedState> {
    return new SignedState(await lastSigned(run, signer));
  }

  /** The platform's tree, to be grown on its own. */
  async platform(run: RunStatement): Promise<GrowingTree> {
    return this.signed?.platform.copy() ?? storedTree(run, PLATFORM_TREE);
  }

  /**
   * The right edge of an organization's tree, as far as it was committed.
   *
   * @throws LogRewritten where it does not continue the one that was signed, and for what is no organization's id
   */
  async of(run: RunStatement, organizationId: string): Promise<GrowingTree> {
    if (!isOrganization(organizationId)) throw new LogRewritten(organizationId);
    const known = this.edges.get(organizationId) ?? (await this.read(run, organizationId));
    this.keep(organizationId, known);
    return known;
  }

  /** To be called once it is committed. */
  keep(organizationId: string, tree: GrowingTree): void {
    this.edges.delete(organizationId);
    this.edges.set(organizationId, tree);
    if (this.edges.size > KEPT_TREES) this.edges.delete(this.edges.keys().next().value!);
  }

  /** To be called once the signatures are committed. */
  adopt(signed: Signed): void {
    if (this.signed) this.signed = signed;
  }

  /** Forgets the edges; they are read, and proven, again. */
  forget(): void {
    this.edges.clear();
  }

  /** @throws LogRewritten where the map that was read is not the one that was signed */
  assertMap(read: Uint8Array): void {
    if (this.signed && !sameHash(read, this.signed.map)) throw new LogRewritten('map');
  }

  private async read(run: RunStatement, organizationId: string): Promise<GrowingTree> {
    if (!this.signed) return storedTree(run, organizationId);
    const { size, root } = await this.signedHead(run, organizationId);
    return whole(new LogRewritten(organizationId), async () => {
      const tree = await storedTree(run, organizationId);
      if (size > tree.size) return undefined;
      const proof = await consistencyProof(readerOf(run, organizationId, tree.size), size, tree.size);
      return checkConsistency(size, tree.size, root, tree.root, proof) ? tree : undefined;
    });
  }

  /** What was signed of an organization last. That nothing was is proven too; then all that is stored is new, and believed as such. */
  private async signedHead(run: RunStatement, organizationId: string): Promise<{ size: number; root: Uint8Array }> {
    const { leaf, root } = await lookUp(mapSourceOf(run), mapKeyOf(organizationId));
    this.assertMap(root);
    if (!leaf) return { size: 0, root: EMPTY_ROOT };
    const row = await mapHeadAt(run, mapKeyOf(organizationId));
    const head = row && { ...row, organization: organizationId };
    const named = head && readHash(head.root);
    if (!named || !sameHash(mapLeaf(head), leaf)) throw new LogRewritten('map');
    return { size: head.size, root: named };
  }
}

/** A tree's right edge as the database has it. */
async function storedTree(run: RunStatement, tree: string): Promise<GrowingTree> {
  const head = await treeHead(run, tree);
  return head ? new GrowingTree(await rangeOf(readerOf(run, tree, head.size), head.size)) : new GrowingTree();
}

/** The heads of all organizations, if they are those that the map with this root is made of. @throws LogRewritten */
export async function headsUnder(run: RunStatement, map: Uint8Array): Promise<OrganizationHead[]> {
  const heads = await mapHeads(run);
  if (!sameHash(mapRoot(heads.map(keyedLeaf)), map)) throw new LogRewritten('map');
  return heads;
}

async function lastSigned(run: RunStatement, signer: Signer): Promise<Signed> {
  const newest = await newestCheckpoint(run);
  const platform = await whole(new LogRewritten(PLATFORM_TREE), async () => {
    const tree = await storedTree(run, PLATFORM_TREE);
    // Whether there ever was one is for the anchors to say.
    if (!newest && tree.size === 0) return tree;
    const isSigned = newest && isOurs(newest, signer) && newest.size === tree.size && newest.root === hashText(tree.root);
    return isSigned ? tree : undefined;
  });
  return { platform, map: platform.size === 0 ? EMPTY_SUBTREE : await newestMap(run, platform) };
}

/** Of a row nothing counts but what is signed. */
function isOurs({ note, size, root }: StoredCheckpoint, { instance, verifierKey }: Signer): boolean {
  const opened = openCheckpoint(note, [readVerifierKey(verifierKey)!], originOf(instance, PLATFORM_TREE));
  return 'checkpoint' in opened && opened.checkpoint.size === size && opened.checkpoint.root === root;
}

async function newestMap(run: RunStatement, { size, root }: GrowingTree): Promise<Uint8Array> {
  const data = await whole(new LogRewritten(PLATFORM_TREE), async () => {
    const leaf = await platformLeafAt(run, size - 1);
    const proof = await inclusionProof(readerOf(run, PLATFORM_TREE, size), size - 1, size);
    return checkInclusion(leafHash(leaf), size - 1, size, proof, root) ? leaf : undefined;
  });
  return readHash((JSON.parse(data) as { map: string }).map)!;
}

/** What was read of a tree, unless it proves to be another one, or parts of it are not there. */
async function whole<Read>(otherwise: LogRewritten, read: () => Promise<Read | undefined>): Promise<Read> {
  const found = await read().catch((error: unknown) => {
    if (error instanceof RangeError) return undefined;
    throw error;
  });
  if (found === undefined) throw otherwise;
  return found;
}

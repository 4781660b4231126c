import { findingInTree, type Finding } from '../integrity/findings.js';
import { openCheckpoint, originOf, type StoredCheckpoint } from './checkpoint.js';
import type { ShownKey } from '../integrity/log-source.js';
import { waivedCheckpointIn, type LostCheckpoint } from './waived-checkpoint.js';
import { readVerifierKey, vouchesFor, type VerifierKey } from './note.js';
import { authorizationText, type AuthorizedOperation, type SignedStatement } from './authorization-note.js';
import type { JsonValue } from '../../json.js';

/** What a checkpoint is compared with besides its tree. */
export interface Trust {
  readonly instance: string;
  readonly keys: readonly ShownKey[];
}

interface KeyInTime extends Omit<ShownKey, 'key'> {
  readonly key: VerifierKey;
}

/** Verifies signed checkpoints. A missing signature fails as a false one does. */
export class CheckpointVerifier {
  private readonly known: readonly KeyInTime[];
  private readonly signing: readonly VerifierKey[];

  constructor(private readonly trust: Trust) {
    this.known = trust.keys.flatMap((one) => {
      const key = readVerifierKey(one.key);
      return key ? [{ ...one, key }] : [];
    });
    this.signing = this.known.filter(({ retiredAtSize }) => retiredAtSize === undefined).map(({ key }) => key);
  }

  /** The keys that are not retired, in their text form. */
  get unretired(): string[] {
    return this.signing.map(({ text }) => text);
  }

  get hasRetired(): boolean {
    return this.signing.length < this.known.length;
  }

  /** Whether all of these keys, in their text form, have signed an entry of this organization; without keys, nobody has. */
  isOrdered(
    order: AuthorizedOperation, note: string | null, recorded: SignedStatement & { readonly organizationId: string },
    wanted: readonly string[],
  ): boolean {
    const keys = this.known.filter(({ key }) => wanted.includes(key.text)).map(({ key }) => key);
    return keys.length > 0 && keys.length === wanted.length &&
      vouchesFor(note, authorizationText(order, this.trust.instance, recorded.organizationId, recorded), keys);
  }

  /** What is wrong with a stored checkpoint by itself. Its root is compared where the tree is read. */
  check({ organizationId: tree, size, root, note, platformSize }: StoredCheckpoint): Finding | undefined {
    const wrong = this.wrongWith(note, tree, platformSize, { size, root });
    if (wrong === undefined) return undefined;
    return findingInTree(tree, size, 'checkpoint_invalid', `has a checkpoint of size ${size} that ${wrong}`);
  }

  /**
   * @param platformSize the platform's tree when it was signed; undefined where that is not known, and any key counts
   * @returns the end of a sentence about it, where something is wrong
   */
  wrongWith(
    note: string, tree: string, platformSize: number | undefined, said: { readonly size: number; readonly root: string },
  ): string | undefined {
    const opened = openCheckpoint(note, this.known.map(({ key }) => key), originOf(this.trust.instance, tree));
    if ('wrong' in opened) return opened.wrong;
    const { checkpoint: { size, root }, by } = opened;
    if (size !== said.size || root !== said.root) return 'is not the one that it is kept as';
    if (platformSize === undefined) return undefined;
    const inForce = this.known.filter(({ fromSize, retiredAtSize }) =>
      fromSize <= platformSize && (retiredAtSize === undefined || platformSize <= retiredAtSize));
    return inForce.some(({ key }) => by.includes(key)) ? undefined : 'is signed by no key that was in force then';
  }

  /** The checkpoint that a recovery gave up, if the keys that are not retired have signed that. */
  givenUp(lost: JsonValue | undefined): LostCheckpoint | undefined {
    return waivedCheckpointIn(lost, this.trust.instance, this.signing);
  }

  /** Whether a note carries a right signature of this key, given in its text form. */
  isSignedBy(note: string, tree: string, keyText: string): boolean {
    const key = readVerifierKey(keyText);
    return key !== undefined && !('wrong' in openCheckpoint(note, [key], originOf(this.trust.instance, tree)));
  }
}

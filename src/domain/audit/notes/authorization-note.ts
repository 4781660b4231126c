import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import { checkpointText, readCheckpoint, statementOrigin } from './checkpoint.js';
import type { CutPointRow } from '../integrity/log-source.js';
import { contentDigest, type HashedParts } from '../entry/entry-hash.js';
import { openNote, signNote, type SigningKey, type VerifierKey } from './note.js';
import { metadataOf } from '../entry/payload.js';

// The owner of the database can append an entry of a retention run and delete the entries that it names, or one of an erasure and blank the
// values that it lists. So such an entry counts only with a note by which the signing key has signed all of it; no copy of it counts.

/** Operations that need the signing key. */
export type AuthorizedOperation = 'sweep' | 'erasure';

/** Where a chain was cut, in the entry of a retention run. */
type ListedCutPoint = Pick<CutPointRow, 'chain' | 'seq' | 'hash' | 'count'>;

/** First line of the note over its entry. */
export function authorizationOrigin(order: AuthorizedOperation, instance: string, organizationId: string): string {
  return statementOrigin(instance, organizationId, order);
}

/** The metadata of an entry, and the digest of the whole entry. */
export interface SignedStatement {
  readonly metadata: JsonObject;
  readonly content: string;
}

export function statementIn(entry: HashedParts): SignedStatement {
  return { metadata: metadataOf(entry.payload), content: contentDigest(entry) };
}

/** The text that is signed: how many entries or values are gone by the entry, and the digest of the entry. */
export function authorizationText(
  order: AuthorizedOperation, instance: string, organizationId: string, { metadata, content }: SignedStatement,
): string {
  const size = order === 'sweep' ? goneBy(metadata) : listed(metadata, 'erased').length;
  return checkpointText({ origin: authorizationOrigin(order, instance, organizationId), size, root: content });
}

/** Has other keys sign the text of a note, as when keys change; undefined for one of another origin, or that the key has not signed. */
export function signedAgain(note: string, origin: string, by: VerifierKey, keys: readonly SigningKey[]): string | undefined {
  const opened = openNote(note, [by]);
  return opened.kind === 'open' && readCheckpoint(opened.text)?.origin === origin ? signNote(opened.text, keys) : undefined;
}

/** Whether the entry says exactly this of the chain. */
export function listsCutPoint(metadata: JsonObject, { chain, seq, hash, count }: ListedCutPoint): boolean {
  return listed(metadata, 'chains').some((one) =>
    isJsonObject(one) && one['chain'] === chain && one['seq'] === seq && one['hash'] === hash && one['count'] === count);
}

function goneBy(metadata: JsonObject): number {
  return listed(metadata, 'chains').reduce<number>((sum, one) => {
    const count = isJsonObject(one) ? one['count'] : 0;
    return Number.isSafeInteger(count) ? sum + Number(count) : sum;
  }, 0);
}

function listed(metadata: JsonObject, member: string): readonly JsonValue[] {
  const list = metadata[member];
  return Array.isArray(list) ? list : [];
}

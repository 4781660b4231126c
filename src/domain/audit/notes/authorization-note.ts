import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import { checkpointText, originOf, readCheckpoint } from './checkpoint.js';
import { contentDigest, type StoredParts } from '../entry/entry-hash.js';
import { openNote, signNote, type SigningKey, type VerifierKey } from './note.js';
import { readPayload } from '../entry/payload.js';

// Whoever owns the database can append an entry of a sweep and delete what it names, or one of an erasure and blank what it lists. So
// whoever really sweeps or erases signs the entry, all of it, and what it says counts only with that note; so no copy of it does. The note
// has the form of a checkpoint, so that whoever reads checkpoints can read it: its origin has one part more than that of any tree, and no
// organization's id has a slash, so neither passes for the other.

/** What only whoever has the signing key can order. */
export type AuthorizedOperation = 'sweep' | 'erasure';

/** Where a chain was cut, as a sweep's entry says it. */
export interface ListedCutPoint {
  readonly chain: string;
  readonly seq: number;
  readonly hash: string;
  readonly count: number;
}

/** First line of the note over an entry that tells of it. */
export function authorizationOrigin(order: AuthorizedOperation, instance: string, organizationId: string): string {
  return originOf(instance, `${organizationId}/${order}`);
}

/** What an entry says, and the digest of the whole of it. */
export interface SignedStatement {
  readonly metadata: JsonObject;
  readonly content: string;
}

/** @param entry of a sweep or an erasure; one that cannot be read says nothing */
export function statementIn(entry: StoredParts): SignedStatement {
  const payload = readPayload(entry.payload);
  return { metadata: typeof payload === 'string' ? {} : payload.metadata, content: contentDigest(entry) };
}

/** The text that is signed: how much is gone by what the entry lists, entries or values, and the digest of the entry. */
export function authorizationText(
  order: AuthorizedOperation, instance: string, organizationId: string, { metadata, content }: SignedStatement,
): string {
  const size = order === 'sweep' ? goneBy(metadata) : listed(metadata, 'erased').length;
  return checkpointText({ origin: authorizationOrigin(order, instance, organizationId), size, root: content });
}

/**
 * Has other keys sign what one has signed, as when keys change.
 *
 * @returns undefined for what that key has not signed, or is no note of this origin
 */
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

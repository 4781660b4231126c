import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { checkpointText, originOf, readCheckpoint } from './checkpoint.js';
import { jcs } from './jcs.js';
import { openNote, signNote, type SigningKey, type VerifierKey } from './note.js';
import { digest, hashText } from './tree/rfc6962.js';

// Whoever owns the database can append an entry of a sweep, and delete what it names. So whoever really sweeps signs what the entry
// says, and a cut counts only with that note. It has the form of a checkpoint, so that whoever reads checkpoints can read it: its origin
// has one part more than that of any tree, and no organization's id has a slash, so neither passes for the other.

/** Where a chain was cut, as a sweep's entry says it. */
export interface ListedCut {
  readonly chain: string;
  readonly seq: number;
  readonly hash: string;
  readonly count: number;
}

/** First line of a sweep's note. */
export function sweepOrigin(instance: string, organizationId: string): string {
  return originOf(instance, `${organizationId}/sweep`);
}

/**
 * The text that is signed: how many entries are gone of the chains that the entry lists, and the digest of all that it says.
 *
 * @param metadata of the sweep's entry
 */
export function sweepText(instance: string, organizationId: string, metadata: JsonObject): string {
  const counts = listed(metadata).map((one) => (isJsonObject(one) && Number.isSafeInteger(one['count']) ? Number(one['count']) : 0));
  const size = counts.reduce((sum, count) => sum + count, 0);
  return checkpointText({ origin: sweepOrigin(instance, organizationId), size, root: hashText(digest(jcs(metadata))) });
}

/**
 * Has other keys sign what one has signed, as when keys change.
 *
 * @returns undefined for what that key has not signed, or is no note of a sweep of this organization
 */
export function signedAgain(note: string, origin: string, by: VerifierKey, keys: readonly SigningKey[]): string | undefined {
  const opened = openNote(note, [by]);
  return opened.kind === 'open' && readCheckpoint(opened.text)?.origin === origin ? signNote(opened.text, keys) : undefined;
}

/** Whether the entry says exactly this of the chain. */
export function listsCut(metadata: JsonObject, { chain, seq, hash, count }: ListedCut): boolean {
  return listed(metadata).some((one) =>
    isJsonObject(one) && one['chain'] === chain && one['seq'] === seq && one['hash'] === hash && one['count'] === count);
}

function listed({ chains }: JsonObject): readonly JsonValue[] {
  return Array.isArray(chains) ? chains : [];
}

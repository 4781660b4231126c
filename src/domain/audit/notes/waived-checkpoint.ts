import { isJsonObject, type JsonValue } from '../../json.js';
import { checkpointText, openCheckpoint, originOf, PLATFORM_TREE } from './checkpoint.js';
import { signNote, vouchesFor, type SigningKey, type VerifierKey } from './note.js';
import { EMPTY_ROOT, hashText } from '../tree/rfc6962.js';

// A checkpoint that an operator gave up no longer counts against the log. Whoever owns the database can append that somebody did, and put
// an older state back; so the word counts only with a signature of the key that signs checkpoints. It has the form of a checkpoint; its
// origin has one part more than that of any tree, so that neither passes for the other.

/** A checkpoint of the platform's tree. `root` in base64; empty where whoever had it told only its size. */
export interface LostCheckpoint {
  readonly size: number;
  readonly root: string;
}

/** What the log says of one that was given up. */
export interface WaivedCheckpoint extends LostCheckpoint {
  /** The signed note. */
  readonly note: string;
}

const textOf = (instance: string, { size, root }: LostCheckpoint): string =>
  checkpointText({ origin: originOf(instance, `${PLATFORM_TREE}/given-up`), size, root });

/** First line of the word that an installation was recovered, and until which moment what was seen of it no longer counts. */
const recoveredOrigin = (instance: string): string => originOf(instance, 'recovered');

/** By which servers know that who says so has the key. */
export function signRecovery(at: Date, key: SigningKey): string {
  const text = checkpointText({ origin: recoveredOrigin(key.name), size: at.getTime(), root: hashText(EMPTY_ROOT) });
  return signNote(text, [key]);
}

/** Whether the key has signed that the installation was recovered at that moment. */
export function isRecovered(note: string, instance: string, at: Date, key: VerifierKey): boolean {
  const opened = openCheckpoint(note, [key], recoveredOrigin(instance));
  return 'checkpoint' in opened && opened.checkpoint.size === at.getTime();
}

/** Signed by each of these keys, which all have the installation's name. */
export function waiveCheckpoint(lost: LostCheckpoint, keys: readonly [SigningKey, ...SigningKey[]]): WaivedCheckpoint {
  return { ...lost, note: signNote(textOf(keys[0].name, lost), keys) };
}

/**
 * What an entry of a recovery says was given up, if all of these keys have signed it; undefined for anything else.
 *
 * @param said the member `lost` of its metadata
 */
export function waivedCheckpointIn(
  said: JsonValue | undefined, instance: string, keys: readonly VerifierKey[],
): LostCheckpoint | undefined {
  if (!isJsonObject(said)) return undefined;
  const { size, root, note } = said;
  if (typeof size !== 'number' || typeof root !== 'string' || typeof note !== 'string' || keys.length === 0) return undefined;
  return vouchesFor(note, textOf(instance, { size, root }), keys) ? { size, root } : undefined;
}

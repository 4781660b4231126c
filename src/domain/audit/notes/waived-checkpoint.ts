import { isJsonObject, type JsonValue } from '../../json.js';
import { checkpointText, openCheckpoint, originOf, PLATFORM_TREE, statementOrigin, type TreeHead } from './checkpoint.js';
import { signNote, vouchesFor, type SigningKey, type VerifierKey } from './note.js';
import { EMPTY_ROOT, hashText } from '../tree/rfc6962.js';

// A checkpoint that an operator gave up no longer counts against the log. The owner of the database can append that somebody did, and put
// an older state back; so that counts only with a signature of the key that signs checkpoints.

/** A checkpoint of the platform's tree. `root` in base64; empty where only its size is known. */
export type LostCheckpoint = TreeHead;

/** A checkpoint that was given up, as the log has it. */
export interface WaivedCheckpoint extends LostCheckpoint {
  readonly note: string;
}

const textOf = (instance: string, { size, root }: LostCheckpoint): string =>
  checkpointText({ origin: statementOrigin(instance, PLATFORM_TREE, 'given-up'), size, root });

/** First line of the statement that an installation was recovered, and until when checkpoints of it no longer count. */
const recoveredOrigin = (instance: string): string => originOf(instance, 'recovered');

/** Shows servers that the recovery has the key. */
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

/** The checkpoint in the member `lost` of a recovery's entry, if all of these keys have signed it; undefined for anything else. */
export function waivedCheckpointIn(
  said: JsonValue | undefined, instance: string, keys: readonly VerifierKey[],
): LostCheckpoint | undefined {
  if (!isJsonObject(said)) return undefined;
  const { size, root, note } = said;
  if (typeof size !== 'number' || typeof root !== 'string' || typeof note !== 'string' || keys.length === 0) return undefined;
  return vouchesFor(note, textOf(instance, { size, root }), keys) ? { size, root } : undefined;
}

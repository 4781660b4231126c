import { checkpointText, PLATFORM_TREE, readCheckpoint, statementOrigin } from './checkpoint.js';
import { readVerifierKey, signNote, vouchesFor, type SigningKey } from './note.js';
import { digest, hashText } from '../tree/rfc6962.js';

// The owner of the database can append that another key signs from here on, and write its row. So a next key counts only with a note of
// the key before.

/** A key as it is announced. */
export interface NextKey {
  /** Verifier key, C2SP signed-note form. */
  readonly key: string;
  /** The note by which the key before vouches for it; the first one has none. */
  readonly note?: string | null | undefined;
}

/** @param before how many keys there were before the new one */
const textOf = (instance: string, before: number, key: string): string =>
  checkpointText({ origin: statementOrigin(instance, PLATFORM_TREE, 'next-key'), size: before, root: hashText(digest(key)) });

/** Has the key that signs now vouch for the next one. */
export function vouchForNext(before: number, next: string, by: SigningKey): string {
  return signNote(textOf(by.name, before, next), [by]);
}

/** Keys in the order in which they follow one another. The first is believed: nobody is there to vouch for it. */
export class Succession {
  private last: string | undefined;
  private count = 0;

  constructor(private readonly instance: string) {}

  /** Whether the key that was taken last has vouched for this one; otherwise this one is passed over. */
  take({ key, note }: NextKey): boolean {
    if (this.last === undefined) this.count = keysBefore(note);
    else if (!this.isVouchedFor(key, note)) return false;
    this.last = key;
    this.count++;
    return true;
  }

  private isVouchedFor(key: string, note: NextKey['note']): boolean {
    const by = readVerifierKey(this.last!);
    return by !== undefined && vouchesFor(note ?? null, textOf(this.instance, this.count, key), [by]);
  }
}

/** Whether notes lead from one of these keys to another, that comes later. */
export function leadsTo(keys: readonly NextKey[], from: string, to: string, instance: string): boolean {
  const [first, last] = [from, to].map((wanted) => keys.findIndex(({ key }) => key === wanted)) as [number, number];
  const succession = new Succession(instance);
  return first >= 0 && last > first && keys.slice(first, last + 1).every((one) => succession.take(one));
}

/** How many keys there were before the first one here: more than none where the beginning was swept, or lies outside of a part. */
function keysBefore(note: NextKey['note']): number {
  return (note && readCheckpoint(note.slice(0, note.indexOf('\n\n') + 1))?.size) || 0;
}

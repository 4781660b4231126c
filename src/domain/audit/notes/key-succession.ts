import { checkpointText, originOf, PLATFORM_TREE, readCheckpoint } from './checkpoint.js';
import { readVerifierKey, signNote, vouchesFor, type SigningKey } from './note.js';
import { digest, hashText } from '../tree/rfc6962.js';

// Whoever owns the database can append that another key signs from here on, and write its row. So the key before has to say it, and
// what is said counts only with that note. It has the form of a checkpoint; its origin has one part more than that of any tree, so that
// neither passes for the other.

/** A key as it is announced. */
export interface NextKey {
  /** Verifier key, C2SP signed-note form. */
  readonly key: string;
  /** By which the key before vouches for it; the first one has none. */
  readonly note?: string | null | undefined;
}

/** @param before how many keys there were before the new one */
const textOf = (instance: string, before: number, key: string): string =>
  checkpointText({ origin: originOf(instance, `${PLATFORM_TREE}/next-key`), size: before, root: hashText(digest(key)) });

/** Has the key that signs now vouch for the next one. */
export function vouchForNext(before: number, next: string, by: SigningKey): string {
  return signNote(textOf(by.name, before, next), [by]);
}

/** Keys in the order in which they are said to have followed one another. What is first is believed: nobody is there to vouch for it. */
export class Succession {
  private last: string | undefined;
  private count = 0;

  constructor(private readonly instance: string) {}

  /** Whether the key that was taken last has vouched for this one; otherwise this one is passed over. */
  take({ key, note }: NextKey): boolean {
    if (this.last === undefined) this.count = placeIn(note);
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

/** How many keys there were before what is first here: more than none where the beginning was swept, or lies outside of a part. */
function placeIn(note: NextKey['note']): number {
  return (note && readCheckpoint(note.slice(0, note.indexOf('\n\n') + 1))?.size) || 0;
}

import { hash } from 'node:crypto';
import { ERASED } from '../../entry/read-entry.js';
import type { ShownTexts } from '../record-row.js';
import { briefOf, type IsErased, keyOfClaim, type RecordClaim } from '../record-claim.js';

/** A row of which not all is there any more that it once showed, as its keeper tells. */
export interface RecordGap {
  readonly kind: RecordClaim['kind'];
  readonly organizationId: string;
  readonly id: string;
  /** What people said in it is gone, as retention of records leaves it. */
  readonly isBlank: boolean;
  /** Blank as it is, it shows the note of the decision in another row. */
  readonly hasNote?: boolean;
  /** What it shows, where that may hold what erasing leaves. */
  readonly shown?: ShownTexts | undefined;
}

/** Texts of a row that retention of records does not blank: they are the gate's own words. */
const KEPT_TEXTS: ReadonlySet<string> = new Set(['reasons']);

const FIRST_ROOM = 1_024;

/** Texts by 64 bits of a keyed digest: 16 to 32 bytes each, however long they are. Nobody without the key finds two that meet. */
export class DigestSet {
  private slots = new Uint32Array(FIRST_ROOM * 2);
  private count = 0;

  /** @param key at least 16 random bytes */
  constructor(private readonly key: Uint8Array) {}

  get size(): number {
    return this.count;
  }

  add(text: string): void {
    if (this.count * 2 >= this.slots.length / 2) this.grow();
    const [high, low] = this.digest(text);
    if (put(this.slots, high, low)) this.count++;
  }

  has(text: string): boolean {
    // Most logs have none: then nothing is hashed.
    if (this.count === 0) return false;
    const [high, low] = this.digest(text);
    return this.slots[placeOf(this.slots, high, low)] !== 0;
  }

  private grow(): void {
    const slots = new Uint32Array(this.slots.length * 2);
    for (let at = 0; at < this.slots.length; at += 2) if (this.slots[at] !== 0) put(slots, this.slots[at]!, this.slots[at + 1]!);
    this.slots = slots;
  }

  private digest(text: string): [number, number] {
    const digest = hash('sha256', Buffer.concat([this.key, Buffer.from(text, 'utf8')]), 'buffer');
    // 0 marks a free place.
    return [digest.readUInt32LE(0) || 1, digest.readUInt32LE(4)];
  }
}

/** Which rows are not compared in all that they show. Known before the entries are read, so that both sides leave out the same. */
export class RecordGaps {
  private readonly blank: DigestSet;
  /** Rows with texts that hold the mark, the places of these, and what stands there. */
  private readonly marked: DigestSet;
  private readonly noted: DigestSet;

  constructor(key: Uint8Array) {
    this.blank = new DigestSet(key);
    this.marked = new DigestSet(key);
    this.noted = new DigestSet(key);
  }

  add({ isBlank, shown = {}, hasNote, ...record }: RecordGap): void {
    const key = keyOfClaim(record);
    if (hasNote) this.noted.add(key);
    if (isBlank) this.blank.add(key);
    for (const [name, text] of Object.entries(shown)) {
      if (!text?.includes(ERASED)) continue;
      this.marked.add(key);
      this.marked.add(placeIn(key, name));
      this.marked.add(`${placeIn(key, name)} ${briefOf(record.kind, name, text)}`);
    }
  }

  isBlank(key: string): boolean {
    return this.blank.has(key);
  }

  /** Of a blank one: whether a text is still shown. */
  keeps(key: string, text: string): boolean {
    return KEPT_TEXTS.has(text) || (text === 'note' && this.noted.has(key));
  }

  /** Of a row's texts: anybody may write the mark, and where the row shows what its entries say, nothing was erased. */
  erasedIn(key: string): IsErased {
    if (!this.marked.has(key)) return NOTHING_ERASED;
    return (name, said) => this.marked.has(placeIn(key, name)) && !this.marked.has(`${placeIn(key, name)} ${said}`);
  }
}

const NOTHING_ERASED: IsErased = () => false;

const placeIn = (key: string, name: string) => `${key} ${name}`;

function put(slots: Uint32Array, high: number, low: number): boolean {
  const at = placeOf(slots, high, low);
  if (slots[at] !== 0) return false;
  slots[at] = high;
  slots[at + 1] = low;
  return true;
}

/** Where it stands, or the free place where it would. */
function placeOf(slots: Uint32Array, high: number, low: number): number {
  for (let at = (low % (slots.length / 2)) * 2; ; at = (at + 2) % slots.length) {
    if (slots[at] === 0 || (slots[at] === high && slots[at + 1] === low)) return at;
  }
}

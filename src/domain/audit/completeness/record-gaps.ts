import { hash } from 'node:crypto';
import { keyOfClaim } from './record-claim.js';
import type { RecordGap } from './record-row.js';
import { briefOfShown, holdsErasedMark, type IsErasedInRow } from './record-text.js';

/** Retention of records blanks every text but the reasons, which the gate itself wrote. */
const KEPT = 'reasons';
const FIRST_SLOTS = 1_024;

/** A set of texts by 64 bits of a keyed digest: 16 to 32 bytes for each text. Nobody without the key finds two that collide. */
export class DigestSet {
  private slots = new Uint32Array(FIRST_SLOTS * 2);
  private count = 0;

  /** @param key at least 16 random bytes */
  constructor(private readonly key: Uint8Array) {}

  get size(): number {
    return this.count;
  }

  add(text: string): void {
    if (this.count * 4 >= this.slots.length) this.grow();
    if (this.put(...this.digest(text))) this.count++;
  }

  has(text: string): boolean {
    // Most logs have no gaps: then nothing is hashed.
    return this.count > 0 && this.slots[this.slotOf(...this.digest(text))] !== 0;
  }

  private grow(): void {
    const old = this.slots;
    this.slots = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += 2) if (old[at] !== 0) this.put(old[at]!, old[at + 1]!);
  }

  private put(high: number, low: number): boolean {
    const at = this.slotOf(high, low);
    if (this.slots[at] !== 0) return false;
    [this.slots[at], this.slots[at + 1]] = [high, low];
    return true;
  }

  /** The slot of a digest, or the free one where it would be. */
  private slotOf(high: number, low: number): number {
    const { slots } = this;
    for (let at = (low % (slots.length / 2)) * 2; ; at = (at + 2) % slots.length) {
      if (slots[at] === 0 || (slots[at] === high && slots[at + 1] === low)) return at;
    }
  }

  private digest(text: string): [high: number, low: number] {
    const digest = hash('sha256', Buffer.concat([this.key, Buffer.from(text, 'utf8')]), 'buffer');
    // 0 marks a free slot.
    return [digest.readUInt32LE(0) || 1, digest.readUInt32LE(4)];
  }
}

/** Texts of rows that are not compared with entries: retention of records or an erasure has blanked them. */
export class RecordGaps {
  private readonly known: DigestSet;

  constructor(key: Uint8Array) {
    this.known = new DigestSet(key);
  }

  add({ isBlank, shown = {}, hasNote, ...record }: RecordGap): void {
    const key = keyOfClaim(record);
    if (isBlank) this.known.add(`blank ${key}`);
    if (hasNote) this.known.add(`note ${key}`);
    for (const [name, text] of Object.entries(shown)) {
      if (text === null || !holdsErasedMark(name, text)) continue;
      for (const one of [key, `${key} ${name}`, `${key} ${name} ${briefOfShown(record.kind, name, text)}`]) this.known.add(one);
    }
  }

  /** The texts without those that retention of records has blanked in the row. */
  withoutBlank<Texts extends Readonly<Record<string, unknown>> | undefined>(key: string, texts: Texts): Texts {
    if (!texts || !this.known.has(`blank ${key}`)) return texts;
    const left = Object.entries(texts).filter(([name]) => name === KEPT || (name === 'note' && this.known.has(`note ${key}`)));
    return Object.fromEntries(left) as Texts;
  }

  /** `[erased]` alone proves nothing, since callers can write it: a text that equals the entry's was not erased. */
  erasedInRow(key: string): IsErasedInRow {
    if (!this.known.has(key)) return NOTHING_ERASED;
    return (name, brief) => this.known.has(`${key} ${name}`) && !this.known.has(`${key} ${name} ${brief}`);
  }
}

const NOTHING_ERASED: IsErasedInRow = () => false;

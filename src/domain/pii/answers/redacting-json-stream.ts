import { JsonContext } from '../body/json-context.js';
import { countEntity, type EntityCounts, type EntityType } from '../entity-types.js';
import type { ScanOptions } from '../finding.js';
import { Redactor } from '../redactor.js';
import { scanText } from '../scan-text.js';
import { RedactingStream } from './redacting-stream.js';
import type { ScanningStream } from './text-stream.js';

/** A number that is longer is none. */
const NUMBER_MAX = 64;
const NUMBER = /[-\d.eE+]/;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/**
 * Replaces personal data in a streamed JSON text, such as a tool's arguments: in its strings as they are without their escapes, and in its
 * numbers. Names of members around a value and short texts before it are its context. What is no JSON goes on as it came.
 */
export class RedactingJsonStream implements ScanningStream {
  /** What was found so far. */
  readonly counts: EntityCounts = {};
  private readonly redactor = new Redactor('redact');
  /** The string that is open, and the text of the last one, as far as it may be a name or a label. */
  private string: RedactingStream | undefined;
  private said = '';
  private readonly place = new JsonContext();
  /** An escape, or a number, that has begun. */
  private escape = '';
  private number = '';
  /** Of the open string, what has been decoded since the last push. */
  private decoded = '';
  private out = '';

  constructor(private readonly options: ScanOptions = {}) {}

  push(piece: string): string {
    for (let at = 0; at < piece.length; at++) {
      if (this.string === undefined) this.outside(piece[at]!);
      else this.inside(piece[at]!);
    }
    this.decode();
    return this.taken();
  }

  end(): string {
    this.decode();
    // Cut off in the middle: what is held is shown as it is read.
    if (this.string) this.close('');
    this.endNumber();
    return this.taken() + this.escape;
  }

  private outside(character: string): void {
    if (NUMBER.test(character) && this.number.length < NUMBER_MAX) {
      this.number += character;
      return;
    }
    this.endNumber();
    this.out += character;
    this.mark(character);
    if (character !== '"') return;
    this.string = new RedactingStream({ ...this.options, context: this.place.ofValue(), isName: this.place.isName });
  }

  private mark(character: string): void {
    if (character === ':') this.place.name(this.said);
    else if (',}]'.includes(character)) {
      this.place.text(this.said);
      if (character === ',') this.place.next();
      else this.place.close();
    } else if (character === '{' || character === '[') this.place.open(character === '{');
    else return;
    this.said = '';
  }

  private inside(character: string): void {
    if (this.escape !== '') this.escaped(character);
    else if (character === '\\') this.escape = character;
    else if (character !== '"') this.decoded += character;
    else {
      this.decode();
      this.close('"');
    }
  }

  private escaped(character: string): void {
    this.escape += character;
    const isCode = this.escape[1] === 'u';
    if (isCode && this.escape.length < 6) return;
    this.decoded += isCode ? String.fromCharCode(parseInt(this.escape.slice(2), 16)) : ESCAPED[character] ?? character;
    this.escape = '';
  }

  private decode(): void {
    if (!this.string || this.decoded === '') return;
    if (this.said.length < NUMBER_MAX) this.said += this.decoded;
    this.out += inJson(this.string.push(this.decoded));
    this.decoded = '';
  }

  private close(quote: string): void {
    this.out += inJson(this.string!.end()) + quote;
    for (const [type, count] of Object.entries(this.string!.counts)) {
      for (let one = 0; one < count; one++) countEntity(this.counts, type as EntityType);
    }
    this.string = undefined;
  }

  private endNumber(): void {
    if (this.number === '') return;
    const findings = scanText(this.number, { ...this.options, context: this.place.ofValue() });
    for (const { type } of findings) countEntity(this.counts, type);
    this.out += findings.length === 0 ? this.number : JSON.stringify(this.redactor.redact(this.number, findings));
    this.number = '';
  }

  private taken(): string {
    const { out } = this;
    this.out = '';
    return out;
  }
}

/** As a part of a JSON string. */
function inJson(text: string): string {
  return text === '' ? '' : JSON.stringify(text).slice(1, -1);
}

import { countEntity, type EntityCounts } from '../entity-types.js';
import { scanEscaped } from '../escapes.js';
import type { Finding, ScanOptions } from '../finding.js';
import { TermTree } from '../recognizers/terms.js';
import { Redactor } from '../redactor.js';
import { Work } from '../scan.js';
import { expectsSecret } from '../scan-text.js';
import { openFrom, stillSwallowed, type OpenValue } from './open-end.js';
import type { ScanningStream } from './text-stream.js';

/** At most so many characters of an answer are held back. */
export const HOLD_MAX = 256;
/** So many of those that went out remain context of what follows. */
const CONTEXT = 64;

/**
 * Replaces personal data in a streamed answer by its type. Held back is the last word and what may still become a value, or be said by
 * the next words to be one: at most 256 characters. Prose whose last word has ended passes at once.
 */
export class RedactingStream implements ScanningStream {
  /** What was found so far. */
  readonly counts: EntityCounts = {};
  private readonly redactor = new Redactor('redact');
  private readonly terms: TermTree;
  private readonly expectsSecret: boolean;
  /** What went out, as it was before: context alone. */
  private sent = '';
  private buffer = '';
  /** Whether what stands before the text is too far away to be context. */
  private isBegun = false;
  /** The rest of a value too long to be held, whose type has gone out already. */
  private swallowing: OpenValue | undefined;

  constructor(private readonly options: ScanOptions = {}) {
    this.terms = new TermTree(options.terms ?? []);
    this.expectsSecret = options.isName !== true && expectsSecret(options.context ?? '');
  }

  push(piece: string): string {
    this.buffer += piece;
    if (this.swallowing) this.swallow();
    return this.swallowing ? '' : this.release(false);
  }

  end(): string {
    return this.swallowing ? '' : this.release(true);
  }

  private release(isEnd: boolean): string {
    const text = this.sent + this.buffer;
    const from = this.sent.length;
    const findings = scanEscaped(text, this.isBegun ? { ...this.options, context: '' } : this.options, new Work())
      .filter(({ end }) => end > from);
    const isOver = text.length - from > HOLD_MAX;
    const cut = isEnd ? text.length : this.cutOf(text, from, findings, isOver);
    if (cut <= from) return '';
    const gone = findings.filter(({ start }) => start < cut);
    for (const { type } of gone) countEntity(this.counts, type);
    const moved = gone.map((finding) => ({ ...finding, start: Math.max(finding.start, from) - from, end: Math.min(finding.end,
      cut) - from }));
    const out = this.redactor.redact(text.slice(from, cut), moved);
    this.buffer = text.slice(cut);
    this.sent = text.slice(Math.max(0, cut - CONTEXT), cut);
    this.isBegun ||= cut > CONTEXT;
    // The value goes on with what comes next.
    const last = gone.at(-1);
    if (!isEnd && last && last.end === text.length && cut === text.length) {
      this.swallowing = text.startsWith('-----', last.start) ? 'key' : 'word';
      this.sent = '';
      this.isBegun = true;
    }
    return out;
  }

  /** Up to where the text may go out. What is over the limit goes out whatever it might become. */
  private cutOf(text: string, from: number, findings: readonly Finding[], isOver: boolean): number {
    // A secret that its name announces is the whole text, in whatever script.
    if (this.expectsSecret && !isOver && !/\s/.test(text)) return from;
    let cut = Math.max(from, Math.min(openFrom(text), this.terms.openFrom(text)));
    for (const { start, end } of findings.toReversed()) if (start < cut && end >= cut && (end > cut || end === text.length)) cut = start;
    if (!isOver) return Math.max(from, cut);
    const least = text.length - HOLD_MAX;
    if (cut > least) return cut;
    const across = findings.find(({ start, end }) => start <= least && end > least);
    return across ? across.end : Math.max(cut, least);
  }

  private swallow(): void {
    const end = stillSwallowed(this.buffer, this.swallowing!);
    if (end === undefined) {
      // Of a key's end mark some characters must stay, or it would not be seen when it is cut.
      this.buffer = this.swallowing === 'key' ? this.buffer.slice(-CONTEXT) : '';
      return;
    }
    this.buffer = this.buffer.slice(end);
    this.swallowing = undefined;
  }
}

import { countEntity, type EntityCounts } from '../entity-types.js';
import type { ScanOptions } from '../finding.js';
import { Redactor } from '../redactor.js';
import { scanText } from '../scan-text.js';
import type { TextStream } from './text-stream.js';

/** At most so many characters of an answer are held back. */
export const HOLD_MAX = 256;

/**
 * Replaces personal data in a streamed answer by its type. Held back is only the end that may still become a value, at most 256
 * characters; prose without a candidate passes at once. What has gone out remains context of what follows.
 */
export class RedactingStream implements TextStream {
  /** What was found so far. */
  readonly counts: EntityCounts = {};
  private held = '';
  private readonly redactor = new Redactor('redact');

  constructor(private readonly options: ScanOptions = {}) {}

  push(piece: string): string {
    this.held += piece;
    return '';
  }

  end(): string {
    const findings = scanText(this.held, this.options);
    for (const { type } of findings) countEntity(this.counts, type);
    return this.redactor.redact(this.held, findings);
  }
}

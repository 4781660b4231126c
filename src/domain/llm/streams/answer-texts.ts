import type { JsonObject } from '../../json.js';
import { type AnswerSettings, readerOf } from '../../pii/answers/answer-body.js';
import { RedactingJsonStream } from '../../pii/answers/redacting-json-stream.js';
import { RedactingStream } from '../../pii/answers/redacting-stream.js';
import { TokenStream } from '../../pii/answers/token-stream.js';
import type { ScanningStream, TextStream } from '../../pii/answers/text-stream.js';
import type { TokenMap } from '../../pii/answers/tokens.js';
import { mapTexts } from '../../pii/body/map-texts.js';
import { EVENT_SHAPE } from '../../pii/body/structural-members.js';
import type { EntityCounts, EntityType } from '../../pii/entity-types.js';

export type TextForm = 'text' | 'json';

/** Nobody waits for what is only counted: so many characters are scanned at once, since each scan reads some of those before again. */
const REPORTED = 1_024;

/** What is done to one text of an answer that comes in pieces. */
interface Piecemeal {
  /** Counts, and its text is not used. */
  readonly report?: ScanningStream;
  /** What it has not seen yet. */
  unseen: string;
  readonly redact?: ScanningStream;
  readonly restore?: TextStream;
}

/**
 * The texts of a streamed answer, each by its place: what the settings say of answers is done to each, then values come in the place of
 * tokens. Held back is only what may still become a value or a token.
 */
export class AnswerTexts {
  private readonly texts = new Map<string, Piecemeal>();

  constructor(
    private readonly settings: AnswerSettings,
    private readonly tokens: TokenMap,
  ) {}

  /** Whether pieces go through as they come. */
  get isPlain(): boolean {
    return this.settings.answers === 'off' && this.tokens.size === 0;
  }

  /** Whether pieces may go out otherwise than they came. */
  get changes(): boolean {
    return this.redacts || this.tokens.size > 0;
  }

  get redacts(): boolean {
    return this.settings.answers === 'redact';
  }

  push(key: string, form: TextForm, piece: string): string {
    if (this.isPlain) return piece;
    let text = this.texts.get(key);
    if (text === undefined) this.texts.set(key, (text = this.begun(form)));
    if (text.report) report(text, text.report, piece);
    const redacted = text.redact ? text.redact.push(piece) : piece;
    return text.restore ? text.restore.push(redacted) : redacted;
  }

  /** Does the same to texts that come whole in one event. */
  whole(event: JsonObject): JsonObject {
    const { body } = mapTexts(event, EVENT_SHAPE, readerOf(this.settings, this.tokens, this.counts));
    return this.changes ? (body as JsonObject) : event;
  }

  /** What was held back of a text that has ended. */
  end(key: string): string {
    const text = this.texts.get(key);
    if (text === undefined) return '';
    this.texts.delete(key);
    text.report?.push(text.unseen);
    text.report?.end();
    const rest = text.redact?.end() ?? '';
    this.add((text.redact ?? text.report)?.counts);
    return text.restore ? text.restore.push(rest) + text.restore.end() : rest;
  }

  /** What was found in the texts that have ended. */
  readonly counts: EntityCounts = {};

  /** Ends the texts that a broken answer has left, for their counts. */
  close(): void {
    for (const key of [...this.texts.keys()]) this.end(key);
  }

  private begun(form: TextForm): Piecemeal {
    const { answers, entities, allow, terms } = this.settings;
    const options = { entities, allow, terms };
    const scan = answers === 'off' ? undefined : form === 'json' ? new RedactingJsonStream(options) : new RedactingStream(options);
    return {
      unseen: '',
      ...(scan === undefined ? {} : answers === 'redact' ? { redact: scan } : { report: scan }),
      ...(this.tokens.size === 0 ? {} : { restore: new TokenStream(this.tokens, form) }),
    };
  }

  private add(counts: EntityCounts = {}): void {
    for (const [type, count] of Object.entries(counts)) this.counts[type as EntityType] = (this.counts[type as EntityType] ?? 0) + count;
  }
}

function report(text: Piecemeal, scan: ScanningStream, piece: string): void {
  text.unseen += piece;
  if (text.unseen.length < REPORTED) return;
  scan.push(text.unseen);
  text.unseen = '';
}

import { createHash } from 'node:crypto';
import type { JsonObject } from '../../json.js';
import { jcs } from '../entry/jcs.js';
import { entryOf, line, lineText, manifestText, type ExportLine, type LineOf } from './export-lines.js';
import { signNote, type SigningKey } from '../notes/note.js';
import { readEntry } from '../entry/read-entry.js';
import type { Tally } from './person-lines.js';

/** `jsonl` and `json` hold the same lines and can be verified; `csv` is for people. */
export const EXPORT_FORMATS = ['jsonl', 'json', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The text of an export, piece by piece, closed by a manifest. @param tally of values left out, complete after the last line */
export async function* sealed(
  lines: AsyncIterable<ExportLine>, key: SigningKey, format: ExportFormat = 'jsonl', tally: Tally = { withheld: 0 },
): AsyncGenerator<string> {
  const seal = new Seal(key, tally);
  if (format === 'json') yield '{"lines":[\n';
  if (format === 'csv') yield seal.over(`${CSV_COLUMNS.join(',')}${CSV_END}`);
  for await (const one of lines) {
    seal.count(one);
    const text = format === 'csv' ? csvText(one) : lineText(one);
    if (text === '') continue;
    seal.over(text);
    yield format === 'json' ? `${text.slice(0, -1)},\n` : text;
  }
  const last = lineText(seal.manifest());
  if (format === 'jsonl') yield last;
  else if (format === 'json') yield `${last}]}\n`;
  else yield `#manifest ${Buffer.from(last.slice(0, -1), 'utf8').toString('base64url')}${CSV_END}`;
}

/** Digest and counts of the lines so far. */
class Seal {
  private readonly digest = createHash('sha256');
  private readonly counts = { lines: 0, entries: 0, chains: 0 };
  private header: LineOf<'export'> | undefined;

  constructor(private readonly key: SigningKey, private readonly tally: Tally) {}

  over(text: string): string {
    this.counts.lines++;
    this.digest.update(text, 'utf8');
    return text;
  }

  count(one: ExportLine): void {
    if (one.kind === 'export') this.header = one;
    if (one.kind === 'entry') this.counts.entries++;
    if (one.kind === 'head') this.counts.chains++;
  }

  manifest(): LineOf<'manifest'> {
    if (!this.header) throw new TypeError('an export begins with its header');
    const { counts, header: { instance, madeAt } } = this;
    const sha256 = this.digest.digest('hex');
    const text = manifestText({ instance, entries: counts.entries, sha256, madeAt });
    return line('manifest', { counts: { ...counts, ...this.tally }, sha256, note: signNote(text, [this.key]) });
  }
}

const CSV_END = '\r\n';
const CSV_COLUMNS = [
  'index', 'organizationId', 'chain', 'seq', 'id', 'timestamp', 'event', 'outcome', 'actorId', 'agentId', 'capability', 'metadata',
  'origin', 'hash',
];

/** A row for an entry; profile and records of a person as a remark; nothing for other lines. */
function csvText(one: ExportLine): string {
  if (one.kind === 'profile') return `#profile ${cell(jcs(one.profile))}${CSV_END}`;
  if (one.kind === 'records') return `#records ${cell(jcs(one.records))}${CSV_END}`;
  if (one.kind !== 'entry') return '';
  const { metadata, origin } = readEntry(entryOf(one), WITHHELD);
  const row: Record<string, Cell> = { ...one, metadata: shownText(metadata), origin: origin && shownText(origin) };
  return `${CSV_COLUMNS.map((name) => cell(row[name])).join(',')}${CSV_END}`;
}

/** Canonical JSON. A value that was tampered with may have no such form: then a lone surrogate is escaped, and an infinity becomes null. */
function shownText(value: JsonObject): string {
  try {
    return jcs(value);
  } catch {
    return JSON.stringify(value);
  }
}

/** How a value reads that stands in the log and not in the file. */
const WITHHELD = '[withheld]';

type Cell = string | number | null | undefined;

/** RFC 4180. A spreadsheet takes what begins with one of these signs for a formula. */
function cell(value: Cell): string {
  const text = String(value ?? '');
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

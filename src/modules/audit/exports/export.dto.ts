import type { ExportFormat } from '../../../domain/audit/export/sealed-export.js';
import { Integer, OneOf, Text, Timestamp } from '../../../platform/http/fields/fields.js';

const FORMATS = ['jsonl', 'json', 'csv', 'jsonl.gz', 'json.gz', 'csv.gz'] as const;
export type FileFormat = (typeof FORMATS)[number];

const FORMAT_DOC = '`jsonl` and `json` can be verified (verifier/README.md), `csv` is for people; with `.gz` the file is compressed.';

export class LogExportQuery {
  @Timestamp({ optional: true, date: 'start', doc: 'Not before; a bare date is the whole UTC day.' })
  from?: Date;

  @Timestamp({ optional: true, date: 'end', doc: 'Not after; a bare date is the whole UTC day.' })
  to?: Date;

  @Text({ max: 100, optional: true, doc: "One agent's chain; of all others only that they are there." })
  agentId?: string;

  @Text({ max: 100, optional: true, doc: 'Narrows what the caller may see to one organization.' })
  organizationId?: string;

  @OneOf(FORMATS, { optional: true, doc: FORMAT_DOC })
  format?: FileFormat;

  @Integer({
    min: 1, max: Number.MAX_SAFE_INTEGER, optional: true,
    doc: 'Size of an older checkpoint: the file then shows that the tree goes on from it.',
  })
  since?: number;

  @Integer({
    min: 1, max: Number.MAX_SAFE_INTEGER, optional: true,
    doc: "Size of an older checkpoint of the platform's tree: the file then shows that this tree goes on from it.",
  })
  platformSince?: number;
}

export class PersonExportQuery {
  @OneOf(FORMATS, { optional: true, doc: FORMAT_DOC })
  format?: FileFormat;
}

/** What a file's format says of its text and of its bytes. */
export function formatOf(format: FileFormat): { readonly text: ExportFormat; readonly isCompressed: boolean } {
  const [text, gz] = format.split('.') as [ExportFormat, 'gz'?];
  return { text, isCompressed: gz !== undefined };
}

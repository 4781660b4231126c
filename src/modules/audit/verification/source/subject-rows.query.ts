import type { SubjectRow } from '../../../../domain/audit/completeness/subject-index-check.js';
import type { Selection } from '../../../../domain/audit/integrity/verify-log.js';
import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';
import { bounded } from '../../query/bounded-text.js';
import { numbered, type Row } from '../../query/entry-rows.js';
import { streamed } from '../../query/row-stream.query.js';

const ROWS = `
  select ${bounded('s.organization_id')} as "organizationId", ${bounded('s.user_id')} as "userId", ${bounded('s.entry_id')} as "entryId",
    ${bounded('s.pointer')} as pointer, ${bounded('s.chain')} as chain, s.seq, ${bounded('s.event')} as event,
    ${bounded('s.capability')} as capability, ${bounded('s.outcome')} as outcome, ${bounded('s."timestamp"')} as "timestamp"
  from audit_subjects s where ($1::text is null or s.organization_id = $1) and ($2::text is null or s.chain = $2)`;

/** Rows of the table by which a person's entries are found, in no order. */
export async function* subjectRows(
  run: ReadStatement, { organizationId, chain }: Selection,
): AsyncGenerator<readonly SubjectRow[]> {
  for await (const batch of streamed<Row<SubjectRow>>(run, ROWS, [organizationId ?? null, chain ?? null])) yield batch.map(numbered);
}

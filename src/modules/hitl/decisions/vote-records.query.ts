import { ERASED } from '../../../domain/audit/entry/read-entry.js';
import type { RecordKeeper } from '../../../platform/audit/record-keepers.js';
import { streamedRows } from '../../../platform/audit/record-rows.js';
import { IS_BLANK } from '../requests/request-records.query.js';

interface Row {
  readonly organizationId: string;
  readonly id: string;
  readonly agentId: string | null;
  readonly capability: string;
  /** Whether the row of the request is there: neither retention nor an erasure takes that. */
  readonly isAsked: boolean;
  readonly digest: string;
  readonly entryId: string;
  readonly note: string | null;
}

const FROM = `
  from hitl_votes v left join hitl_requests q on q.organization_id = v.organization_id and q.id = v.request_id
  where ($1::text is null or v.organization_id = $1) and ($2::text is null or q.agent_id = $2)`;
const ID = `v.request_id || ' ' || v.version || ' ' || v.voter as id`;

/**
 * Without the vote that decided, which the approval's entry records, as long as the vote is what its request shows. Erasing reaches the two
 * rows one after the other, and retention the request's alone: then the vote's note is compared as the request's.
 */
const ROWS = `
  select v.organization_id as "organizationId", ${ID}, q.agent_id as "agentId", coalesce(q.capability, '') as capability,
    q.id is not null as "isAsked", v.digest, v.entry_id as "entryId", v.note
  ${FROM} and not coalesce(v.entry_id = q.decision_entry_id and q.status = 'approved' and v.voter = q.decided_by
    and v.version = q.version and v.digest = q.digest
    and (v.note is not distinct from q.note or '${ERASED}' in (v.note, q.note) or ${IS_BLANK}), false)`;

const GAPS = `select v.organization_id as "organizationId", ${ID}, v.note ${FROM} and strpos(v.note, '${ERASED}') > 0`;

/** Votes in the words of the log. */
export const voteRecords: RecordKeeper = {
  kind: 'vote',
  definedIn: import.meta.url,
  rows: async function* (run, selection) {
    for await (const batch of streamedRows<Row>(run, ROWS, selection)) {
      yield batch.map(({ organizationId, id, agentId, capability, isAsked, digest, entryId, note }) => ({
        organizationId, id, agentId, capability, status: 'voted', members: { digest, entryId }, texts: { own: { note } },
        ...(isAsked ? {} : { malformed: ['a request that is not there'] }),
      }));
    }
  },
  gaps: async function* (run, selection) {
    for await (const batch of streamedRows<Pick<Row, 'organizationId' | 'id' | 'note'>>(run, GAPS, selection)) {
      yield batch.map(({ note, ...one }) => ({ kind: 'vote' as const, ...one, isBlank: false, shown: { note } }));
    }
  },
};

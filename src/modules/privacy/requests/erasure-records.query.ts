import { ERASED } from '../../../domain/audit/entry/read-entry.js';
import type { RecordKeeper } from '../../../platform/audit/record-keepers.js';
import { streamedRows } from '../../../platform/audit/record-rows.js';

interface Row {
  readonly organizationId: string;
  readonly id: string;
  readonly kind: string;
  readonly userId: string | null;
  readonly askedBy: string;
  readonly confirmedBy: string | null;
  readonly reason: string | null;
}

/** Erasures have their entries in the organization's chain, so of one agent, `$2`, there are none. */
const FROM = `from erasures e where ($1::text is null or e.organization_id = $1) and $2::text is null`;

const ROWS = `
  select e.organization_id as "organizationId", e.id, e.kind, e.user_id as "userId", e.asked_by as "askedBy",
    e.confirmed_by as "confirmedBy", e.reason
  ${FROM}`;

/** The reason of an erasure that nobody confirmed in time is forgotten. */
const GAPS = `
  select * from (
    select e.organization_id as "organizationId", e.id, e.reason, e.state = 'declined' and e.reason is null as "isBlank",
      coalesce(strpos(e.reason, '${ERASED}') > 0, false) as "isErased" ${FROM}) e
  where "isBlank" or "isErased"`;

/** Erasures in the words of the log: the kind, who asked, who confirmed, and why. */
export const erasureRecords: RecordKeeper = {
  kind: 'erasure',
  definedIn: import.meta.url,
  rows: async function* (run, selection) {
    for await (const batch of streamedRows<Row>(run, ROWS, selection)) {
      yield batch.map(({ organizationId, id, reason, ...members }) => ({
        organizationId, id, agentId: null, capability: '', status: 'asked', members, texts: { own: { reason } },
      }));
    }
  },
  gaps: async function* (run, selection) {
    for await (const batch of streamedRows<Pick<Row, 'organizationId' | 'id' | 'reason'> & { isBlank: boolean }>(run, GAPS, selection)) {
      yield batch.map(({ reason, ...one }) => ({ kind: 'erasure' as const, ...one, shown: { reason } }));
    }
  },
};

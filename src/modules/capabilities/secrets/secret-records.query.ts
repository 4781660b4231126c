import { canonical } from '../../../domain/audit/entry/jcs.js';
import type { RecordKeeper } from '../../../platform/audit/record-keepers.js';
import { streamedRows } from '../../../platform/audit/record-rows.js';

interface Row {
  readonly organizationId: string;
  readonly name: string;
  readonly origins: string[];
  readonly sealed: string;
}

/** Secrets have their entries in the organization's chain, so of one agent, `$2`, there are none. */
const ROWS = `
  select s.organization_id as "organizationId", s.name, s.origins,
    encode(sha256(s.sealed), 'hex') as sealed from secrets s
  where ($1::text is null or s.organization_id = $1) and $2::text is null order by s.organization_id, s.name`;

/** Secrets in the words of the log: for which origins each is, and a digest of its value as it is sealed, never of the value. */
export const secretRecords: RecordKeeper = {
  kind: 'secret',
  definedIn: import.meta.url,
  rows: async function* (run, selection) {
    for await (const batch of streamedRows<Row>(run, ROWS, selection)) {
      yield batch.map(({ organizationId, name, origins, sealed }) =>
        ({ organizationId, id: name, agentId: null, capability: '', status: 'set', members: { origins: canonical(origins), sealed } }));
    }
  },
};

import type { EntryPosition, ExportedHead, ExportSource, PersonsEntry } from '../../../domain/audit/export/export-source.js';
import type { NextKey } from '../../../domain/audit/notes/key-succession.js';
import { verifierKey } from '../../../domain/audit/notes/note.js';
import type { StoredEntry } from '../../../domain/audit/entry/stored-entry.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { readByCursor } from '../../../platform/database/statements/read-by-cursor.js';
import { bounded } from '../query/bounded-text.js';
import { entriesAt } from '../query/entries.query.js';
import { ENTRY_COLUMNS, type EntryRow, numbered, ofEvent, type Row } from '../query/entry-rows.js';
import { authorizationNotes } from '../keys/authorization-notes.store.js';
import { checkpointOfSize, instanceName, newestCheckpoint, verifierKeys } from '../checkpoints/checkpoint.query.js';
import { mapLine } from '../proofs/proof.query.js';
import { leavesOf, leafPositionOf, readerOf } from '../checkpoints/tree-reader.query.js';
import { windowOf } from './export-window.query.js';

/** Rows that are in memory at once; entries come in smaller numbers, since each may be as long as a request. */
const ROWS = 1_000;
const ENTRIES = 100;

/**
 * @param run statements of a transaction that stands still
 * @param seed base64 of the Ed25519 seed that will sign the file: before the first checkpoint the database knows no key
 */
export async function sqlExportSource(run: ReadStatement, seed: string): Promise<ExportSource> {
  const rows = <T>(sql: string, parameters: readonly unknown[], atOnce = ROWS): AsyncGenerator<T[]> =>
    readByCursor<T>(run, sql, parameters, atOnce);
  const entries = async function* (sql: string, parameters: readonly unknown[]): AsyncGenerator<StoredEntry[]> {
    for await (const batch of rows<EntryRow>(sql, parameters, ENTRIES)) yield batch.map(numbered);
  };
  const instance = await instanceName(run);
  return {
    instance,
    keys: async () => {
      const known: NextKey[] = await verifierKeys(run);
      const own = verifierKey(instance, seed);
      return known.some(({ key }) => key === own) ? known : [...known, { key: own }];
    },
    checkpoint: (tree) => newestCheckpoint(run, tree),
    checkpointOfSize: (tree, size) => checkpointOfSize(run, tree, size),
    map: (organizationId) => mapLine(run, organizationId),
    reader: (tree, size) => readerOf(run, tree, size),
    leaves: (organizationId, from, to) => leavesOf(run, organizationId, from, to),
    pending: async function* (organizationId, size) {
      yield* leavesOf(run, organizationId, size);
      for await (const queued of rows<Row<EntryPosition & { seq: number }>>(QUEUED, [organizationId])) yield queued.map(numbered);
    },
    entries: (organizationId, positions) => entriesAt(run, organizationId, positions),
    heads: async function* (organizationId, chain) {
      for await (const heads of rows<Row<ExportedHead>>(HEADS, [organizationId, chain ?? null])) yield heads.map(numbered);
    },
    countHeads: async (organizationId, chain) => {
      const counted = await run(`select count(*)::integer as count from (${HEADS}) heads`, [organizationId, chain ?? null]);
      return (counted as [{ count: number }])[0].count;
    },
    strays: (organizationId, chain) => entries(STRAYS, [organizationId, chain ?? null]),
    ofEvent: (organizationId, event) => entries(ofEvent(ENTRY_COLUMNS), [organizationId, event]),
    notes: (operation, organizationId, ids) => authorizationNotes(run, operation, organizationId, ids),
    indexOf: (entry) => leafPositionOf(run, entry.organizationId, entry),
    window: (organizationId, size, from, to) => windowOf(run, organizationId, size, from, to),
    about: async function* (organizationId, userId) {
      for await (const found of rows<Row<PersonsEntry>>(ABOUT, [organizationId, userId], ENTRIES)) yield found.map(numbered);
    },
  };
}

const QUEUED = `
  select leaf.chain, leaf.seq from audit_tree_queue q
  cross join lateral unnest(q.chains, q.seqs) with ordinality as leaf(chain, seq, n)
  where q.organization_id = $1 order by q.id, leaf.n`;

const HEADS = `
  select h.organization_id as "organizationId", h.chain, h.seq, ${bounded('h.hash')} as hash,
    h.closed_at is not null as closed
  from audit_heads h
  where h.organization_id = $1 and ($2::text is null or h.chain = $2) order by h.chain`;

// From one chain to the next through the key, and of each only what lies behind its head.
const STRAYS = `
  with recursive chains as (
    (select e.chain from audit_entries e where e.organization_id = $1 and ($2::text is null or e.chain = $2) order by e.chain limit 1)
    union all
    select (select e.chain from audit_entries e
            where e.organization_id = $1 and e.chain > c.chain and ($2::text is null or e.chain = $2) order by e.chain limit 1)
    from chains c where c.chain is not null)
  select ${ENTRY_COLUMNS} from chains c
  left join audit_heads h on h.organization_id = $1 and h.chain = c.chain
  join audit_entries e on e.organization_id = $1 and e.chain = c.chain and e.seq > coalesce(h.seq, 0)
  order by e.chain, e.seq`;

const ABOUT = `
  select s.chain, s.seq, array_agg(s.pointer) as pointers from audit_subjects s
  where s.organization_id = $1 and s.user_id = $2 group by s.chain, s.seq order by s.chain, s.seq`;

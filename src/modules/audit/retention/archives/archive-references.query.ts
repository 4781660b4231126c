import { checkEntry } from '../../../../domain/audit/entry/check-entry.js';
import { vouchesFor, type VerifierKey } from '../../../../domain/audit/notes/note.js';
import {
  authorizationText, statementIn, type AuthorizedOperation, type SignedStatement,
} from '../../../../domain/audit/notes/authorization-note.js';
import { blanksListed } from '../../../../domain/audit/integrity/verify-erasures.js';
import type { StoredEntry } from '../../../../domain/audit/entry/stored-entry.js';
import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';
import { ENTRY_COLUMNS, numbered, type EntryRow } from '../../query/entry-rows.js';
import { erasureNotes } from '../../erasures/erasure-notes.query.js';
import { retentionRunNotes } from '../../verification/source/retention-run-entries.query.js';

// What the log that is still there says of archives. An entry that does not hash to itself says nothing.

/** The keys that sign now, and the installation's name, which all of their notes begin with. */
export interface CurrentSigners {
  readonly instance: string;
  readonly keys: readonly VerifierKey[];
}

/** What a sweep's entries tell of it. */
export interface ArchiveReference {
  readonly skeleton: string;
  readonly disclosures: string;
  readonly chains: ReadonlyMap<string, { readonly seq: number; readonly hash: string }>;
}

interface SaidOfSweep {
  readonly sweepId: string;
  readonly archive: { readonly skeleton: string; readonly disclosures: string };
  readonly chains: readonly { readonly chain: string; readonly seq: number; readonly hash: string }[];
}

const SOUND = (entry: StoredEntry): boolean => checkEntry(entry).findings.length === 0;

/** By the sweeps' ids; only of entries that are signed. */
export async function archiveReferences(
  run: ReadStatement, organizationId: string, by: CurrentSigners,
): Promise<Map<string, ArchiveReference>> {
  const found = new Map<string, ArchiveReference & { chains: Map<string, { seq: number; hash: string }> }>();
  const entries = await entriesOf(run, organizationId, 'admin.audit_retention_sweep');
  const notes = await retentionRunNotes(run, organizationId, entries.map(({ id }) => id));
  for (const entry of entries) {
    const told = statementIn(entry);
    if (!isSigned('sweep', notes.get(entry.id), { organizationId, ...told }, by)) continue;
    const { sweepId, archive, chains } = told.metadata as unknown as SaidOfSweep;
    const telling = found.get(sweepId) ?? { ...archive, chains: new Map() };
    for (const { chain, seq, hash } of chains) telling.chains.set(chain, { seq, hash });
    found.set(sweepId, telling);
  }
  return found;
}

/** What signed erasures in the log list. */
export async function erasuresOf(run: ReadStatement, organizationId: string, by: CurrentSigners): Promise<Set<string>> {
  const entries = await entriesOf(run, organizationId, 'gdpr.erasure_executed');
  const notes = await erasureNotes(run, organizationId, entries.map(({ id }) => id));
  const listed = new Set<string>();
  for (const entry of entries) {
    const told = statementIn(entry);
    if (!isSigned('erasure', notes.get(entry.id), { organizationId, ...told }, by)) continue;
    for (const blank of blanksListed(told.metadata['erased'])) listed.add(blank);
  }
  return listed;
}

function isSigned(
  order: AuthorizedOperation, note: string | undefined, { organizationId, ...told }: SignedStatement & { readonly organizationId: string },
  { instance, keys }: CurrentSigners,
): boolean {
  return note !== undefined && keys.length > 0 && vouchesFor(note, authorizationText(order, instance, organizationId, told), keys);
}

/** The first entry of each chain that is there, without regard to what a sweep still has to delete. */
export async function firstEntries(
  run: ReadStatement, organizationId: string,
): Promise<Pick<StoredEntry, 'chain' | 'seq' | 'prevHash' | 'event'>[]> {
  const rows = (await run(
    `select h.chain, first.seq, first.prev_hash as "prevHash", first.event from audit_heads h
     cross join lateral (select e.seq, e.prev_hash, e.event from audit_entries e
       where e.organization_id = h.organization_id and e.chain = h.chain order by e.seq limit 1) first
     where h.organization_id = $1`,
    [organizationId],
  )) as { chain: string; seq: string; prevHash: string | null; event: string }[];
  return rows.map(numbered);
}

async function entriesOf(run: ReadStatement, organizationId: string, event: string): Promise<StoredEntry[]> {
  const rows = (await run(
    `select ${ENTRY_COLUMNS} from audit_entries e
     where hashtextextended((e.organization_id || ' ' || e.event) collate "C", 0) = hashtextextended(($1 || ' ' || $2) collate "C", 0)
       and e.organization_id = $1 and e.event = $2 order by e.id`,
    [organizationId, event],
  )) as EntryRow[];
  return rows.map((row) => numbered(row) as StoredEntry).filter(SOUND);
}

import { checkEntry } from '../../../../domain/audit/entry/check-entry.js';
import { vouchesFor, type VerifierKey } from '../../../../domain/audit/notes/note.js';
import { authorizationText, statementIn, type AuthorizedOperation } from '../../../../domain/audit/notes/authorization-note.js';
import { blanksListed } from '../../../../domain/audit/integrity/verify-erasures.js';
import type { StoredEntry } from '../../../../domain/audit/entry/stored-entry.js';
import type { JsonObject } from '../../../../domain/json.js';
import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';
import { entriesOfEvent } from '../../query/entries.query.js';
import { numbered } from '../../query/entry-rows.js';
import { authorizationNotes } from '../../keys/authorization-notes.store.js';

// What the log that is still there says of archives. An entry that does not hash to itself says nothing.

/** The keys that sign now, and the installation's name, which all of their notes begin with. */
export interface CurrentSigners {
  readonly instance: string;
  readonly keys: readonly VerifierKey[];
}

/** What the entries of a retention run say of its archive. */
export interface ArchiveReference {
  readonly skeleton: string;
  readonly disclosures: string;
  readonly chains: ReadonlyMap<string, { readonly seq: number; readonly hash: string }>;
}

interface RetentionRunMetadata {
  readonly sweepId: string;
  readonly archive: { readonly skeleton: string; readonly disclosures: string };
  readonly chains: readonly { readonly chain: string; readonly seq: number; readonly hash: string }[];
}

/** By the ids of retention runs; only of entries that are signed. */
export async function archiveReferences(
  run: ReadStatement, organizationId: string, signers: CurrentSigners,
): Promise<Map<string, ArchiveReference>> {
  const found = new Map<string, ArchiveReference & { chains: Map<string, { seq: number; hash: string }> }>();
  for (const metadata of await signedMetadata(run, 'sweep', organizationId, signers)) {
    const { sweepId, archive, chains } = metadata as unknown as RetentionRunMetadata;
    const reference = found.get(sweepId) ?? { ...archive, chains: new Map() };
    for (const { chain, seq, hash } of chains) reference.chains.set(chain, { seq, hash });
    found.set(sweepId, reference);
  }
  return found;
}

export async function erasuresOf(run: ReadStatement, organizationId: string, signers: CurrentSigners): Promise<Set<string>> {
  const found = await signedMetadata(run, 'erasure', organizationId, signers);
  return new Set(found.flatMap(({ erased }) => [...blanksListed(erased)]));
}

const EVENTS = { sweep: 'admin.audit_retention_sweep', erasure: 'gdpr.erasure_executed' } as const;

/** The metadata of the entries of an operation that are sound, and signed by a key that signs now. */
async function signedMetadata(
  run: ReadStatement, operation: AuthorizedOperation, organizationId: string, { instance, keys }: CurrentSigners,
): Promise<JsonObject[]> {
  const entries = (await entriesOfEvent(run, organizationId, EVENTS[operation])).filter((one) => checkEntry(one).findings.length === 0);
  const notes = await authorizationNotes(run, operation, organizationId, entries.map(({ id }) => id));
  return entries.flatMap((entry) => {
    const [note, statement] = [notes.get(entry.id), statementIn(entry)];
    const text = authorizationText(operation, instance, organizationId, statement);
    return note !== undefined && keys.length > 0 && vouchesFor(note, text, keys) ? [statement.metadata] : [];
  });
}

/** The first entry of each chain that is there, without regard to what a retention run still has to delete. */
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

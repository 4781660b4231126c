import { randomBytes } from 'node:crypto';
import { statementIn } from '../../../domain/audit/notes/authorization-note.js';
import { CheckpointVerifier } from '../../../domain/audit/notes/verify-checkpoints.js';
import { policyCheck } from '../../../domain/audit/replay/policy-check.js';
import { RecordGaps } from '../../../domain/audit/completeness/record-gaps.js';
import { type IsAuthorizedRun, SharedFacts } from '../../../domain/audit/replay/state/shared-facts.js';
import type { EntryRange, LogSource } from '../../../domain/audit/integrity/log-source.js';
import type { LogCheck, Selection, VerifyOptions } from '../../../domain/audit/integrity/verify-log.js';
import type { ReadStatement, RecordKeeper } from '../../../platform/audit/record-keepers.js';
import { instanceName, verifierKeys as allKeys } from '../checkpoints/checkpoint.query.js';
import { notesInForce } from '../keys/authorization-notes.store.js';
import { sharedEntries, subjectRows, tenantsAround } from './source/shared-entries.query.js';

/** Of whom the log is read. */
type CheckedScope = Pick<VerifyOptions, 'agentId' | 'verifierKeys'> & { readonly organizations: readonly string[] | 'all' };

/**
 * The checks of completeness and replay. Facts that agents share, and what is missing of rows, are read at once; entries come with the pass
 * over the chains, and rows at its end. All is of one moment, that of `run`'s transaction.
 */
export async function logCheckOf(
  run: ReadStatement,
  source: LogSource,
  keepers: readonly RecordKeeper[],
  { organizations, agentId, verifierKeys }: CheckedScope,
): Promise<LogCheck> {
  const tenants = await tenantsAround(run, organizations);
  const shared = new SharedFacts(await authorizedRuns(run, verifierKeys), tenants);
  const delegators: string[] = [];
  for (const keeper of keepers) delegators.push(...((await keeper.delegators?.(run, organizations)) ?? []));
  const read = sharedEntries(run, { organizations, related: [...tenants.keys()], delegators });
  for await (const entries of read) for (const entry of entries) shared.add(entry);
  const selection: Selection = agentId === undefined ? {} : { chain: agentId };
  const parts: Selection[] = organizations === 'all'
    ? [selection]
    : organizations.map((organizationId) => ({ ...selection, organizationId }));
  const key = randomBytes(16);
  const gaps = new RecordGaps(key);
  for (const keeper of keepers) {
    if (!keeper.gaps) continue;
    for (const part of parts) for await (const some of keeper.gaps(run, part)) for (const gap of some) gaps.add(gap);
  }
  const range: EntryRange = agentId === undefined ? {} : { chains: [agentId] };
  const sources = {
    rows: async function* () {
      for (const keeper of keepers) {
        for (const part of parts) for await (const rows of keeper.rows(run, part)) yield { kind: keeper.kind, rows };
      }
    },
    subjects: async function* () {
      for (const part of parts) yield* subjectRows(run, part);
    },
    entries: () => source.read(range).entries,
    leaves: async function* (organizationId: string) {
      for await (const { leaves } of source.leaves(organizationId)) yield leaves;
      yield* source.queued([organizationId]);
    },
  };
  return policyCheck({ key, shared, gaps, ofOneAgent: agentId !== undefined }, sources);
}

/**
 * Tells whether the entry of a retention run is signed by a key that is not retired. The list of keys is the database's own here; the check
 * of integrity proves that the log announced each of them.
 *
 * @param pinned only these keys are believed
 */
async function authorizedRuns(run: ReadStatement, pinned: readonly string[] | undefined): Promise<IsAuthorizedRun> {
  const known = await allKeys(run);
  const keys = pinned ? known.filter(({ key }) => pinned.includes(key)) : known;
  const verifier = new CheckpointVerifier({ instance: await instanceName(run), keys });
  const notes = new Map((await notesInForce(run, 'sweep')).map(({ entryId, note }) => [entryId, note]));
  return ({ stored }) => {
    const statement = { organizationId: stored.organizationId, ...statementIn(stored) };
    return verifier.isOrdered('sweep', notes.get(stored.id) ?? null, statement, verifier.unretired);
  };
}

import { randomBytes } from 'node:crypto';
import { policyCheck } from '../../../domain/audit/replay/policy-check.js';
import { RecordGaps } from '../../../domain/audit/completeness/superseded/record-gaps.js';
import { SharedFacts } from '../../../domain/audit/replay/state/shared-facts.js';
import type { LogCheck } from '../../../domain/audit/integrity/log-check.js';
import type { EntryRange, LogSource } from '../../../domain/audit/integrity/log-source.js';
import type { Selection } from '../../../domain/audit/integrity/verify-log.js';
import type { ReadStatement, RecordKeeper } from '../../../platform/audit/record-keepers.js';
import { authorizedRuns } from './authorized-retention-runs.js';
import { sharedEntries } from './source/shared-entries.query.js';
import { subjectRows } from './source/subject-rows.query.js';
import { tenantsAround } from './source/tenants.query.js';
import { oneByOne, Pauses, yielding } from './cooperative-yield.js';

/** Of whom the log is read. */
export interface CheckedScope {
  readonly organizations: readonly string[] | 'all';
  /** Only this agent's chain. */
  readonly agentId?: string | undefined;
  /** Only these keys are believed, whatever the database says of others. */
  readonly verifierKeys?: readonly string[] | undefined;
}

/**
 * Who judges the log beside the pass over its chains. Reads at once what agents share, and of which rows not all is there; the rest
 * comes with the pass, and the rows at its end: all of one moment, the one of `run`'s transaction. A server judges in its own thread, and
 * so lets others come in between.
 */
export async function logChecksOf(
  run: ReadStatement,
  source: LogSource,
  keepers: readonly RecordKeeper[],
  { organizations, agentId, verifierKeys }: CheckedScope,
): Promise<LogCheck[]> {
  const tenants = await tenantsAround(run, organizations);
  const shared = new SharedFacts(await authorizedRuns(run, verifierKeys), tenants);
  const pauses = new Pauses();
  const told = sharedEntries(run, organizations, [...tenants.keys()]);
  for await (const [entry] of oneByOne(told, pauses)) shared.add(entry!);
  const selection: Selection = agentId === undefined ? {} : { chain: agentId };
  const parts: Selection[] = organizations === 'all'
    ? [selection]
    : organizations.map((organizationId) => ({ ...selection, organizationId }));
  const key = randomBytes(16);
  const gaps = new RecordGaps(key);
  for (const keeper of keepers) {
    if (!keeper.gaps) continue;
    for (const part of parts) for await (const [gap] of oneByOne(keeper.gaps(run, part), pauses)) gaps.add(gap!);
  }
  const range: EntryRange = agentId === undefined ? {} : { chains: [agentId] };
  const sources = {
    rows: async function* () {
      for (const keeper of keepers) {
        for (const part of parts) for await (const rows of oneByOne(keeper.rows(run, part), pauses)) yield { kind: keeper.kind, rows };
      }
    },
    subjects: async function* () {
      for (const part of parts) yield* subjectRows(run, part);
    },
    entries: () => oneByOne(source.read(range).entries, pauses),
    leaves: async function* (organizationId: string) {
      for await (const { leaves } of source.leaves(organizationId)) yield leaves;
      yield* source.queued([organizationId]);
    },
  };
  return [yielding(policyCheck({ key, shared, gaps, ofOneAgent: agentId !== undefined }, sources), pauses)];
}

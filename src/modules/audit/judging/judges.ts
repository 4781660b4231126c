import { randomBytes } from 'node:crypto';
import { gateJudge } from '../../../domain/audit/judging/gate-judge.js';
import { RecordGaps } from '../../../domain/audit/judging/record-gaps.js';
import { SharedFacts } from '../../../domain/audit/judging/shared-facts.js';
import type { LogJudge } from '../../../domain/audit/log-judge.js';
import type { EntryRange, LogSource } from '../../../domain/audit/entry-source.js';
import type { Selection } from '../../../domain/audit/verify.js';
import type { ReadStatement, RecordKeeper } from '../../../platform/audit/record-keepers.js';
import { orderedSweeps } from './ordered-sweeps.js';
import { sharedEntries } from './shared-entries.query.js';
import { subjectRows } from './subject-rows.query.js';
import { tenantsAround } from './tenants.query.js';
import { oneByOne, Pauses, unhurried } from './unhurried.js';

/** Of whom the log is read. */
export interface JudgedPart {
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
export async function judgesOf(
  run: ReadStatement,
  source: LogSource,
  keepers: readonly RecordKeeper[],
  { organizations, agentId, verifierKeys }: JudgedPart,
): Promise<LogJudge[]> {
  const tenants = await tenantsAround(run, organizations);
  const shared = new SharedFacts(await orderedSweeps(run, verifierKeys), tenants);
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
  return [unhurried(gateJudge({ key, shared, gaps, ofOneAgent: agentId !== undefined }, sources), pauses)];
}

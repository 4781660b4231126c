import { randomBytes } from 'node:crypto';
import { gateJudge } from '../../../domain/audit/judging/gate-judge.js';
import { SharedFacts } from '../../../domain/audit/judging/shared-facts.js';
import type { LogJudge } from '../../../domain/audit/log-judge.js';
import type { StoredEntry } from '../../../domain/audit/stored-entry.js';
import type { LogSource, Selection } from '../../../domain/audit/verify.js';
import type { ReadStatement, RecordKeeper } from '../../../platform/audit/record-keepers.js';
import { sharedEntries } from './shared-entries.query.js';

/** Of whom the log is read. */
export interface JudgedPart {
  readonly organizations: readonly string[] | 'all';
  /** Only this agent's chain. */
  readonly agentId?: string | undefined;
}

/**
 * Who judges the log beside the pass over its chains. Reads at once what agents share; the rest comes with the pass, and the rows at its
 * end: all of one moment, the one of `run`'s transaction.
 */
export async function judgesOf(
  run: ReadStatement,
  source: LogSource,
  keepers: readonly RecordKeeper[],
  { organizations, agentId }: JudgedPart,
): Promise<LogJudge[]> {
  const shared = new SharedFacts();
  for await (const batch of sharedEntries(run, organizations, 'audit_shared_facts')) for (const entry of batch) shared.add(entry);
  const selection: Selection = agentId === undefined ? {} : { chain: agentId };
  const parts: Selection[] = organizations === 'all'
    ? [selection]
    : organizations.map((organizationId) => ({ ...selection, organizationId }));
  const rows = async function* () {
    for (const keeper of keepers) {
      for (const part of parts) for await (const batch of keeper.rows(run, part)) yield { kind: keeper.kind, rows: batch };
    }
  };
  return [gateJudge(shared, { rows, entries: () => source.read(selection).entries }, randomBytes(16), agentId !== undefined)];
}

/** The same log; what is read of its part is shown to the judges too, as it comes. */
export function watched(source: LogSource, judges: readonly LogJudge[], agentId: string | undefined): LogSource {
  if (judges.length === 0) return source;
  const read = (selection: Selection) => {
    const streams = source.read(selection);
    // Of an agent's organization more may be looked up: that is not the part that is judged.
    return selection.chain === agentId ? { ...streams, entries: shown(streams.entries, judges) } : streams;
  };
  return { ...source, read };
}

type Batches = ReturnType<LogSource['read']>['entries'];

async function* shown(batches: Batches, judges: readonly LogJudge[]): AsyncGenerator<readonly StoredEntry[]> {
  for await (const batch of batches) {
    for (const entry of batch) for (const judge of judges) judge.entry(entry);
    yield batch;
  }
}

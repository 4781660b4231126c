import { retentionBoundary, type Span } from '../../../../domain/audit/retention/cut-point.js';
import type { PositionedEvent } from '../../../../domain/audit/retention/execution-spans.js';
import { PLATFORM_TREE } from '../../../../domain/audit/notes/checkpoint.js';
import { decodeTime } from '../../../../domain/audit/integrity/row-decoding.js';
import { firstIdAt } from '../../../../domain/ids.js';
import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';
import { bounded, ENTRY } from '../../query/bounded-text.js';
import { numbered } from '../../query/entry-rows.js';
import { checkpointOfSize } from '../../checkpoints/checkpoint.query.js';
import type { RetentionCheckpoint } from '../retention-run.js';

// What a retention run reads of the log to see how far it may go. Nothing here writes.

/** The newest anchored checkpoint of an organization that was made before the limit; undefined where there is none. */
export async function retentionCheckpoint(
  run: ReadStatement, organizationId: string, anchored: number, before: string,
): Promise<(RetentionCheckpoint & { readonly madeAt: string }) | undefined> {
  const rows = (await run(
    `select c.size, c.platform_size as "platformSize", c.made_at as "madeAt" from audit_checkpoints c
     join audit_checkpoints p on p.organization_id = $2 and p.size = c.platform_size
     where c.organization_id = $1`,
    [organizationId, PLATFORM_TREE],
  )) as { size: string; platformSize: string; madeAt: unknown }[];
  const checkpoints = rows.map(({ size, platformSize, madeAt }) =>
    ({ size: Number(size), platformSize: Number(platformSize), madeAt: decodeTime(madeAt) ?? 'no time' }));
  const size = retentionBoundary(checkpoints, anchored, before);
  if (size === 0) return undefined;
  const { root, platformSize, madeAt } = (await checkpointOfSize(run, organizationId, size))!;
  const platform = (await checkpointOfSize(run, PLATFORM_TREE, platformSize))!;
  return { size, root, platformSize, platformRoot: platform.root, madeAt };
}

/** What a plan has to know of an entry. */
export interface PlannedEntry extends PositionedEvent {
  readonly id: string;
  /** When it was written, as its writer said. */
  readonly timestamp: string;
  /** Of an erasure: hashes of the entries of which it lists values. */
  readonly erased: readonly string[];
}

/** The entries within these stretches, in each chain's order. */
export async function entriesWithin(run: ReadStatement, organizationId: string, stretches: readonly Span[]): Promise<PlannedEntry[]> {
  if (stretches.length === 0) return [];
  const rows = (await run(
    `select e.chain, e.seq, e.id, e.event, e."timestamp", e.payload::json #>> '{metadata,executionId}' as "executionId",
       e.payload::json #>> '{metadata,hitlId}' as "hitlId", e.payload::json #>> '{metadata,action}' as action,
       case when e.event = 'gdpr.erasure_executed' then e.payload::json #> '{metadata,erased}' end as erased
     from unnest($2::text[], $3::bigint[], $4::bigint[]) as s(chain, first, last)
     join audit_entries e on e.organization_id = $1 and e.chain = s.chain and e.seq between s.first and s.last
     order by e.chain, e.seq`,
    [organizationId, stretches.map(({ chain }) => chain), stretches.map(({ first }) => first), stretches.map(({ last }) => last)],
  )) as (Omit<PlannedEntry, 'seq' | 'erased'> & { seq: string; erased: readonly (readonly [string, string])[] | null })[];
  return rows.map((row) => ({ ...row, seq: Number(row.seq), erased: [...new Set(row.erased?.map(([hash]) => hash))] }));
}

/** An execution may be reported for so long after it ended. */
const REPORTED_WITHIN_MS = 26 * 3_600_000;
const EVENT_KEY = (event: string) => `hashtextextended(($1 || ' ${event}') collate "C", 0)`;
const KEY = `hashtextextended((e.organization_id || ' ' || e.event) collate "C", 0)`;

/** Reports and settlements of these executions, anywhere in the log. */
export async function namedLater(
  run: ReadStatement, organizationId: string, executionIds: readonly string[], newest: string,
): Promise<PositionedEvent[]> {
  if (executionIds.length === 0) return [];
  const rows = (await run(
    `select e.chain, e.seq, e.event, e.payload::json #>> '{metadata,executionId}' as "executionId", null as "hitlId", null as action
     from audit_entries e
     where e.organization_id = $1 and ((${KEY} = ${EVENT_KEY('execution.settled')} and e.event = 'execution.settled')
         or (${KEY} = ${EVENT_KEY('execution.reported')} and e.event = 'execution.reported' and e.id < $3))
       and e.payload::json #>> '{metadata,executionId}' = any ($2::text[])`,
    [organizationId, executionIds, firstIdAt('audit', Date.parse(newest) + REPORTED_WITHIN_MS)],
  )) as (Omit<PositionedEvent, 'seq'> & { seq: string })[];
  return rows.map(numbered);
}

/** Payloads of an organization's entries of retention runs, by their ids, as far as they are there. */
export async function retentionRunPayloads(
  run: ReadStatement, organizationId: string, ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = (await run(
    `select e.id, ${bounded('e.payload', ENTRY)} as payload from audit_entries e
     where e.organization_id = $1 and e.id = any ($2::text[]) and e.event = 'admin.audit_retention_sweep'`,
    [organizationId, ids],
  )) as { id: string; payload: string }[];
  return new Map(rows.map(({ id, payload }) => [id, payload]));
}

/** How long a chain is, and whether it has an erasure behind a position. */
export async function headSeq(run: ReadStatement, organizationId: string, chain: string): Promise<number> {
  const [row] = (await run('select seq from audit_heads where organization_id = $1 and chain = $2', [organizationId, chain])) as {
    seq: string;
  }[];
  return Number(row?.seq ?? 0);
}

export async function hasErasureBehind(run: ReadStatement, organizationId: string, chain: string, seq: number): Promise<boolean> {
  const [row] = (await run(
    `select exists (select from audit_entries where organization_id = $1 and chain = $2 and seq > $3
       and event = 'gdpr.erasure_executed') as found`,
    [organizationId, chain, seq],
  )) as [{ found: boolean }];
  return row.found;
}

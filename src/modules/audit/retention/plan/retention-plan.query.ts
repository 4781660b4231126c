import { retentionBoundary } from '../../../../domain/audit/retention/cut-point.js';
import type { PositionedEvent } from '../../../../domain/audit/retention/execution-spans.js';
import { PLATFORM_TREE } from '../../../../domain/audit/notes/checkpoint.js';
import { decodeTime } from '../../../../domain/audit/integrity/row-decoding.js';
import { firstIdAt } from '../../../../domain/ids.js';
import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';
import { bounded, ENTRY } from '../../query/bounded-text.js';
import { numbered } from '../../query/entry-rows.js';
import { checkpointOfSize } from '../../checkpoints/checkpoint.query.js';
import type { RetentionCheckpoint } from '../retention-run.js';

// What a sweep reads of the log to see how far it may go. Nothing here writes.

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

/** The first entry of each chain that is still there. */
export async function firstSurvivors(run: ReadStatement, organizationId: string): Promise<Map<string, number>> {
  const rows = (await run(
    `select h.chain, (select e.seq from audit_entries e where e.organization_id = h.organization_id and e.chain = h.chain
       order by e.seq limit 1) as first from audit_heads h where h.organization_id = $1`,
    [organizationId],
  )) as { chain: string; first: string | null }[];
  return new Map(rows.flatMap(({ chain, first }) => (first === null ? [] : [[chain, Number(first)] as const])));
}

/** A stretch of a chain, both ends within. */
export interface Stretch {
  readonly chain: string;
  readonly first: number;
  readonly last: number;
}

const columnsOf = (stretches: readonly Stretch[]) => [
  stretches.map(({ chain }) => chain), stretches.map(({ first }) => first), stretches.map(({ last }) => last),
];

const WITHIN = `unnest($2::text[], $3::bigint[], $4::bigint[]) as s(chain, first, last)
  join audit_entries e on e.organization_id = $1 and e.chain = s.chain and e.seq between s.first and s.last`;

/** What tells, within these stretches, of executions and requests, in each chain's order. */
export async function eventsWithin(run: ReadStatement, organizationId: string, stretches: readonly Stretch[]): Promise<PositionedEvent[]> {
  const rows = (await run(
    `select * from (
       select e.chain, e.seq, e.event, e.payload::json #>> '{metadata,executionId}' as "executionId",
         e.payload::json #>> '{metadata,hitlId}' as "hitlId", e.payload::json #>> '{metadata,action}' as action
       from ${WITHIN}) named
     where "executionId" is not null or "hitlId" is not null order by chain, seq`,
    [organizationId, ...columnsOf(stretches)],
  )) as (Omit<PositionedEvent, 'seq'> & { seq: string })[];
  return rows.map(numbered);
}

/** The id of the last of an organization's executions may be told of for so long after it ended. */
const REPORTED_WITHIN_MS = 26 * 3_600_000;
const EVENT_KEY = (event: string) => `hashtextextended(($1 || ' ${event}') collate "C", 0)`;
const KEY = `hashtextextended((e.organization_id || ' ' || e.event) collate "C", 0)`;

/** What was told of these executions, after they had ended, anywhere in the log. */
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

/** When the newest entry within the stretches was written, as their writers said. */
export async function newestWithin(run: ReadStatement, organizationId: string, stretches: readonly Stretch[]): Promise<string> {
  const [row] = (await run(`select max(e."timestamp") as newest from ${WITHIN}`, [organizationId, ...columnsOf(stretches)])) as [
    { newest: string },
  ];
  return row.newest;
}

/** Of each chain, the first entry within the stretches that was not written before this moment, as its writer said. */
export async function firstYoung(
  run: ReadStatement, organizationId: string, stretches: readonly Stretch[], before: string,
): Promise<Map<string, number>> {
  const rows = (await run(
    `select e.chain, min(e.seq) as seq from ${WITHIN} where e."timestamp" >= $5 group by e.chain`,
    [organizationId, ...columnsOf(stretches), before],
  )) as { chain: string; seq: string }[];
  return new Map(rows.map(({ chain, seq }) => [chain, Number(seq)]));
}

export interface ErasureWithin {
  readonly chain: string;
  readonly seq: number;
  /** Hashes of the entries of which it lists values. */
  readonly hashes: readonly string[];
}

export async function erasuresWithin(run: ReadStatement, organizationId: string, stretches: readonly Stretch[]): Promise<ErasureWithin[]> {
  const rows = (await run(
    `select e.chain, e.seq, e.payload from ${WITHIN} where e.event = 'gdpr.erasure_executed'`, [organizationId, ...columnsOf(stretches)],
  )) as { chain: string; seq: string; payload: string }[];
  return rows.map(({ chain, seq, payload }) => {
    const { erased } = (JSON.parse(payload) as { metadata: { erased: readonly (readonly [string, string])[] } }).metadata;
    return { chain, seq: Number(seq), hashes: [...new Set(erased.map(([hash]) => hash))] };
  });
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

/** Ids of entries of sweeps within the stretches. */
export async function retentionEntriesWithin(run: ReadStatement, organizationId: string, stretches: readonly Stretch[]): Promise<string[]> {
  const rows = (await run(
    `select e.id from ${WITHIN} where e.event = 'admin.audit_retention_sweep'`, [organizationId, ...columnsOf(stretches)],
  )) as { id: string }[];
  return rows.map(({ id }) => id);
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

import { PLATFORM_TREE, type StoredCheckpoint } from '../../../domain/audit/notes/checkpoint.js';
import { MAP_DEPTH } from '../../../domain/audit/tree/organization-map.js';
import type { StoredMapNode } from '../../../domain/audit/tree/stored-map-nodes.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';

// What the leader writes when it signs, each function within its transaction.

/**
 * Organizations of whose tree the map has another head than the database.
 *
 * @param limit how many at most; null: all
 */
export async function organizationsBeyondMap(run: RunStatement, limit: number | null): Promise<string[]> {
  const rows = (await run(BEYOND_MAP, [limit])) as { organization: string }[];
  return rows.map(({ organization }) => organization);
}

export async function writeMapNodes(run: RunStatement, nodes: readonly StoredMapNode[]): Promise<void> {
  await run(WRITE_NODES, [
    nodes.map(({ depth }) => depth),
    nodes.map(({ prefix }) => Buffer.from(prefix)),
    nodes.map(({ hash }) => Buffer.from(hash)),
    nodes.map(({ head }) => head?.organization ?? null),
    nodes.map(({ head }) => head?.size ?? null),
    nodes.map(({ head }) => head?.root ?? null),
  ]);
}

/** Signed again, as when keys change, a checkpoint replaces the one of the same tree and size. */
export async function writeCheckpoints(run: RunStatement, made: readonly StoredCheckpoint[]): Promise<void> {
  await run(WRITE_CHECKPOINTS, [JSON.stringify(made)]);
}

/** The key that an installation signs with from the first time that it signs. Another replica may write it at the same moment. */
export async function writeFirstKey(run: RunStatement, keyId: string, verifierKey: string): Promise<void> {
  await run('insert into audit_signing_keys (key_id, verifier_key, from_size) values ($1, $2, 0) on conflict do nothing', [
    keyId, verifierKey,
  ]);
}

/** A key, and the note by which the one before vouches for it. */
export interface NewKey {
  readonly keyId: string;
  readonly verifierKey: string;
  readonly note: string;
}

/** From this size of the platform's tree on the new key signs; it is the last that the others have signed. */
export async function replaceKey(run: RunStatement, { keyId, verifierKey, note }: NewKey, size: number): Promise<void> {
  await run('update audit_signing_keys set retired_at_size = $2 where key_id <> $1 and retired_at_size is null', [keyId, size]);
  await run('insert into audit_signing_keys (key_id, verifier_key, from_size, note) values ($1, $2, $3, $4)', [
    keyId, verifierKey, size, note,
  ]);
}

/** By the database's clock, which all replicas share. */
export async function now(run: RunStatement): Promise<Date> {
  const [row] = await run('select clock_timestamp() as now', []);
  return row!.now as Date;
}

/**
 * Of the checkpoints made in the hour from `since` on, keeps each tree's first, its newest of all, and those that somebody counts on:
 * retention runs, anchors, and keys by the size at which they began or ended. Consistency proofs lead past what is gone.
 *
 * @returns how many rows it deleted, `limit` at most
 */
export async function thinOut(run: RunStatement, since: Date, limit: number): Promise<number> {
  const [row] = await run(THIN_OUT, [since, limit]);
  return Number(row!.count);
}

/** When the oldest checkpoint behind this time was made. */
export async function oldestSince(run: RunStatement, since: Date): Promise<Date | undefined> {
  const [row] = await run('select min(made_at) as oldest from audit_checkpoints where made_at >= $1', [since]);
  return (row!.oldest as Date | null) ?? undefined;
}

const BEYOND_MAP = `
  select t.organization_id as organization from audit_trees t
  where t.organization_id <> '${PLATFORM_TREE}'
    and not exists (select from audit_map_nodes m
      where m.depth = ${MAP_DEPTH} and m.prefix = sha256(convert_to(t.organization_id, 'UTF8')) and m.size = t.size and m.root = t.root)
  order by t.organization_id limit $1`;

const WRITE_NODES = `
  insert into audit_map_nodes (depth, prefix, hash, organization_id, size, root)
  select * from unnest($1::smallint[], $2::bytea[], $3::bytea[], $4::text[], $5::bigint[], $6::text[])
  on conflict (depth, prefix) do update set hash = excluded.hash, size = excluded.size, root = excluded.root`;

const WRITE_CHECKPOINTS = `
  insert into audit_checkpoints (organization_id, size, root, note, platform_size, made_at)
  select * from json_to_recordset($1::json) as made(
    "organizationId" text, size bigint, root text, note text, "platformSize" bigint, "madeAt" timestamptz)
  on conflict (organization_id, size) do update
    set root = excluded.root, note = excluded.note, platform_size = excluded.platform_size, made_at = excluded.made_at`;

const THIN_OUT = `
  with hour as (
    select h.*, row_number() over (partition by h.organization_id order by h.size) as rank
    from audit_checkpoints h where h.made_at >= $1 and h.made_at < $1 + interval '1 hour'
  ), gone as (
    delete from audit_checkpoints c using (
      select x.organization_id, x.size from hour x where x.rank > 1
        and exists (select from audit_checkpoints newer where newer.organization_id = x.organization_id and newer.size > x.size)
        and not exists (select from audit_sweeps s
          where s.organization_id = x.organization_id and s.checkpoint ->> 'size' = x.size::text
            or x.organization_id = '${PLATFORM_TREE}' and s.checkpoint ->> 'platformSize' = x.size::text)
        and not exists (select from audit_anchors a where x.organization_id = '${PLATFORM_TREE}' and a.size = x.size)
        and not exists (select from audit_signing_keys k where x.platform_size in (k.from_size, k.retired_at_size))
      limit $2) spent
    where c.organization_id = spent.organization_id and c.size = spent.size
    returning 1
  )
  select count(*) from gone`;

import type { ShownMapNode } from '../../../domain/audit/integrity/log-source.js';
import { MAP_DEPTH, type OrganizationHead } from '../../../domain/audit/tree/organization-map.js';
import type { MapContent, MapKey, MapSource } from '../../../domain/audit/tree/stored-map-nodes.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';

const KEY_BYTES = 32;

interface ContentRow {
  readonly node: Buffer | null;
  readonly key: Buffer | null;
  readonly leaf: Buffer | null;
}

/** The map as it is stored: one statement for each reading of keys, however many. */
export function mapSourceOf(run: ReadStatement): MapSource {
  return {
    contents: async (keys) => {
      const rows = (await run(CONTENTS, [
        keys.map(({ depth }) => depth),
        keys.map(({ prefix }) => Buffer.from(prefix)),
        keys.map((key) => bound(key, 0)),
        keys.map((key) => bound(key, 1)),
      ])) as ContentRow[];
      return rows.map(contentOf);
    },
  };
}

/** The heads of all organizations as the map holds them: those of their newest checkpoints. */
export async function mapHeads(run: ReadStatement): Promise<OrganizationHead[]> {
  const rows = (await run(
    `select organization_id as organization, size, root from audit_map_nodes where depth = ${MAP_DEPTH} order by prefix`, [],
  )) as { organization: string; size: string; root: string }[];
  return rows.map(({ organization, size, root }) => ({ organization, size: Number(size), root }));
}

/** The head of a leaf as its row has it, with whatever organization that names; undefined where there is no such leaf. */
export async function mapHeadAt(run: ReadStatement, key: Uint8Array): Promise<OrganizationHead | undefined> {
  const [row] = (await run(
    `select organization_id as organization, size, root from audit_map_nodes where depth = ${MAP_DEPTH} and prefix = $1`,
    [Buffer.from(key)],
  )) as { organization: string | null; size: string; root: string | null }[];
  return row && { organization: row.organization ?? '', size: Number(row.size), root: row.root ?? '' };
}

/** As a row has it: a number as its digits, and anything null where somebody has made room for that. */
export interface MapNodeRow {
  readonly depth: number;
  readonly prefix: Buffer | null;
  readonly hash: Buffer | null;
  readonly organization: string | null;
  readonly size: string | null;
  readonly root: string | null;
}

/**
 * The whole map for whoever computes it anew: a prefix comes before all that are longer and begin with it, so every node before those
 * below it. A leaf is looked for where its organization should stand, and not where its row says.
 */
export const MAP_NODES = `
  select m.depth, m.prefix, m.hash, m.organization_id as organization, m.size, m.root from audit_map_nodes m
  order by case when m.depth = ${MAP_DEPTH} and m.organization_id is not null
    then sha256(convert_to(m.organization_id, 'UTF8')) else m.prefix end, m.depth`;

export function mapNode({ prefix, hash, size, ...row }: MapNodeRow): ShownMapNode {
  return { ...row, prefix: prefix ?? EMPTY, hash: hash ?? EMPTY, size: size === null ? null : Number(size) };
}

const EMPTY = Buffer.alloc(0);

// Where no node stands there are not two leaves, so that the first one is the only one.
const CONTENTS = `
  select node.hash as node, leaf.prefix as key, leaf.hash as leaf
  from unnest($1::smallint[], $2::bytea[], $3::bytea[], $4::bytea[]) with ordinality as k(depth, prefix, low, high, n)
  left join lateral (
    select m.hash from audit_map_nodes m where k.depth < ${MAP_DEPTH} and m.depth = k.depth and m.prefix = k.prefix) node on true
  left join lateral (
    select m.prefix, m.hash from audit_map_nodes m
    where node.hash is null and m.depth = ${MAP_DEPTH} and m.prefix between k.low and k.high
    order by m.prefix limit 1) leaf on true
  order by k.n`;

function contentOf({ node, key, leaf }: ContentRow): MapContent {
  if (node) return { node };
  return key && leaf ? { leaf: { key, hash: leaf } } : undefined;
}

/** The first or the last key in a subtree. */
function bound({ depth, prefix }: MapKey, bit: 0 | 1): Buffer {
  const first = Buffer.alloc(KEY_BYTES, bit ? 0xff : 0);
  first.set(prefix);
  if (bit && depth % 8 > 0) first[prefix.length - 1]! |= 0xff >> (depth % 8);
  return first;
}

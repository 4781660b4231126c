import { hashText, EMPTY_ROOT } from '../../../../src/domain/audit/tree/rfc6962.js';
import { mapLeaf, mapKeyOf } from '../../../../src/domain/audit/tree/organization-map.js';
import { newId } from '../../../../src/domain/ids.js';
import { forgedFrom, spoilt } from '../altered-entry.js';
import { regrown, type ForgedLeaf } from '../forging.js';
import type { TamperTarget, Tampering } from '../tampering.js';

/** Heads, trees, the queue, the map and the platform's tree, each by itself. */

const OTHER_ROOT = hashText(EMPTY_ROOT);
/** Why a file says nothing of a row: it shows what was signed, and what leads there. */
const SIGNED_ALONE = 'a file shows what was signed, not what the rows say of a tree';
/** Why a hash in a row may be another, and the file is right: what stands is hashed as the file shows it, only gaps rest on the rows. */
const HASHED_ANEW = 'a file shows the entries, whose hashes are right, and not what the rows of the tree say of them';
const TREE = ['tree_mismatch', 'inserted', 'truncated', 'chain_removed', 'deleted', 'forked', 'reordered'] as const;

function head(name: string, kinds: Tampering['kinds'], sql: string, suits = 'true'): Tampering {
  return {
    name: `head: ${name}`, kinds,
    tamper: async ({ run, organizationId, random, log }) => {
      const rows = await run(
        `select chain from audit_heads where organization_id = $1 and seq > 0 and ${suits} order by chain`, [organizationId]);
      const known = rows.filter(({ chain }) => log.chainsOf(organizationId).has(chain as string));
      if (known.length === 0) return undefined;
      const { chain } = random.of(known) as { chain: string };
      await run(sql, [organizationId, chain]);
      return { at: [chain, organizationId] };
    },
  };
}

/** The leaves of an organization's tree in another order, or others: the tree grown anew from them, as the service would. */
function leaves(name: string, tamper: (leaves: ForgedLeaf[], place: TamperTarget) => ForgedLeaf[] | undefined): Tampering {
  return {
    name: `tree: ${name}`, kinds: TREE,
    tamper: async (place) => {
      if (place.leaves.length < 3) return undefined;
      const forged = tamper([...place.leaves], place);
      if (!forged) return undefined;
      await regrown(place, forged);
      return { at: [...new Set([place.organizationId, ...place.log.chainsOf(place.organizationId).keys(),
        ...forged.map(({ chain }) => chain)])] };
    },
  };
}

/** The row, or a tile of it, changed as it stands. */
function stored(name: string, sql: string, parameters: (place: TamperTarget) => unknown[] = () => [],
  at: 'own' | 'platform' = 'own'): Tampering {
  return {
    name: `tree: ${name}`, kinds: [...TREE, 'checkpoint_invalid'],
    tamper: async (place) => {
      const mine = parameters(place);
      const changed = await place.run(`${sql} returning 1 as one`, at === 'own' ? [place.organizationId, ...mine] : mine);
      return changed.length === 0 ? undefined
        : { at: [...(at === 'own' ? [place.organizationId, ...place.log.chainsOf(place.organizationId).keys()] : ['platform'])] };
    },
  };
}

const ofNothing = (): ForgedLeaf => ({ chain: newId('agt'), seq: 1, hash: 'ab'.repeat(32) });
const swapped = <T>(all: T[], one: number, other: number) => all.map((leaf, n) => (n === one ? all[other]! : n === other
  ? all[one]! : leaf));
const numbers = ({ leaves: all }: TamperTarget) => all.map((_, n) => n);

export const TREES: readonly Tampering[] = [
  head('one position back', ['inserted', 'truncated', 'edited'],
    'update audit_heads set seq = seq - 1 where organization_id = $1 and chain = $2'),
  head('positions ahead', ['truncated'], 'update audit_heads set seq = seq + 3 where organization_id = $1 and chain = $2'),
  head('another hash', ['edited', 'truncated'],
    `update audit_heads set hash = repeat('a', 64) where organization_id = $1 and chain = $2`),
  head('gone', ['truncated', 'chain_removed'], 'delete from audit_heads where organization_id = $1 and chain = $2'),
  head('closed', ['edited'], 'update audit_heads set closed_at = now() where organization_id = $1 and chain = $2', 'closed_at is null'),
  head('opened again', ['edited'], 'update audit_heads set closed_at = null where organization_id = $1 and chain = $2',
    'closed_at is not null'),
  { ...leaves('another hash in a leaf', (all, { random }) => {
    const at = random.below(all.length);
    return all.map((leaf, n) => (n === at ? { ...leaf, hash: spoilt(leaf.hash, random) } : leaf));
  }), unseen: HASHED_ANEW },
  leaves('another position in a leaf', (all, { random }) => {
    const at = random.below(all.length);
    return all.map((leaf, n) => (n === at ? { ...leaf, seq: leaf.seq + 1 + random.below(5) } : leaf));
  }),
  leaves('another chain in a leaf', (all, { random }) => {
    const at = random.below(all.length);
    const chain = random.of(all.map((leaf) => leaf.chain).filter((one) => one !== all[at]!.chain).concat(newId('agt')));
    return all.map((leaf, n) => (n === at ? { ...leaf, chain } : leaf));
  }),
  leaves('two leaves that changed places', (all, place) => swapped(all, ...place.random.two(numbers(place)))),
  leaves('a leaf taken out', (all, { random }) => {
    const at = random.below(all.length);
    return all.filter((_, n) => n !== at);
  }),
  leaves('its end cut off', (all, { random }) => all.slice(0, 1 + random.below(all.length - 1))),
  leaves('a leaf that stands twice', (all, { random }) => {
    const at = random.below(all.length);
    return [...all.slice(0, at), all[at]!, ...all.slice(at)];
  }),
  leaves('a leaf of nothing', (all, { random }) => {
    const at = random.below(all.length);
    return [...all.slice(0, at), ofNothing(), ...all.slice(at)];
  }),
  { ...leaves('a leaf of nothing behind the last', (all) => [...all, ofNothing()]),
    unseen: 'a leaf that no checkpoint holds has no entry to be shown' },
  leaves('gone', () => []),
  { ...stored('another size', 'update audit_trees set size = size + $2 where organization_id = $1',
    ({ random }) => [1 + random.below(3)]), unseen: SIGNED_ALONE },
  { ...stored('another root', 'update audit_trees set root = $2 where organization_id = $1', () => [OTHER_ROOT]), unseen: SIGNED_ALONE },
  stored('its row is gone', 'delete from audit_trees where organization_id = $1'),
  { ...stored('a hash in the tail', `update audit_trees set tail_hashes[1 + $2] = repeat('0', 64)
    where organization_id = $1 and cardinality(tail_hashes) > $2::integer`, ({ random }) => [random.below(40)]), unseen: HASHED_ANEW },
  stored('a chain in the tail', `update audit_trees set tail_chains[1 + $2] = 'agt_nobody'
    where organization_id = $1 and cardinality(tail_hashes) > $2::integer`, ({ random }) => [random.below(40)]),
  { ...stored('a byte of a tile', `update audit_tree_leaves set hashes = set_byte(hashes, $2::integer, 255 - get_byte(hashes, $2::integer))
    where organization_id = $1 and tile = (select $3::integer % count(*) from audit_tree_leaves where organization_id = $1)`,
  ({ random }) => [random.below(8_192), random.below(1_000)]), unseen: HASHED_ANEW },
  stored('a position in a tile', `update audit_tree_leaves set seqs[1 + $2] = seqs[1 + $2] + 1
    where organization_id = $1 and tile = (select $3::integer % count(*) from audit_tree_leaves where organization_id = $1)`,
  ({ random }) => [random.below(256), random.below(1_000)]),
  stored('a tile gone', `delete from audit_tree_leaves
    where organization_id = $1 and tile = (select $2::integer % count(*) from audit_tree_leaves where organization_id = $1)`,
  ({ random }) => [random.below(1_000)]),
  {
    name: 'queue: a leaf that is in the tree', kinds: ['tree_mismatch'],
    unseen: 'what is in the tree is shown once; the queue adds nothing to it',
    tamper: async ({ run, organizationId, leaves: all, random, log }) => {
      const standing = all.filter(({ chain, seq }) => seq > (log.cut.get(`${organizationId} ${chain}`) ?? 0));
      const leaf = random.of(standing);
      await run('insert into audit_tree_queue (organization_id, chains, seqs, hashes) values ($1, $2, $3, $4)',
        [organizationId, [leaf.chain], [leaf.seq], [leaf.hash]]);
      return { at: [leaf.chain] };
    },
  },
  {
    name: 'queue: a leaf of nothing', kinds: ['truncated', 'chain_removed', 'tree_mismatch', 'deleted'],
    unseen: 'a leaf that only the queue knows has no entry to be shown',
    tamper: async (place) => {
      const chain = place.chain();
      if (!chain) return undefined;
      const forged = forgedFrom(chain[0]!, { chain: chain[0]!.chain, seq: chain.at(-1)!.seq + 1, prevHash: null });
      await place.run('insert into audit_tree_queue (organization_id, chains, seqs, hashes) values ($1, $2, $3, $4)',
        [place.organizationId, [forged.chain], [forged.seq], [forged.hash]]);
      return { at: [forged.chain, place.organizationId] };
    },
  },
  stored("a leaf of the platform's tree changed",
    `update audit_trees set tail_data[1 + $1] = replace(tail_data[1 + $1], '"map":"', '"map":"A')
    where organization_id = 'platform' and cardinality(tail_data) > $1::integer`,
  ({ random, log }) => [random.below(log.checkpoints.get('platform')!.length % 256)], 'platform'),
  stored("a leaf of the platform's tree taken off",
    `update audit_trees set tail_data = tail_data[1:cardinality(tail_data) - 1], size = size - 1
    where organization_id = 'platform' and cardinality(tail_data) > 0`, () => [], 'platform'),
  { ...stored("a leaf of the platform's tree added, unsigned",
    `update audit_trees set tail_data = tail_data || tail_data[1], size = size + 1
    where organization_id = 'platform' and cardinality(tail_data) > 0`, () => [], 'platform'), unseen: SIGNED_ALONE },
  { ...stored("another root of the platform's tree", `update audit_trees set root = $1 where organization_id = 'platform'`,
    () => [OTHER_ROOT], 'platform'), unseen: SIGNED_ALONE },
  stored("the platform's tree gone", `delete from audit_trees where organization_id = 'platform'`, () => [], 'platform'),
  map('another size', 'update audit_map_nodes set size = size + 1 where organization_id = $1'),
  map('another root', `update audit_map_nodes set root = '${OTHER_ROOT}' where organization_id = $1`),
  map('another hash of a leaf', `update audit_map_nodes set hash = sha256(hash) where organization_id = $1`),
  map('a leaf at another place',
    'update audit_map_nodes set prefix = set_byte(prefix, 5, 255 - get_byte(prefix, 5)) where organization_id = $1'),
  node('with another hash', 'update audit_map_nodes set hash = sha256(hash)'),
  node('taken out', 'delete from audit_map_nodes'),
  node('at another place', String.raw`update audit_map_nodes set prefix = prefix || '\x00'`),
  node('put in', 'insert into audit_map_nodes (depth, prefix, hash) select 200, substring(prefix for 25), hash from audit_map_nodes',
    'depth = 256'),
  map('an organization taken out', 'delete from audit_map_nodes where organization_id = $1'),
  {
    ...map('an organization put in that there is not', ''), whole: 'only who sees all organizations computes the whole map',
    unseen: 'a file shows the paths of its organizations',
    tamper: async ({ run }) => {
      const organization = newId('org');
      const hash = mapLeaf({ organization, size: 1, root: OTHER_ROOT });
      await run(`insert into audit_map_nodes (depth, prefix, hash, organization_id, size, root) values (256, $1, $2, $3, 1, $4)`,
        [Buffer.from(mapKeyOf(organization)), Buffer.from(hash), organization, OTHER_ROOT]);
      return { at: [organization, 'platform'] };
    },
  },
  {
    ...map('two trees for one tenant', ''), whole: 'only who sees all organizations computes the whole map',
    unseen: 'a file shows the one path that its organization has',
    tamper: async ({ run, organizationId }) => {
      const rows = await run(
        `insert into audit_map_nodes (depth, prefix, hash, organization_id, size, root)
         select 256, set_byte(prefix, 5, 255 - get_byte(prefix, 5)), hash, organization_id, 1, $2 from audit_map_nodes
         where organization_id = $1 returning 1 as one`, [organizationId, OTHER_ROOT]);
      return rows.length === 0 ? undefined : { at: [organizationId, 'platform'] };
    },
  },
  gone('its checkpoints and its place in the map', ['checkpoints', 'map_nodes']),
  gone('its tree, its checkpoints and its place in the map', ['trees', 'tree_leaves', 'checkpoints', 'map_nodes']),
  gone('the whole organization', ['entries', 'heads', 'trees', 'tree_leaves', 'tree_queue', 'subjects', 'checkpoints']),
  gone('the whole organization and its place in the map',
    ['entries', 'heads', 'trees', 'tree_leaves', 'tree_queue', 'subjects', 'checkpoints', 'map_nodes']),
];

/**
 * All rows of an organization in these tables are gone, which alone would say that anything was signed of it. Without its tree, each of its
 * entries is one that was never appended: of a long chain these are the thousand that are named.
 */
function gone(what: string, tables: readonly string[]): Tampering {
  const isTreeless = tables.includes('trees') && !tables.includes('entries');
  return {
    name: `gone: ${what}`, kinds: ['checkpoint_invalid', 'tree_mismatch', 'chain_removed', ...(isTreeless ? ['inserted' as const] : [])],
    tamper: async ({ run, organizationId, chains }) => {
      for (const table of tables) await run(`delete from audit_${table} where organization_id = $1`, [organizationId]);
      return { at: [...chains, 'platform'] };
    },
  };
}

/** One that stands over several organizations, or whatever suits; which those are is no matter of one of them alone. */
function node(name: string, sql: string, suits = 'depth < 256'): Tampering {
  return {
    name: `map: a node ${name}`, kinds: ['tree_mismatch'], whole: 'only who sees all organizations computes the whole map',
    unseen: 'a file shows the nodes beside the paths of its organizations',
    tamper: async ({ run, random }) => {
      const rows = await run(`select ctid::text as at from audit_map_nodes where ${suits} order by prefix, depth`, []);
      if (rows.length === 0) return undefined;
      const changed = await run(`${sql} where ctid = $1::tid returning 1 as one`, [(random.of(rows) as { at: string }).at]);
      return changed.length === 0 ? undefined : { at: ['platform'] };
    },
  };
}

function map(name: string, sql: string): Tampering {
  return {
    name: `map: ${name}`, kinds: ['checkpoint_invalid', 'tree_mismatch', 'chain_removed'],
    ...(sql.startsWith('update') ? { unseen: 'a file shows what was signed and the path to it, not the rows of the map' } : {}),
    tamper: async ({ run, organizationId }) => {
      const changed = await run(`${sql} returning 1 as one`, [organizationId]);
      return changed.length === 0 ? undefined : { at: [organizationId, 'platform'] };
    },
  };
}

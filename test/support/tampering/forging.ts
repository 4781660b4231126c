import { signingKey, type SigningKey } from '../../../src/domain/audit/notes/note.js';
import type { StoredEntry } from '../../../src/domain/audit/entry/stored-entry.js';
import { makeCheckpoints } from '../../../src/modules/audit/checkpoints/sign-checkpoints.js';
import { LeafIntegrator } from '../../../src/modules/audit/checkpoints/leaf-integrator.js';
import { SignedState } from '../../../src/modules/audit/checkpoints/signed-state.js';
import type { TamperTarget } from './tampering.js';

// What somebody can make who owns the database and runs the service's own code against it.

export type ForgedLeaf = Pick<StoredEntry, 'chain' | 'seq' | 'hash'>;

/** The tree's leaves, those of a chain replaced: in their places as far as there are as many, the rest left out or behind. */
export function withLeaves({ leaves }: TamperTarget, old: readonly StoredEntry[], entries: readonly StoredEntry[]): ForgedLeaf[] {
  const seqs = new Set(old.map(({ seq }) => seq));
  const next = [...entries];
  const forged = leaves.flatMap((leaf): ForgedLeaf[] => {
    if (leaf.chain !== old[0]!.chain || !seqs.has(leaf.seq)) return [leaf];
    const [entry] = next.splice(0, 1);
    return entry ? [entry] : [];
  });
  return [...forged, ...next];
}

/** Grows the organization's tree anew from these leaves. */
export async function regrown(
  { run, organizationId }: Pick<TamperTarget, 'run' | 'organizationId'>, leaves: readonly ForgedLeaf[], of = organizationId,
): Promise<void> {
  for (const table of ['audit_tree_leaves', 'audit_tree_tiles', 'audit_tree_queue', 'audit_trees']) {
    await run(`delete from ${table} where organization_id = $1`, [of]);
  }
  if (leaves.length === 0) return;
  await run('insert into audit_tree_queue (organization_id, chains, seqs, hashes) values ($1, $2, $3, $4)', [
    of, leaves.map(({ chain }) => chain), leaves.map(({ seq }) => seq), leaves.map(({ hash }) => hash),
  ]);
  await new LeafIntegrator({ run: (work) => work(run), transact: (work) => work(run) }, SignedState.unproven()).drain();
  await planAsUsual(run);
}

/** What the server does next: it takes what is queued into the trees, and signs. */
export async function carriedOn({ run, log: { instance, seed } }: TamperTarget): Promise<void> {
  const trees = SignedState.unproven();
  await new LeafIntegrator({ run: (work) => work(run), transact: (work) => work(run) }, trees).drain();
  await makeCheckpoints(run, { instance, keys: [signingKey(instance, seed)], trees, organizations: null });
  await planAsUsual(run);
}

/** Signs the whole history anew, as if it had never been another: map, platform's tree and checkpoints of so many rounds. */
export async function resigned({ run, log: { instance, seed } }: TamperTarget, rounds: number, key: SigningKey = signingKey(instance,
  seed)): Promise<void> {
  for (const table of ['audit_checkpoints', 'audit_map_nodes', 'audit_platform_leaves']) await run(`delete from ${table}`);
  await run(`delete from audit_tree_tiles where organization_id = 'platform'`);
  await run(`delete from audit_trees where organization_id = 'platform'`);
  await run('update audit_signing_keys set from_size = 0 where retired_at_size is null');
  for (let n = 0; n < rounds; n++) {
    await makeCheckpoints(run, { instance, keys: [key], trees: SignedState.unproven(), organizations: null });
  }
  await planAsUsual(run);
}

/** Works of the leader look up by keys alone; whoever verifies does not. */
async function planAsUsual(run: TamperTarget['run']): Promise<void> {
  await run(`select set_config(name, 'on', true) from unnest(array['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin']) as s(name)`);
}

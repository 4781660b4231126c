import { organizationChain } from '../../../src/domain/audit/chain.js';
import type { StoredEntry } from '../../../src/domain/audit/stored-entry.js';
import { newId } from '../../../src/domain/ids.js';
import { forgedFrom } from './changed.js';
import { stamped } from './every-event.js';
import { append } from './lives.js';
import type { Place, Tampering } from './place.js';

/** Chains that are cut, or are said to be. */

interface Cut {
  readonly chain: string;
  readonly seq: number;
  readonly hash: string;
  readonly count: number;
  readonly sweepEntryId?: string;
}

interface Base {
  readonly size: number;
  readonly root: string;
  readonly platformSize: number;
  readonly platformRoot: string;
}

interface Sweep {
  readonly id: string;
  readonly cuts: readonly Cut[];
  readonly checkpoint: Base;
}

async function newestSweep({ run, organizationId }: Place): Promise<Sweep | undefined> {
  const [sweep] = await run(
    `select id, cuts, checkpoint from audit_sweeps where organization_id = $1 and state = 'done' order by made_at desc limit 1`,
      [organizationId]);
  return sweep as Sweep | undefined;
}

/** Rows of sweeps are the service's own notes. */
const BY_ENTRIES = "a file takes seams from the sweeps' entries, not from rows";

function row(name: string, change: (cut: Cut, place: Place, sweep: Sweep) => Partial<Cut> | undefined,
  more: Partial<Tampering> = {}): Tampering {
  return {
    name: `sweep: ${name}`, kinds: ['deleted', 'truncated', 'chain_removed', 'forked', 'tree_mismatch', 'inserted'],
    in: 'swept', unseen: BY_ENTRIES, ...more,
    deed: async (place) => {
      const sweep = await newestSweep(place);
      if (!sweep || sweep.cuts.length === 0) return undefined;
      const cut = place.random.of(sweep.cuts);
      const changed = change(cut, place, sweep);
      if (!changed) return undefined;
      const cuts = sweep.cuts.map((one) => (one === cut ? { ...one, ...changed } : one));
      await place.run('update audit_sweeps set cuts = $3 where organization_id = $1 and id = $2', [place.organizationId, sweep.id,
        JSON.stringify(cuts)]);
      return { at: [cut.chain, place.organizationId] };
    },
  };
}

const base = (name: string, change: (checkpoint: Base, place: Place) => Base, more: Partial<Tampering> = {}): Tampering => ({
  name: `sweep: ${name}`, kinds: ['deleted'], in: 'swept', unseen: BY_ENTRIES, ...more,
  deed: async (place) => {
    const sweep = await newestSweep(place);
    if (!sweep) return undefined;
    await place.run('update audit_sweeps set checkpoint = $3 where organization_id = $1 and id = $2',
      [place.organizationId, sweep.id, JSON.stringify(change(sweep.checkpoint, place))]);
    return { at: [place.organizationId, ...sweep.cuts.map(({ chain }) => chain)] };
  },
});

/** Takes the beginning of a chain away and says that a sweep did it. */
async function swept(place: Place, sweepEntryId: string, checkpoint: Base, cut: Cut): Promise<void> {
  await place.run(
    `insert into audit_sweeps (organization_id, id, state, before, cuts, checkpoint, entry_id, made_at)
     values ($1, $2, 'done', now(), $3, $4, $5, now())`,
    [place.organizationId, newId('audit'), JSON.stringify([cut]), JSON.stringify(checkpoint), sweepEntryId],
  );
}

function baseOf({ log, organizationId }: Place, which: 'oldest' | 'newest'): Base | undefined {
  const known = log.checkpoints.get(organizationId) ?? [];
  const one = which === 'newest' ? known.at(-1) : known[0];
  const platform = log.checkpoints.get('platform')!.find(({ size }) => size === one?.platformSize);
  return one && platform && { size: one.size, root: one.root, platformSize: platform.size, platformRoot: platform.root };
}

const alreadyGone = (place: Place, chain: string) => place.log.cut.get(`${place.organizationId} ${chain}`) ?? 0;
const goneBy = (place: Place, chain: readonly StoredEntry[], at: number): Cut => {
  const { chain: name, seq, hash } = chain[at]!;
  return { chain: name, seq, hash, count: alreadyGone(place, name) + at + 1 };
};

const DELETED = ['deleted', 'truncated', 'chain_removed', 'inserted'] as const;

function fake(name: string, deed: (place: Place, cut: Cut) => Promise<boolean>): Tampering {
  return {
    name: `sweep: ${name}`, kinds: DELETED,
    deed: async (place) => {
      const chain = place.agentChain(3);
      if (!chain) return undefined;
      const at = place.random.below(chain.length - 1);
      if (!(await deed(place, goneBy(place, chain, at)))) return undefined;
      await place.remove(chain.slice(0, at + 1));
      return { at: [chain[0]!.chain, place.organizationId, organizationChain(place.organizationId).chain] };
    },
  };
}

const sweepEvent = (place: Place, cut: Cut, checkpoint: Base) => stamped(organizationChain(place.organizationId), {
  type: 'admin.audit_retention_sweep',
  metadata: { sweepId: 'swp', before: '2020-01-01T00:00:00.000Z', checkpoint, chains: [cut], archive: { skeleton: 'x',
    disclosures: 'y' } },
}, place.random);

export const SWEEPS: readonly Tampering[] = [
  row('a cut further up', ({ seq, count }) => ({ seq: seq + 1, count: count + 1 })),
  row('a cut further down', ({ seq, count }) => (seq > 1 ? { seq: seq - 1, count: count - 1 } : undefined)),
  row('another hash where it was cut', () => ({ hash: '0'.repeat(64) })),
  row('another count', ({ count }) => ({ count: count + 1 })),
  row("by another entry than the sweep's", (_, place) => {
    const entry = place.entry(({ event }) => event !== 'admin.audit_retention_sweep');
    return entry && { sweepEntryId: entry.id };
  }),
  row('by an entry that there is not', () => ({ sweepEntryId: newId('audit') })),
  base('a checkpoint of another size', (one) => ({ ...one, size: one.size + 1 })),
  base('a checkpoint of another root', (one) => ({ ...one, root: `${'A'.repeat(43)}=` })),
  base("another size of the platform's", (one) => ({ ...one, platformSize: one.platformSize - 1 })),
  {
    name: 'sweep: forgotten', kinds: DELETED, in: 'swept', unseen: BY_ENTRIES,
    deed: async (place) => {
      const sweep = await newestSweep(place);
      if (!sweep) return undefined;
      await place.run('delete from audit_sweeps where organization_id = $1 and id = $2', [place.organizationId, sweep.id]);
      return { at: [place.organizationId, ...sweep.cuts.map(({ chain }) => chain)] };
    },
  },
  {
    name: 'sweep: more deleted than it says', kinds: ['deleted', 'truncated', 'chain_removed'], in: 'swept',
    deed: async (place) => {
      const chain = place.chain(1, (name) => alreadyGone(place, name) > 0);
      if (!chain) return undefined;
      await place.remove(chain.slice(0, 1 + place.random.below(chain.length)));
      return { at: [chain[0]!.chain, place.organizationId] };
    },
  },
  {
    name: 'sweep: its own entry deleted', kinds: ['deleted', 'truncated', 'tree_mismatch'], in: 'swept',
    deed: async (place) => {
      const entry = place.entry(({ event }) => event === 'admin.audit_retention_sweep');
      if (!entry) return undefined;
      await place.remove([entry]);
      return { at: [entry.chain, place.organizationId] };
    },
  },
  fake('faked, no entry tells of it', async (place, cut) => {
    const checkpoint = baseOf(place, 'newest');
    if (checkpoint) await swept(place, newId('audit'), checkpoint, cut);
    return checkpoint !== undefined;
  }),
  fake('faked, an entry of another kind is to tell of it', async (place, cut) => {
    const checkpoint = baseOf(place, 'newest');
    const entry = place.entry(({ chain, event }) => !chain.startsWith('agt_') && event !== 'admin.audit_retention_sweep');
    if (checkpoint && entry) await swept(place, entry.id, checkpoint, cut);
    return checkpoint !== undefined && entry !== undefined;
  }),
  fake('faked, its entry was never appended', async (place, cut) => {
    const checkpoint = baseOf(place, 'newest');
    const own = place.log.chainsOf(place.organizationId).get(organizationChain(place.organizationId).chain)?.at(-1);
    if (!checkpoint || !own) return false;
    const { chain, payload, disclosures, timestamp, actorId, event, outcome } = sweepEvent(place, cut, checkpoint);
    const forged = forgedFrom({ ...own, payload, disclosures, timestamp, actorId, event, capability: null, outcome: outcome ?? null },
      { chain, seq: own.seq + 1, prevHash: own.hash });
    await place.insert([forged]);
    await place.setHead(forged);
    await swept(place, forged.id, checkpoint, cut);
    return true;
  }),
  fake('appended, but beyond the checkpoint that it names', async (place, cut) => {
    const checkpoint = baseOf(place, 'oldest');
    const index = place.leaves.findIndex(({ chain, seq }) => chain === cut.chain && seq === cut.seq);
    if (!checkpoint || index < checkpoint.size) return false;
    const entry = sweepEvent(place, cut, checkpoint);
    await append(place, entry);
    await swept(place, entry.id, checkpoint, cut);
    return true;
  }),
  fake('appended, under a checkpoint that is none of ours', async (place, cut) => {
    const ours = baseOf(place, 'newest');
    if (!ours) return false;
    const checkpoint = { ...ours, size: ours.size + 5 };
    const entry = sweepEvent(place, cut, checkpoint);
    await append(place, entry);
    await swept(place, entry.id, checkpoint, cut);
    return true;
  }),
];

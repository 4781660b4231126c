// Rows of retention runs, and of the chains that they cut, as the tampering of retention runs changes them.
import type { StoredEntry } from '../../../../src/domain/audit/entry/stored-entry.js';
import { newId } from '../../../../src/domain/ids.js';
import type { TamperTarget, Tampering } from '../tampering.js';

export interface Cut {
  readonly chain: string;
  readonly seq: number;
  readonly hash: string;
  readonly count: number;
  readonly sweepEntryId?: string;
}

export interface Base {
  readonly size: number;
  readonly root: string;
  readonly platformSize: number;
  readonly platformRoot: string;
}

export interface Sweep {
  readonly id: string;
  readonly cuts: readonly Cut[];
  readonly checkpoint: Base;
}

export async function newestSweep({ run, organizationId }: TamperTarget): Promise<Sweep | undefined> {
  const [sweep] = await run(
    `select id, cuts, checkpoint from audit_sweeps where organization_id = $1 and state = 'done' order by made_at desc limit 1`,
      [organizationId]);
  return sweep as Sweep | undefined;
}

/** Rows of sweeps are the service's own notes. */
export const BY_ENTRIES = "a file takes cutPoints from the sweeps' entries, not from rows";

export function row(name: string, change: (cut: Cut, place: TamperTarget, sweep: Sweep) => Partial<Cut> | undefined,
  more: Partial<Tampering> = {}): Tampering {
  return {
    name: `sweep: ${name}`, kinds: ['deleted', 'truncated', 'chain_removed', 'forked', 'tree_mismatch', 'inserted'],
    in: 'swept', unseen: BY_ENTRIES, ...more,
    tamper: async (place) => {
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

export const base = (name: string, change: (checkpoint: Base, place: TamperTarget) => Base, more: Partial<Tampering> = {}): Tampering => ({
  name: `sweep: ${name}`, kinds: ['deleted'], in: 'swept', unseen: BY_ENTRIES, ...more,
  tamper: async (place) => {
    const sweep = await newestSweep(place);
    if (!sweep) return undefined;
    await place.run('update audit_sweeps set checkpoint = $3 where organization_id = $1 and id = $2',
      [place.organizationId, sweep.id, JSON.stringify(change(sweep.checkpoint, place))]);
    return { at: [place.organizationId, ...sweep.cuts.map(({ chain }) => chain)] };
  },
});

/** Takes the beginning of a chain away and says that a sweep did it. */
export async function swept(place: TamperTarget, sweepEntryId: string, checkpoint: Base, cut: Cut, note?: string): Promise<void> {
  await place.run(
    `insert into audit_sweeps (organization_id, id, state, before, cuts, checkpoint, entry_id, notes, made_at)
     values ($1, $2, 'done', now(), $3, $4, $5, $6, now())`,
    [place.organizationId, newId('audit'), JSON.stringify([{ ...cut, sweepEntryId }]), JSON.stringify(checkpoint), sweepEntryId,
      JSON.stringify(note === undefined ? {} : { [sweepEntryId]: note })],
  );
}

export function baseOf({ log, organizationId }: TamperTarget, which: 'oldest' | 'newest'): Base | undefined {
  const known = log.checkpoints.get(organizationId) ?? [];
  const one = which === 'newest' ? known.at(-1) : known[0];
  const platform = log.checkpoints.get('platform')!.find(({ size }) => size === one?.platformSize);
  return one && platform && { size: one.size, root: one.root, platformSize: platform.size, platformRoot: platform.root };
}

export const alreadyGone = (place: TamperTarget, chain: string) => place.log.cut.get(`${place.organizationId} ${chain}`) ?? 0;
export const goneBy = (place: TamperTarget, chain: readonly StoredEntry[], at: number): Cut => {
  const { chain: name, seq, hash } = chain[at]!;
  return { chain: name, seq, hash, count: alreadyGone(place, name) + at + 1 };
};

import { randomBytes } from 'node:crypto';
import { organizationChain } from '../../../../src/domain/audit/entry/chain.js';
import type { PreparedEntry } from '../../../../src/domain/audit/entry/prepare-entry.js';
import { signingKey, signNote, verifierKey } from '../../../../src/domain/audit/notes/note.js';
import { authorizationText, statementIn } from '../../../../src/domain/audit/notes/authorization-note.js';
import type { StoredEntry } from '../../../../src/domain/audit/entry/stored-entry.js';
import { metadataOf } from '../../../../src/domain/audit/entry/payload.js';
import { newId } from '../../../../src/domain/ids.js';
import { append } from '../append-entry.js';
import { forgedFrom } from '../altered-entry.js';
import { carriedOn } from '../forging.js';
import { stamped } from '../every-event.js';
import type { TamperTarget, Tampering } from '../tampering.js';
import {
  type Cut, type Base, newestSweep, BY_ENTRIES, row, base, swept, baseOf, alreadyGone, goneBy,
} from './retention-run-forms.js';

const DELETED = ['deleted', 'truncated', 'chain_removed', 'inserted'] as const;

function fake(name: string, tamper: (place: TamperTarget, cut: Cut) => Promise<boolean>): Tampering {
  return {
    name: `sweep: ${name}`, kinds: DELETED,
    tamper: async (place) => {
      const chain = place.agentChain(3);
      if (!chain) return undefined;
      const at = place.random.below(chain.length - 1);
      if (!(await tamper(place, goneBy(place, chain, at)))) return undefined;
      await place.remove(chain.slice(0, at + 1));
      return { at: [chain[0]!.chain, place.organizationId, organizationChain(place.organizationId).chain] };
    },
  };
}

const sweepEvent = (place: TamperTarget, cut: Cut, checkpoint: Base) => stamped(organizationChain(place.organizationId), {
  type: 'admin.audit_retention_sweep',
  metadata: { sweepId: 'swp', before: '2100-01-01T00:00:00.000Z', checkpoint, chains: [cut], archive: { skeleton: 'x',
    disclosures: 'y' } },
}, place.random);

const orderedText = ({ log, organizationId }: TamperTarget, entry: Pick<StoredEntry, 'payload'>) =>
  authorizationText('sweep', log.instance, organizationId, statementIn(entry));
const ordered = (place: TamperTarget, entry: PreparedEntry, seed = place.log.seed) =>
  signNote(orderedText(place, entry), [signingKey(place.log.instance, seed)]);

/** A sweep as it should be in everything, which the server then takes into tree and checkpoints, but that it never ordered. */
function unordered(name: string, noteOf: (place: TamperTarget, entry: PreparedEntry) => Promise<string | undefined>,
  more: Partial<Tampering> = {}): Tampering {
  return {
    ...fake(`appended as it should be, ${name}`, async (place, cut) => {
      const checkpoint = baseOf(place, 'newest');
      const index = place.leaves.findIndex(({ chain, seq }) => chain === cut.chain && seq === cut.seq);
      if (!checkpoint || index >= checkpoint.size) return false;
      const entry = sweepEvent(place, cut, checkpoint);
      const note = await noteOf(place, entry);
      if (note === undefined) return false;
      await append(place, entry);
      await swept(place, entry.id, checkpoint, cut, note === '' ? undefined : note);
      await carriedOn(place);
      return true;
    }),
    ...more,
  };
}

/** A key of their own, and a row of it: `$3` is its key id, `$4` its text. */
const foreign = (keyRow?: string) => async (place: TamperTarget, entry: PreparedEntry) => {
  const seed = randomBytes(32).toString('base64');
  const text = verifierKey(place.log.instance, seed);
  if (keyRow !== undefined) await place.run(keyRow, [text.split('+')[1], text]);
  return ordered(place, entry, seed);
};

const TIMES_UNSEEN = 'a file shows the times of leaves, which are signed, not those of rows';
const aged = (name: string, sql: string): Tampering => ({
  name: `sweep: ${name}`, kinds: ['column_mismatch'], unseen: TIMES_UNSEEN,
  tamper: async (place) => {
    const changed = await place.run(`${sql} returning 1 as one`, [place.organizationId]);
    return changed.length === 0 ? undefined : { at: [place.organizationId, 'platform', ...place.log.organizations] };
  },
});

// Chains that are cut, or whose entries say so.
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
    tamper: async (place) => {
      const sweep = await newestSweep(place);
      if (!sweep) return undefined;
      await place.run('delete from audit_sweeps where organization_id = $1 and id = $2', [place.organizationId, sweep.id]);
      return { at: [place.organizationId, ...sweep.cuts.map(({ chain }) => chain)] };
    },
  },
  {
    name: 'sweep: said not to be done, and something written below its cut', in: 'swept', unseen: BY_ENTRIES,
    kinds: ['inserted', 'edited', 'column_mismatch', 'tree_mismatch'],
    tamper: async (place) => {
      const sweep = await newestSweep(place);
      const entry = place.entry();
      if (!sweep || sweep.cuts.length === 0 || !entry) return undefined;
      const { chain, seq, hash } = place.random.of(sweep.cuts);
      await place.run(`update audit_sweeps set state = 'recorded' where organization_id = $1 and id = $2`,
        [place.organizationId, sweep.id]);
      const at = place.random.chance(0.5) ? seq : 1 + place.random.below(seq);
      const forged = forgedFrom(entry, { chain, seq: at, prevHash: place.random.chance(0.5) ? hash : null });
      await place.insert([place.random.chance(0.3) ? { ...forged, hash } : forged]);
      return { at: [chain, place.organizationId] };
    },
  },
  {
    name: 'sweep: more deleted than it says', kinds: ['deleted', 'truncated', 'chain_removed'], in: 'swept',
    tamper: async (place) => {
      const chain = place.chain(1, (name) => alreadyGone(place, name) > 0);
      if (!chain) return undefined;
      await place.remove(chain.slice(0, 1 + place.random.below(chain.length)));
      return { at: [chain[0]!.chain, place.organizationId] };
    },
  },
  {
    name: 'sweep: its own entry deleted', kinds: ['deleted', 'truncated', 'tree_mismatch'], in: 'swept',
    tamper: async (place) => {
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
    await swept(place, entry.id, checkpoint, cut, ordered(place, entry));
    return true;
  }),
  fake('appended, under a checkpoint that is none of ours', async (place, cut) => {
    const ours = baseOf(place, 'newest');
    if (!ours) return false;
    const checkpoint = { ...ours, size: ours.size + 5 };
    const entry = sweepEvent(place, cut, checkpoint);
    await append(place, entry);
    await swept(place, entry.id, checkpoint, cut, ordered(place, entry));
    return true;
  }),
  unordered('without a signature', () => Promise.resolve('')),
  unordered('signed by a foreign key', foreign()),
  unordered('signed by a foreign key that is said to have been one of ours',
    foreign('insert into audit_signing_keys (key_id, verifier_key, from_size, retired_at_size) values ($1, $2, 0, 1000000)')),
  unordered('signed by a foreign key that is said to sign now, too',
    foreign('insert into audit_signing_keys (key_id, verifier_key, from_size) values ($1, $2, 0)')),
  unordered('signed by the retired key', (place, entry) =>
    Promise.resolve(place.log.retiredSeed === undefined ? undefined : ordered(place, entry, place.log.retiredSeed)), { in: 'swept' }),
  unordered('with the signature of an earlier one', async (place) => {
    const [real] = await place.run(
      `select n.value as note from audit_sweeps s cross join lateral json_each_text(s.notes) n where s.organization_id = $1 limit 1`,
      [place.organizationId]);
    return real?.['note'] as string | undefined;
  }, { in: 'swept' }),
  unordered('with the signature of a checkpoint', (place) =>
    Promise.resolve(place.log.checkpoints.get(place.organizationId)?.at(-1)?.note)),
  {
    name: 'sweep: its signature gone', kinds: DELETED, in: 'swept',
    tamper: async (place) => {
      const sweep = await newestSweep(place);
      if (!sweep) return undefined;
      await place.run(`update audit_sweeps set notes = '{}' where organization_id = $1 and id = $2`, [place.organizationId, sweep.id]);
      return { at: [place.organizationId, ...sweep.cuts.map(({ chain }) => chain)] };
    },
  },
  {
    name: 'sweep: told of by a copy of its entry, with the same signature', kinds: ['deleted'], in: 'swept',
    tamper: async (place) => {
      const sweep = await newestSweep(place);
      const real = place.entries.find(({ id }) => id === sweep?.cuts[0]?.sweepEntryId);
      if (!sweep || !real) return undefined;
      const key = [place.organizationId, sweep.id];
      const [row] = await place.run('select notes from audit_sweeps where organization_id = $1 and id = $2', key);
      const notes = row!['notes'] as Record<string, string>;
      const metadata = metadataOf(real.payload);
      const copy = stamped(organizationChain(place.organizationId), { type: 'admin.audit_retention_sweep', metadata }, place.random);
      await append(place, copy);
      const cuts = sweep.cuts.map((cut) => (cut.sweepEntryId === real.id ? { ...cut, sweepEntryId: copy.id } : cut));
      await place.run('update audit_sweeps set cuts = $3, notes = $4 where organization_id = $1 and id = $2',
        [...key, JSON.stringify(cuts), JSON.stringify({ ...notes, [copy.id]: notes[real.id] })]);
      return { at: [place.organizationId, copy.chain, ...cuts.map(({ chain }) => chain)] };
    },
  },
  aged('a checkpoint said to be older than it is', `update audit_checkpoints set made_at = made_at - interval '400 days'
    where organization_id = $1 and size = (select max(x.size) from audit_checkpoints x where x.organization_id = $1)`),
  aged('a checkpoint said to be of an older leaf', `update audit_checkpoints set platform_size = platform_size - 1
    where organization_id = $1 and size = (select max(x.size) from audit_checkpoints x
      where x.organization_id = $1 and x.platform_size > 1)`),
];

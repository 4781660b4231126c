import { randomBytes } from 'node:crypto';
import { checkpointText, originOf, PLATFORM_TREE } from '../../../../src/domain/audit/notes/checkpoint.js';
import { signingKey, signNote, verifierKey } from '../../../../src/domain/audit/notes/note.js';
import { hashText, leafHash } from '../../../../src/domain/audit/tree/rfc6962.js';
import { plausible, resealed, spoilt } from '../altered-entry.js';
import { regrown, resigned, withLeaves } from '../forging.js';
import { TamperTarget, type Mark, type Tampering } from '../tampering.js';

/** Checkpoints, the keys that sign them, and what anchors outside of the database have. */

interface Signed {
  readonly tree: string;
  readonly size: number;
  readonly root: string;
  readonly note: string;
}

/** @param older any checkpoint of a tree rather than its newest: a file shows the newest alone */
function note(name: string, older: boolean, tamper: (place: TamperTarget, checkpoint: Signed) => Promise<string | undefined>): Tampering {
  return {
    name: `checkpoint: ${name}${older ? ', an older one' : ''}`, kinds: ['checkpoint_invalid', 'tree_mismatch'],
    ...(older ? { unseen: 'a file shows the newest checkpoint of a tree' } : {}),
    tamper: async (place) => {
      const tree = place.random.of([PLATFORM_TREE, place.organizationId]);
      const known = place.log.checkpoints.get(tree) ?? [];
      const checkpoint = older ? known[place.random.below(known.length - 1)] : known.at(-1);
      if (!checkpoint || (older && known.length < 2)) return undefined;
      const changed = await tamper(place, { ...checkpoint, tree });
      if (changed === undefined || changed === checkpoint.note) return undefined;
      await place.run('update audit_checkpoints set note = $3 where organization_id = $1 and size = $2', [tree, checkpoint.size,
        changed]);
      return { at: [tree, place.organizationId, PLATFORM_TREE] };
    },
  };
}

const signed = (place: TamperTarget, { tree, size, root }: Omit<Signed, 'note'>, seed: string, instance = place.log.instance) =>
  signNote(checkpointText({ origin: originOf(instance, tree), size, root }), [signingKey(instance, seed)]);
const otherRoot = (text: string) => hashText(leafHash(text));

const NOTES: readonly [string, (place: TamperTarget, checkpoint: Signed) => Promise<string | undefined>][] = [
  ['no signature', (_, { note: text }) => Promise.resolve(text.slice(0, text.indexOf('\n\n') + 2))],
  ['a false signature', ({ random }, { note: text }) => {
    const at = text.lastIndexOf(' ') + 8;
    return Promise.resolve(text.slice(0, at) + spoilt(text.slice(at, -4), random) + text.slice(-4));
  }],
  ['signed by somebody unknown', (place, one) => Promise.resolve(signed(place, one, randomBytes(32).toString('base64')))],
  ['another size, signed', (place, one) => Promise.resolve(signed(place, { ...one, size: one.size + 1 }, place.log.seed))],
  ['another root, signed', (place, one) => Promise.resolve(signed(place, { ...one, root: otherRoot('x') }, place.log.seed))],
  ['of another tree, signed', (place, one) => Promise.resolve(signed(place, { ...one, tree: 'org_elsewhere' }, place.log.seed))],
  ['of another installation', (place, one) => Promise.resolve(signed(place, one, place.log.seed, 'countersign-ffffffffffff'))],
  ['a changed text', ({ random }, { note: text, size }) =>
    Promise.resolve(text.replace(`\n${size}\n`, `\n${size + 1 + random.below(3)}\n`))],
];

const keys = (name: string, sql: string, parameters: (place: TamperTarget) => unknown[] = () => [],
  more: Partial<Tampering> = {}): Tampering => ({
  name: `keys: ${name}`, kinds: ['checkpoint_invalid'], unseen: 'pinned keys are believed, not rows',
  tamper: async (place) => {
    const changed = await place.run(`${sql} returning 1 as one`, parameters(place));
    return changed.length === 0 ? undefined : { at: [PLATFORM_TREE, ...place.log.organizations] };
  },
  ...more,
});

const taken = (name: string, sql: string, at: 'own' | 'platform', more: Partial<Tampering> = {}): Tampering => ({
  name: `checkpoint: ${name}`, kinds: ['checkpoint_invalid', 'tree_mismatch', 'truncated', 'deleted'],
  tamper: async (place) => {
    const changed = await place.run(`${sql} returning 1 as one`, [at === 'own' ? place.organizationId : PLATFORM_TREE]);
    return changed.length === 0 ? undefined : { at: [PLATFORM_TREE, place.organizationId, ...place.log.organizations] };
  },
  ...more,
});

const NEWEST = 'size = (select max(x.size) from audit_checkpoints x where x.organization_id = $1)';

/** What an anchor would have, had the installation signed another history beside the one that the database holds. */
function anchored(name: string, kinds: Tampering['kinds'], other: (size: number, place: TamperTarget) => number): Tampering {
  return {
    name: `anchors: ${name}`, kinds, unseen: 'a file alone does not know what anchors have seen',
    tamper: (place) => {
      const { log } = place;
      const [honest] = log.anchors;
      const size = other(honest!.size, place);
      const root = otherRoot(`${size} ${place.random.text(8)}`);
      const text = signed(place, { tree: PLATFORM_TREE, size, root }, log.seed);
      const mark: Mark = { at: [PLATFORM_TREE], anchors: [honest!, { name: 'https://witness.example', size, root, note: text }] };
      return Promise.resolve(mark);
    },
  };
}

/** All of the history behind one change made anew, by whoever has the key, too. */
function rewrite(name: string, rounds: (before: number) => number, kinds: Tampering['kinds']): Tampering {
  return {
    name: `rewritten with the signing key: ${name}`, kinds, in: 'unswept', perfect: true,
      whole: 'the forged map carries all organizations',
    unseen: 'a perfect forgery: only who has seen another history can tell',
    tamper: async (place) => {
      const chain = place.chain(2);
      if (!chain) return undefined;
      const at = 1 + place.random.below(chain.length - 1);
      const isCut = place.random.chance(0.4);
      // What says something of other entries is left alone: a perfect forgery would have to make these fit, too.
      const target = chain[at]!;
      if (/transferred|erasure_executed|signing_key|registered/.test(chain.slice(at).map((one) => one.event).join())) return undefined;
      if (target.disclosures.includes('"erased":true') || chain.slice(at).some((one) =>
        one.disclosures.includes('"erased":true'))) return undefined;
      const changed = resealed(isCut ? chain.slice(0, at) : chain.map((one, n) => (n === at ? plausible(one, place.random) : one)));
      await place.replaceChain(chain, changed);
      await regrown(place, withLeaves(place, chain, changed));
      await resigned(place, rounds(place.log.anchors[0]!.size));
      return { at: [PLATFORM_TREE] };
    },
  };
}

export const SIGNATURES: readonly Tampering[] = [
  ...NOTES.flatMap(([name, tamper]) => [note(name, false, tamper), note(name, true, tamper)]),
  {
    ...note('signed by the retired key alone', false, (place, one) =>
      Promise.resolve(place.log.retiredSeed === undefined ? undefined : signed(place, one, place.log.retiredSeed))),
    in: 'swept',
  },
  // The only one gone is the same as all of them gone, below.
  taken("the organization's newest gone", `delete from audit_checkpoints where organization_id = $1 and ${NEWEST}
    and (select count(*) from audit_checkpoints x where x.organization_id = $1) > 1`, 'own'),
  taken("the platform's newest gone", `delete from audit_checkpoints where organization_id = $1 and ${NEWEST}`, 'platform'),
  taken("all of the organization's gone", 'delete from audit_checkpoints where organization_id = $1', 'own',
    { kinds: ['checkpoint_invalid', 'tree_mismatch', 'deleted'] }),
  taken('all gone', 'delete from audit_checkpoints where $1::text is not null', 'own',
    { unseen: 'without a checkpoint a file is valid so far: nothing is covered' }),
  taken('another size in the row', `update audit_checkpoints set size = size + 1 where organization_id = $1 and ${NEWEST}`, 'own',
    { unseen: 'a file shows the note, not the row' }),
  taken('another root in the row',
    `update audit_checkpoints set root = '${otherRoot('r')}' where organization_id = $1 and ${NEWEST}`, 'own',
    { unseen: 'a file shows the note, not the row' }),
  keys('all gone', 'delete from audit_signing_keys'),
  keys('retired before', 'update audit_signing_keys set retired_at_size = 0'),
  keys('in force only later', 'update audit_signing_keys set from_size = 1000000'),
  keys('another one in its place', 'update audit_signing_keys set verifier_key = $1 where retired_at_size is null', ({ log }) =>
    [verifierKey(log.instance, randomBytes(32).toString('base64'))]),
  {
    name: 'keys: everything signed anew by a key that the log never announced', kinds: ['checkpoint_invalid'], in: 'unswept',
    whole: 'the forged map carries all organizations',
    tamper: async (place) => {
      const seed = randomBytes(32).toString('base64');
      const text = verifierKey(place.log.instance, seed);
      await place.run('update audit_signing_keys set key_id = $1, verifier_key = $2 where retired_at_size is null',
        [text.split('+')[1]!, text]);
      await resigned(place, 2, signingKey(place.log.instance, seed));
      return { at: [PLATFORM_TREE, ...place.log.organizations] };
    },
  },
  anchored('two histories to two witnesses', ['tree_mismatch'], (size, { random }) => 1 + random.below(size)),
  anchored('an older database', ['truncated'], (size, { random }) => size + 1 + random.below(50)),
  rewrite('as many rounds', (before) => before, ['tree_mismatch']),
  rewrite('more rounds', (before) => before + 3, ['tree_mismatch']),
  rewrite('fewer rounds', (before) => Math.max(1, before - 3), ['truncated']),
  {
    name: 'rollback: the database as it was', kinds: ['truncated'], in: 'unswept', perfect: true,
      whole: 'all organizations go back together',
    unseen: 'an older log is a whole log: only who has seen a newer one can tell',
    tamper: async (place) => {
      const { log, random } = place;
      const platform = log.checkpoints.get(PLATFORM_TREE)!;
      const back = platform.at(-2 - random.below(Math.min(4, platform.length - 2)))!.size;
      for (const id of log.organizations) {
        const size = log.checkpoints.get(id)!.findLast((one) => one.platformSize <= back)?.size ?? 0;
        const leaves = log.leaves.get(id)!;
        if (size === leaves.length) continue;
        const gone = new Set(leaves.slice(size).map(({ chain, seq }) => `${chain} ${seq}`));
        const then = new TamperTarget(place.client, log, random, id);
        await then.remove(log.entriesOf(id).filter(({ chain, seq }) => gone.has(`${chain} ${seq}`)));
        for (const [, entries] of log.chainsOf(id)) {
          const last = entries.findLast(({ chain, seq }) => !gone.has(`${chain} ${seq}`));
          if (last === entries.at(-1)) continue;
          if (last) await then.setHead(last);
          else await then.removeHead(entries[0]!);
        }
        await regrown(then, leaves.slice(0, size));
      }
      await resigned(place, back);
      return { at: [PLATFORM_TREE] };
    },
  },
];

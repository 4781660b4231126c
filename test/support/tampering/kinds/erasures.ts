import { randomBytes } from 'node:crypto';
import { organizationChain } from '../../../../src/domain/audit/entry/chain.js';
import { blankOf, type Disclosure, disclosuresText, pointerDigest } from '../../../../src/domain/audit/entry/commitments.js';
import type { PreparedEntry } from '../../../../src/domain/audit/entry/prepare-entry.js';
import { signingKey, signNote, verifierKey } from '../../../../src/domain/audit/notes/note.js';
import { authorizationText, statementIn } from '../../../../src/domain/audit/notes/authorization-note.js';
import type { ListedBlank } from '../../../../src/domain/audit/erasure/search-entry.js';
import type { StoredEntry } from '../../../../src/domain/audit/entry/stored-entry.js';
import { metadataOf } from '../../../../src/domain/audit/entry/payload.js';
import { append } from '../append-entry.js';
import { spoilt } from '../altered-entry.js';
import { stamped } from '../every-event.js';
import type { TamperTarget, Tampering } from '../tampering.js';

/** Values that are blank, or said to be, by an erasure that no server has carried out; and what real ones have left and signed. */

/** An entry with open values, one of its chain, and what blanks the first of them. */
export function blankable(place: TamperTarget) {
  const entry = place.entry(({ disclosures }) => disclosures.includes('"value"'));
  if (!entry) return undefined;
  const all = JSON.parse(entry.disclosures) as Disclosure[];
  const at = all.findIndex(({ value }) => value !== undefined);
  const blank = blankOf(all[at]!, all[at]!.pointer);
  const listed: ListedBlank = [entry.hash, blank.d, pointerDigest(blank)];
  return { entry, listed, blanked: JSON.stringify(all.map((one, n) => (n === at ? blank : one))) };
}

export const erasure = (place: TamperTarget, organizationId: string, erased: readonly ListedBlank[]) =>
  stamped(organizationChain(organizationId), { type: 'gdpr.erasure_executed', metadata: { erased } }, place.random);

/** What whoever has a key signs of an erasure. */
export const ordered = ({ log }: TamperTarget, entry: Pick<StoredEntry, 'organizationId' | 'payload'>, seed = log.seed) =>
  signNote(authorizationText('erasure', log.instance, entry.organizationId, statementIn(entry)), [signingKey(log.instance, seed)]);

export async function keepNote(place: TamperTarget, { organizationId, id }: Pick<PreparedEntry, 'organizationId' | 'id'>, note: string) {
  await place.run('insert into audit_erasure_notes (organization_id, entry_id, note) values ($1, $2, $3)', [organizationId, id, note]);
}

type NoteOf = (place: TamperTarget, entry: PreparedEntry) => Promise<string | undefined>;

/**
 * An erasure as it should be in everything, which the server then takes into tree and checkpoints, but that no server has carried out.
 *
 * @param noteOf '' for none; undefined where there is nothing of the kind to be had
 */
function forged(name: string, noteOf: NoteOf, more: Partial<Tampering> = {}): Tampering {
  return {
    name: `erasure: appended as it should be, and what it lists blanked, ${name}`, kinds: ['unauthorised_erasure'],
    tamper: async (place) => {
      const blank = blankable(place);
      if (!blank) return undefined;
      const entry = erasure(place, place.organizationId, [blank.listed]);
      const note = await noteOf(place, entry);
      if (note === undefined) return undefined;
      await append(place, entry);
      if (note !== '') await keepNote(place, entry, note);
      await place.set(blank.entry, 'disclosures', blank.blanked);
      return { at: [blank.entry.chain, entry.chain] };
    },
    ...more,
  };
}

const foreign = (said?: string): NoteOf => async (place, entry) => {
  const seed = randomBytes(32).toString('base64');
  const text = verifierKey(place.log.instance, seed);
  if (said !== undefined) await place.run(said, [text.split('+')[1]!, text]);
  return ordered(place, entry, seed);
};

/** A note that a server has really signed of an erasure, of this organization or of another one. */
const real = (which: '=' | '<>') => async (place: TamperTarget): Promise<string | undefined> => {
  const [row] = await place.run(`select note from audit_erasure_notes where organization_id ${which} $1 limit 1`, [place.organizationId]);
  return row?.['note'] as string | undefined;
};

/** An entry that lost values by a real erasure, with one of these changed as whoever owns the database can. */
function left(
  name: string, change: (one: Disclosure, place: TamperTarget, all: readonly Disclosure[]) => Disclosure | undefined,
): Tampering {
  return {
    name: `erasure: ${name}`, kinds: ['unauthorised_erasure', 'edited'],
    tamper: async (place) => {
      const changesIn = ({ disclosures }: StoredEntry) => {
        const all = disclosures.includes('"erased":true') ? (JSON.parse(disclosures) as Disclosure[]) : [];
        return all.filter(({ erased }) => erased).flatMap((blank) => {
          const changed = change(blank, place, all);
          return changed && JSON.stringify(changed) !== JSON.stringify(blank) ? [{ all, blank, changed }] : [];
        });
      };
      const entry = place.entry((one) => changesIn(one).length > 0);
      const found = entry && changesIn(entry);
      if (!found || found.length === 0) return undefined;
      const { all, blank, changed } = place.random.of(found);
      await place.set(entry, 'disclosures', disclosuresText(all.map((one) => (one === blank ? changed : one))));
      return { at: [entry.chain] };
    },
  };
}

const MEMBER = /^(\/[^/]+\/[^/]+\/)[^/]+$/;
/** Where another member of the same object could stand. */
const beside = ({ pointer }: Disclosure, name: string) =>
  MEMBER.test(pointer) ? pointer.replace(MEMBER, (_, object: string) => object + name) : undefined;

/** What was signed of an erasure that a server has carried out, changed. */
function note(
  name: string, change: (place: TamperTarget, erased: StoredEntry, note: string) => Promise<string | null | undefined>,
): Tampering {
  return {
    name: `erasure: its signature ${name}`, kinds: ['unauthorised_erasure'],
    tamper: async (place) => {
      const erased = place.entry(({ event }) => event === 'gdpr.erasure_executed');
      if (!erased) return undefined;
      const key = [erased.organizationId, erased.id];
      const [row] = await place.run('select note from audit_erasure_notes where organization_id = $1 and entry_id = $2', key);
      const changed = await change(place, erased, row!['note'] as string);
      if (changed === undefined || changed === row!['note']) return undefined;
      if (changed === null) await place.run('delete from audit_erasure_notes where organization_id = $1 and entry_id = $2', key);
      else await place.run('update audit_erasure_notes set note = $3 where organization_id = $1 and entry_id = $2', [...key, changed]);
      return { at: [erased.chain] };
    },
  };
}

export const ERASURES: readonly Tampering[] = [
  forged('without a signature', () => Promise.resolve('')),
  forged('signed by a foreign key', foreign()),
  forged('signed by a foreign key that is said to have been one of ours',
    foreign('insert into audit_signing_keys (key_id, verifier_key, from_size, retired_at_size) values ($1, $2, 0, 1000000)')),
  forged('signed by a foreign key that is said to sign now, too',
    foreign('insert into audit_signing_keys (key_id, verifier_key, from_size) values ($1, $2, 0)')),
  forged('signed by the retired key', (place, entry) =>
    Promise.resolve(place.log.retiredSeed === undefined ? undefined : ordered(place, entry, place.log.retiredSeed)), { in: 'swept' }),
  forged('with the signature of a real one', real('=')),
  forged("with the signature of another organization's", real('<>')),
  forged('with the signature of a checkpoint', (place) =>
    Promise.resolve(place.log.checkpoints.get(place.organizationId)?.at(-1)?.note)),
  {
    name: 'erasure: appended as it should be, and nothing blanked yet', kinds: ['unauthorised_erasure'],
    tamper: async (place) => {
      const blank = blankable(place);
      if (!blank) return undefined;
      const entry = erasure(place, place.organizationId, [blank.listed]);
      await append(place, entry);
      return { at: [entry.chain] };
    },
  },
  {
    name: 'erasure: one that a server has carried out, copied with its signature', kinds: ['unauthorised_erasure'],
    tamper: async (place) => {
      const erased = place.entry(({ event }) => event === 'gdpr.erasure_executed');
      const [row] = erased ? await place.run('select note from audit_erasure_notes where entry_id = $1', [erased.id]) : [];
      if (!erased || !row) return undefined;
      const metadata = metadataOf(erased.payload);
      const copy = stamped(organizationChain(place.organizationId), { type: 'gdpr.erasure_executed', metadata }, place.random);
      await append(place, copy);
      await keepNote(place, copy, row['note'] as string);
      return { at: [copy.chain] };
    },
  },
  left('what it left is said to have stood under another name', (one, { random }) => {
    const pointer = beside(one, random.of(['bribe', '[erased]', '[erased] 2', random.text(6)]));
    return pointer === undefined ? undefined : random.of([{ ...one, pointer }, blankOf(one, pointer)]);
  }),
  left('what it left is put before an open value', (one, { random }, all) => {
    const open = all.filter(({ pointer, value }) => value !== undefined && beside({ ...one, pointer }, '') === beside(one, ''));
    return MEMBER.test(one.pointer) && open.length > 0 ? { ...one, pointer: random.of(open).pointer } : undefined;
  }),
  left('what it left has another salt', (one, { random }) => ({ ...one, salt: `${random.text(21)}A` })),
  note('gone', () => Promise.resolve(null)),
  note('altered', (place, _, text) => {
    const at = text.lastIndexOf(' ') + 8;
    return Promise.resolve(text.slice(0, at) + spoilt(text.slice(at, -4), place.random) + text.slice(-4));
  }),
  note('over something else', (_, { payload }, text) =>
    Promise.resolve(text.replace(/\n\d+\n/, `\n${(metadataOf(payload)['erased'] as unknown[]).length + 1}\n`))),
  note("changed for another organization's", real('<>')),
  note('by somebody unknown', (place, erased) => Promise.resolve(ordered(place, erased, randomBytes(32).toString('base64')))),
];

import { randomBytes } from 'node:crypto';
import { platformChain } from '../../../../src/domain/audit/entry/chain.js';
import { PLATFORM_TREE } from '../../../../src/domain/audit/notes/checkpoint.js';
import { vouchForNext } from '../../../../src/domain/audit/notes/key-succession.js';
import { signingKey, verifierKey } from '../../../../src/domain/audit/notes/note.js';
import { append } from '../append-entry.js';
import { stamped } from '../every-event.js';
import { carriedOn, resigned } from '../forging.js';
import type { TamperTarget, Tampering } from '../tampering.js';

/** Keys that are said to follow those that sign, without their word. */

type NoteOf = (place: TamperTarget, seed: string) => string | undefined;

const BY_NOTES: readonly [string, NoteOf][] = [
  ['without a note', () => undefined],
  ['by its own word', ({ log }, seed) => vouchForNext(log.verifierKeys.length, textOf(log, seed), signingKey(log.instance, seed))],
  ['by a word over another place', ({ log }, seed) =>
    vouchForNext(log.verifierKeys.length + 1, textOf(log, seed), signingKey(log.instance, log.seed))],
  ['by the word of a retired key', ({ log }, seed) => log.retiredSeed === undefined ? undefined :
    vouchForNext(log.verifierKeys.length, textOf(log, seed), signingKey(log.instance, log.retiredSeed))],
];

function textOf({ instance }: TamperTarget['log'], seed: string): string {
  return verifierKey(instance, seed);
}

/** An entry that anybody can append; the server takes it into trees and checkpoints for having been appended. */
const announced = (name: string, noteOf: NoteOf): Tampering => ({
  name: `keys: one announced ${name}`, kinds: ['checkpoint_invalid'], whole: "the installation's own chain announces keys",
  tamper: async (place) => {
    const seed = randomBytes(32).toString('base64');
    const keyNote = noteOf(place, seed);
    const metadata = { keyId: textOf(place.log, seed), ...(keyNote === undefined ? {} : { keyNote }) };
    await append(place, stamped(platformChain(), { type: 'admin.signing_key_rotated', metadata }, place.random));
    await carriedOn(place);
    return { at: [platformChain().chain] };
  },
});

/** A row for it, and everything signed anew by it. */
const signing = (name: string, noteOf: NoteOf): Tampering => ({
  name: `keys: everything signed anew by one that follows ${name}`, kinds: ['checkpoint_invalid'],
  whole: 'the forged map carries all organizations',
  tamper: async (place) => {
    const seed = randomBytes(32).toString('base64');
    const text = textOf(place.log, seed);
    const [{ size }] = (await place.run('select size from audit_trees where organization_id = $1', [PLATFORM_TREE])) as [{ size: string }];
    await place.run('update audit_signing_keys set retired_at_size = $1 where retired_at_size is null', [size]);
    await place.run('insert into audit_signing_keys (key_id, verifier_key, from_size, note) values ($1, $2, $3, $4)',
      [text.split('+')[1]!, text, size, noteOf(place, seed) ?? null]);
    await resigned(place, Number(size) + 1, signingKey(place.log.instance, seed));
    return { at: [PLATFORM_TREE] };
  },
});

const row = (name: string, sql: string): Tampering => ({
  name: `keys: ${name}`, kinds: ['checkpoint_invalid'], in: 'swept',
  tamper: async ({ run }) => {
    const changed = await run(`update audit_signing_keys set ${sql} where note is not null returning 1 as one`);
    return changed.length === 0 ? undefined : { at: [PLATFORM_TREE] };
  },
  unseen: 'a file of everything has the note in the entry, too, and the key is pinned',
});

export const KEYS: readonly Tampering[] = [
  ...BY_NOTES.flatMap(([name, noteOf]) => [announced(name, noteOf), signing(name, noteOf)]),
  row('the note of one altered', String.raw`note = replace(note, E'\n1\n', E'\n2\n')`),
  row('the note of one spoilt', "note = translate(note, 'ABCDEFGH', 'BADCFEHG')"),
  row('the note of one gone', 'note = null'),
];

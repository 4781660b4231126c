import { exportOf, linesOf, nextKeyNote, noteOf, seal, type ExportOptions, type Line, type Signer } from './export-maker.js';
import type { MemoryLog } from '../memory/memory-log.js';
import type { VerifierCase } from './verifier-case.js';
import { scenario } from './verifier-scenario.js';

/** Windows that end before a rotation, and behind it, with checkpoints of one key alone. */
export function inWindows(log: MemoryLog, older: Signer, newer: Signer): VerifierCase[] {
  const signed = (range: readonly [number, number], by: Signer) => {
    const lines = linesOf(log, { signers: [older, newer], organizations: ['org_platform'], range });
    return seal(lines.map((one) => (one.kind === 'checkpoint' ? signedAnew(one, by) : one)), [older, newer]);
  };
  return [
    { name: 'valid-range-before-a-rotation', lines: signed([0, 1], newer), verdict: 'valid', kinds: [] },
    { name: 'range-signed-by-the-retired-key', lines: signed([0, 2], older), verdict: 'tampered', kinds: ['checkpoint_invalid'] },
  ];
}

const signedAnew = (one: Line, by: Signer): Line => ({ ...one, note: noteOf(`${(one['note'] as string).split('\n\n')[0]}\n`, [by]) });

/** Checkpoints with more signature lines than one. */
export function signedOften(log: MemoryLog): VerifierCase[] {
  const signedBy = (lines: (line: string) => string) => seal(linesOf(log).map((one) =>
    one.kind === 'checkpoint' ? { ...one, note: (one['note'] as string).replace(/(?<=\n\n).*\n/s, lines) } : one));
  const wrong = (line: string) => {
    const [dash, name, encoded] = line.trimEnd().split(' ') as [string, string, string];
    const bytes = Buffer.from(encoded, 'base64').map((byte, n) => (n === 40 ? byte ^ 1 : byte));
    return `${dash} ${name} ${Buffer.from(bytes).toString('base64')}\n`;
  };
  const kinds = ['checkpoint_invalid'];
  return [
    { name: 'valid-signature-repeated', verdict: 'valid', lines: signedBy((line) => line.repeat(100)), kinds: [] },
    { name: 'checkpoint-with-too-many-signatures', verdict: 'tampered', lines: signedBy((line) => line.repeat(101)), kinds },
    { name: 'checkpoint-signed-rightly-and-wrongly', verdict: 'tampered', lines: signedBy((line) => line + wrong(line)), kinds },
  ];
}

/** Keys that somebody announces, or has a file name, who has the database and not the key before. */
export function forgedKeys(older: Signer, newer: Signer): Pick<VerifierCase, 'name' | 'lines'>[] {
  const signers = [older, newer];
  const announced = (...note: [string?]) => {
    const made = scenario();
    made.rotate(newer.vkey, newer, 1, ...note);
    return made.log;
  };
  const right = nextKeyNote(1, newer.vkey, older);
  const byKey = (name: string, keyNotes: readonly string[] | undefined, part: ExportOptions = {}) => {
    const made = scenario();
    made.rotate(newer.vkey);
    const [{ keyNotes: _, ...first }, ...rest] = linesOf(made.log, { signers, ...part }) as [Line, ...Line[]];
    return { name: `key-${name}`, lines: seal([{ ...first, ...(keyNotes ? { keyNotes } : {}) }, ...rest], signers) };
  };
  const part = { organizations: ['org_a'] };
  return [
    { name: 'key-announced-by-itself', lines: exportOf(announced(), { signers }) },
    { name: 'key-announced-without-a-note', lines: exportOf(announced(''), { signers }) },
    { name: 'key-announced-in-another-place', lines: exportOf(announced(nextKeyNote(2, newer.vkey, older)), { signers }) },
    { name: 'key-announced-with-a-note-over-another', lines: exportOf(announced(nextKeyNote(1, older.vkey, older)), { signers }) },
    byKey('named-without-a-note', undefined),
    byKey('named-without-a-note-in-a-part', undefined, part),
    byKey('named-by-itself-in-a-part', [nextKeyNote(1, newer.vkey, newer)], part),
    byKey('named-with-an-altered-note-in-a-part', [right.replace('\n1\n', '\n2\n')], part),
  ];
}

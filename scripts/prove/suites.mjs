// What `npm run prove` tries: proofs, and tests of faults, of forgeries, of starts, and of whole matrices (`long`), which take too long
// for every run of the tests.
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Folders whose tests are no part of `npm test`. */
export const PROVED = ['test/faults', 'test/long', 'test/proofs', 'test/start'];

/** The tests that hold proofs in their short form: those that COUNTERSIGN_PROOFS names, else all. */
export const SHORT_FORMS = ['crashes', 'others', 'races', 'tampering'].map((kind) => `test/proofs/${kind}.test.ts`);

/**
 * @typedef {{ name: string, file: string, isProof: boolean }} Suite `name`: of a proof its own, else the path below `test`;
 *   `file`: where it stands, from the checkout's folder
 * @returns {Suite[]} all that there are, by name
 */
export function suites() {
  const files = PROVED.flatMap((folder) => filesBelow(folder));
  const proofs = files.filter((file) => file.endsWith('.proof.ts'))
    .map((file) => ({ name: basename(file, '.proof.ts'), file, isProof: true }));
  const tests = files.filter((file) => file.endsWith('.test.ts') && !file.startsWith('test/proofs/'))
    .map((file) => ({ name: file.slice('test/'.length, -'.test.ts'.length), file, isProof: false }));
  return [...tests, ...proofs].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The suite of that name, or of one that ends so where only one does. */
export function suiteNamed(word) {
  const all = suites();
  const found = all.find(({ name }) => name === word);
  if (found) return found;
  const ending = all.filter(({ name }) => name.endsWith(`/${word}`));
  return ending.length === 1 ? ending[0] : undefined;
}

function filesBelow(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts')).map((name) => join(folder, name));
}

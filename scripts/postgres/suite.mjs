// What `npm run postgres` tries against a PostgreSQL that is installed here. Files are named without their folders, and each must be there.
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/**
 * Tests by what they are about: one or two for each kind of statement, since what differs is how PostgreSQL plans and commits them.
 * Where two files have one name, both.
 */
const TESTS = {
  connections: ['connections', 'migrations'],
  gate: ['execute', 'idempotency', 'limits'],
  approvals: ['hitl', 'quorum', 'batch', 'waiting'],
  audit: ['audit', 'audit-query', 'trees', 'append-only'],
  sweeps: ['retention'],
  'sign-in': ['passwords', 'sessions'],
  'two servers': ['stale-decision', 'leadership'],
};

/** Proofs in their short form. */
const PROOFS = ['hitl-races'];
const SHORT_FORM = 'races';

/**
 * @param {readonly string[]} only names of files, where not all are wanted
 * @returns {{ tests: string[], proofs: string[] }} paths from the checkout's folder, and names of the proofs in the last of them
 * @throws Error that names what is not there
 */
export function suite(only = [], root = ROOT) {
  // What the SDK does is the same on each.
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).map((file) => join('test', file))
    .filter((file) => !file.startsWith(join('test', 'sdk')));
  const named = (name, ending) => files.filter((file) => basename(file) === `${name}.${ending}.ts`);
  const tests = [...Object.values(TESTS).flat(), SHORT_FORM];
  const missing = [
    ...tests.filter((name) => named(name, 'test').length === 0).map((name) => `${name}.test.ts`),
    ...PROOFS.filter((name) => named(name, 'proof').length === 0).map((name) => `${name}.proof.ts`),
    ...only.filter((name) => !tests.includes(name)).map((name) => `${name}, of the list`),
  ];
  if (missing.length > 0) throw new Error(`not below test: ${missing.join(', ')}`);
  const wanted = only.length === 0 ? tests : only;
  return { tests: wanted.flatMap((name) => named(name, 'test')), proofs: PROOFS };
}

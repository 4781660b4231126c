// The files that take longest begin first, so that the workers end together. Jest remembers how long each took where it has run before;
// a fresh checkout knows it from here: seconds, measured with three workers on two cores. What is not listed is short.
import { relative } from 'node:path';
import TestSequencer from '@jest/test-sequencer';
import { SUBJECTS } from '../prove/subjects.mjs';

const SECONDS = {
  // Those of `npm run prove` stand with what they are about.
  ...Object.fromEntries(Object.entries(SUBJECTS).map(([name, [seconds]]) => [`test/${name}.test.ts`, seconds])),
  'test/proofs/tampering.test.ts': 170,
  'test/proofs/crashes.test.ts': 74,
  'test/proofs/races.test.ts': 62,
  'test/contract/http/permission-matrix.test.ts': 25,
  'test/api/hitl/timeouts.test.ts': 34,
  'test/proofs/others.test.ts': 34,
  'test/api/gate/approved-is-what-runs.test.ts': 29,
  'test/api/platform/bad-input.test.ts': 24,
  'test/api/privacy/erase-values.test.ts': 22,
  'test/api/hitl/hitl.test.ts': 19,
  'test/api/waiting/hitl-events.test.ts': 18,
  'test/api/hitl/reminders.test.ts': 17,
};

/** Of a file that is not listed, a second; the larger ones first. */
const BYTES_A_SECOND = 10_000;

export default class LongestFirst extends TestSequencer {
  time(test) {
    const { rootDir } = test.context.config;
    const seconds = SECONDS[relative(rootDir, test.path)] ?? (test.context.hasteFS.getSize(test.path) ?? 0) / BYTES_A_SECOND;
    return super.time(test) ?? seconds * 1_000;
  }
}

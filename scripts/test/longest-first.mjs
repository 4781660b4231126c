// The files that take longest begin first, so that the workers end together. Jest remembers how long each took where it has run before;
// a fresh checkout knows it from here: seconds, measured with three workers on two cores. What is not listed is short.
import { relative } from 'node:path';
import TestSequencer from '@jest/test-sequencer';

const SECONDS = {
  'test/proofs/tampering.test.ts': 170,
  'test/api/verify-newer.test.ts': 136,
  'test/start/start.test.ts': 135,
  'test/api/forged-erasures.test.ts': 115,
  'test/api/retention-and-erasure.test.ts': 82,
  'test/faults/rewritten-log.test.ts': 82,
  'test/proofs/crashes.test.ts': 74,
  'test/faults/rollback.test.ts': 66,
  'test/proofs/races.test.ts': 62,
  'test/faults/shutdown.test.ts': 58,
  'test/api/export-streams.test.ts': 55,
  'test/api/shown-rows.test.ts': 52,
  'test/faults/sweep.test.ts': 50,
  'test/api/forged-sweeps.test.ts': 49,
  'test/faults/begun-again.test.ts': 49,
  'test/faults/log-not-writable.test.ts': 48,
  'test/api/deep-values.test.ts': 45,
  'test/api/odd-exports.test.ts': 45,
  'test/faults/crash.test.ts': 44,
  'test/api/completeness.test.ts': 40,
  'test/contract/permission-matrix.test.ts': 39,
  'src/platform/embedded/supervisor.test.ts': 37,
  'test/api/odd-entries.test.ts': 36,
  'test/api/verify-archive.test.ts': 36,
  'test/faults/forged-keys.test.ts': 36,
  'test/api/erase-escaped.test.ts': 36,
  'test/api/timeouts.test.ts': 34,
  'test/proofs/others.test.ts': 34,
  'test/api/verify-swept.test.ts': 32,
  'test/faults/signing-key.test.ts': 32,
  'test/contract/demo.test.ts': 30,
  'src/domain/audit/judging/shown-text.test.ts': 30,
  'test/api/approved-is-what-runs.test.ts': 29,
  'test/faults/provider-sessions.test.ts': 29,
  'test/api/verify-command.test.ts': 27,
  'test/contract/queue-rules.test.ts': 27,
  'test/faults/database-away.test.ts': 27,
  'test/faults/sessions.test.ts': 27,
  'test/api/audit-tampering.test.ts': 26,
  'test/api/hitl-events-resume.test.ts': 26,
  'test/faults/stop.test.ts': 26,
  'test/api/bad-input.test.ts': 24,
  'test/api/erase-sign-in.test.ts': 23,
  'test/api/erase-values.test.ts': 22,
  'test/faults/clock-ahead.test.ts': 22,
  'test/api/odd-values.test.ts': 21,
  'test/api/password-attack.test.ts': 21,
  'test/contract/tier-matrix.test.ts': 21,
  'test/api/limits-of-requests.test.ts': 20,
  'test/api/transfer-chain.test.ts': 20,
  'test/api/hitl.test.ts': 19,
  'test/api/hitl-events.test.ts': 18,
  'test/faults/erasures-at-once.test.ts': 18,
  'test/api/reminders.test.ts': 17,
  'test/contract/style.test.ts': 17,
  'test/faults/key-rotation.test.ts': 17,
  'test/api/verify-remembered.test.ts': 15,
  'test/api/replayed-windows.test.ts': 12,
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

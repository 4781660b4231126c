// The files that take longest begin first, so that the workers end together. Jest remembers how long each took where it has run before;
// a fresh checkout knows it from here: seconds, measured with three workers on two cores. What is not listed is short.
import { relative } from 'node:path';
import TestSequencer from '@jest/test-sequencer';

const SECONDS = {
  'test/proofs/tampering.test.ts': 170,
  'test/faults/verification/verify-newer.test.ts': 136,
  'test/start/start.test.ts': 135,
  'test/faults/tampering/forged-erasures.test.ts': 115,
  'test/faults/retention/retention-and-erasure.test.ts': 82,
  'test/faults/audit/rewritten-log.test.ts': 82,
  'test/proofs/crashes.test.ts': 74,
  'test/faults/audit/rollback.test.ts': 66,
  'test/proofs/races.test.ts': 62,
  'test/faults/servers/shutdown.test.ts': 58,
  'test/faults/audit/export-streams.test.ts': 55,
  'test/faults/verification/compared-rows.test.ts': 52,
  'test/faults/decisions/request-expiry.test.ts': 50,
  'test/faults/tampering/forged-sweeps.test.ts': 49,
  'test/faults/decisions/begun-again.test.ts': 49,
  'test/faults/audit/log-not-writable.test.ts': 48,
  'test/faults/tampering/deep-values.test.ts': 45,
  'test/faults/tampering/odd-exports.test.ts': 45,
  'test/faults/servers/crash.test.ts': 44,
  'test/faults/verification/completeness.test.ts': 40,
  'test/contract/http/permission-matrix.test.ts': 39,
  'test/start/embedded-postgres.test.ts': 37,
  'test/faults/tampering/odd-entries.test.ts': 36,
  'test/faults/retention/verify-archive.test.ts': 36,
  'test/faults/audit/forged-keys.test.ts': 36,
  'test/faults/retention/erase-escaped.test.ts': 36,
  'test/api/hitl/timeouts.test.ts': 34,
  'test/proofs/others.test.ts': 34,
  'test/faults/retention/verify-swept.test.ts': 32,
  'test/faults/audit/signing-key.test.ts': 32,
  'test/start/demo.test.ts': 30,
  'src/domain/audit/completeness/superseded/shown-text.test.ts': 30,
  'test/api/gate/approved-is-what-runs.test.ts': 29,
  'test/faults/sign-in/provider-sessions.test.ts': 29,
  'test/faults/verification/verify-command.test.ts': 27,
  'test/contract/http/queue-rules.test.ts': 27,
  'test/faults/servers/database-away.test.ts': 27,
  'test/faults/sign-in/sessions.test.ts': 27,
  'test/api/audit/audit-tampering.test.ts': 26,
  'test/api/waiting/hitl-events-resume.test.ts': 26,
  'test/faults/decisions/stop.test.ts': 26,
  'test/api/platform/bad-input.test.ts': 24,
  'test/api/privacy/erase-sign-in.test.ts': 23,
  'test/api/privacy/erase-values.test.ts': 22,
  'test/faults/servers/clock-ahead.test.ts': 22,
  'test/faults/verification/odd-values.test.ts': 21,
  'test/faults/sign-in/password-attack.test.ts': 21,
  'test/contract/http/tier-matrix.test.ts': 21,
  'test/api/grants/limits-of-requests.test.ts': 20,
  'test/api/agents/transfer-chain.test.ts': 20,
  'test/api/hitl/hitl.test.ts': 19,
  'test/api/waiting/hitl-events.test.ts': 18,
  'test/faults/audit/concurrent-erasures.test.ts': 18,
  'test/api/hitl/reminders.test.ts': 17,
  'test/contract/code/style.test.ts': 17,
  'test/faults/servers/root-key-rotation.test.ts': 17,
  'test/faults/verification/verify-remembered.test.ts': 15,
  'test/faults/verification/replayed-windows.test.ts': 12,
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

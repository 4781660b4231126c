// The files that take longest begin first, so that the workers end together. Jest remembers how long each took where it has run before;
// a fresh checkout knows it from here: seconds, measured with three workers on two cores. What is not listed is short.
import { relative } from 'node:path';
import TestSequencer from '@jest/test-sequencer';

const SECONDS = {
  'test/start/start.test.ts': 98,
  'test/proofs/races.test.ts': 95,
  'test/api/verify-newer.test.ts': 84,
  'test/proofs/crashes.test.ts': 75,
  'test/faults/sweep.test.ts': 73,
  'test/api/retention-and-erasure.test.ts': 70,
  'test/proofs/tampering.test.ts': 65,
  'test/faults/begun-again.test.ts': 56,
  'test/proofs/others.test.ts': 55,
  'test/api/export-streams.test.ts': 53,
  'test/faults/shutdown.test.ts': 53,
  'test/faults/log-not-writable.test.ts': 49,
  'test/contract/permission-matrix.test.ts': 46,
  'test/faults/crash.test.ts': 40,
  'test/faults/database-away.test.ts': 40,
  'test/contract/tier-matrix.test.ts': 39,
  'test/api/bad-input.test.ts': 38,
  'test/api/audit-tampering.test.ts': 37,
  'test/faults/stop.test.ts': 36,
  'test/api/verify-swept.test.ts': 35,
  'test/faults/key-rotation.test.ts': 35,
  'test/api/invitations.test.ts': 34,
  'test/api/approved-is-what-runs.test.ts': 31,
  'test/api/hitl-events-resume.test.ts': 31,
  'test/faults/erasures-at-once.test.ts': 31,
  'test/faults/rollback.test.ts': 31,
  'test/api/rate-limits.test.ts': 30,
  'test/api/retention.test.ts': 30,
  'test/contract/demo.test.ts': 27,
  'test/contract/test-server.test.ts': 27,
  'test/api/limits-of-requests.test.ts': 26,
  'test/api/transfer-chain.test.ts': 25,
  'test/contract/queue-rules.test.ts': 25,
  'src/platform/embedded/supervisor.test.ts': 24,
  'test/api/hitl.test.ts': 24,
  'test/contract/style.test.ts': 23,
  'test/api/edit-guards.test.ts': 22,
  'test/api/completeness.test.ts': 21,
  'test/api/users.test.ts': 21,
  'test/faults/rewritten-log.test.ts': 21,
  'test/api/audit-query.test.ts': 20,
  'test/api/erase-values.test.ts': 20,
  'test/api/limits.test.ts': 20,
  'test/api/password-attack.test.ts': 20,
  'test/api/tokens.test.ts': 20,
  'test/faults/shared-changes.test.ts': 20,
  'test/api/hitl-obstacles.test.ts': 19,
  'test/api/reminders.test.ts': 19,
  'test/api/timeouts.test.ts': 19,
  'test/faults/anchors-away.test.ts': 19,
  'test/faults/leadership.test.ts': 19,
  'test/contract/verifier-module.test.ts': 18,
  'test/api/connectors.test.ts': 17,
  'test/api/mail.test.ts': 17,
  'test/faults/frozen-worker.test.ts': 17,
  'test/start/rotate-key.test.ts': 17,
  'test/api/duties.test.ts': 16,
  'test/api/path-spellings.test.ts': 16,
  'test/faults/provider-trouble.test.ts': 16,
  'test/api/audit.test.ts': 15,
  'test/api/provider-login-negatives.test.ts': 15,
  'test/api/sign-in-pages.test.ts': 15,
  'test/api/stop-clocks.test.ts': 15,
  'test/api/erased-work.test.ts': 14,
  'test/api/idempotency.test.ts': 14,
  'test/api/proofs.test.ts': 14,
  'test/api/records-retention.test.ts': 14,
  'test/api/stops.test.ts': 14,
  'test/api/transfer.test.ts': 14,
  'test/api/batch.test.ts': 13,
  'test/api/hitl-events.test.ts': 13,
  'test/api/odd-input.test.ts': 12,
  'test/api/personal-keys.test.ts': 12,
  'test/api/quorum-rules.test.ts': 12,
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

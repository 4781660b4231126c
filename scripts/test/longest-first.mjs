// The files that take longest begin first, so that the workers end together. Jest remembers how long each took where it has run before;
// a fresh checkout knows it from here: seconds, measured with six workers on two cores. What is not listed is short.
import { relative } from 'node:path';
import TestSequencer from '@jest/test-sequencer';
import { SUBJECTS } from '../prove/subjects.mjs';

const SECONDS = {
  // Those of `npm run prove` stand with what they are about.
  ...Object.fromEntries(Object.entries(SUBJECTS).map(([name, [seconds]]) => [`test/${name}.test.ts`, seconds])),
  'test/proofs/tampering.test.ts': 170,
  'test/proofs/crashes.test.ts': 74,
  'test/proofs/races.test.ts': 62,
  'test/proofs/others.test.ts': 34,
  'test/api/hitl/timeouts.test.ts': 46,
  'test/api/gate/approved-is-what-runs.test.ts': 39,
  'test/contract/http/permission-matrix.test.ts': 38,
  'test/api/platform/bad-input.test.ts': 36,
  'test/api/audit/audit.test.ts': 30,
  'test/api/privacy/erase-user.test.ts': 30,
  'test/api/sign-in/passwords.test.ts': 30,
  'test/api/waiting/hitl-events.test.ts': 29,
  'test/api/privacy/erase-values.test.ts': 26,
  'test/api/sign-in/invitations.test.ts': 25,
  'test/api/decisions/decisions.test.ts': 25,
  'test/api/sign-in/session-ends.test.ts': 23,
  'test/api/agents/agent-key-ends.test.ts': 22,
  'test/api/retention/retention.test.ts': 21,
  'test/api/connectors/mcp.test.ts': 21,
  'test/api/audit/audit-query.test.ts': 21,
  'test/api/hitl/approval-preconditions.test.ts': 20,
  'test/api/llm/provider-faults.test.ts': 19,
  'test/api/sign-in/sign-in-pages.test.ts': 19,
  'test/api/grants/grant-terms.test.ts': 18,
  'test/api/platform/rate-limits.test.ts': 18,
  'test/api/hitl/reminders.test.ts': 17,
  'test/api/notifications/mail-links.test.ts': 17,
  'test/api/gate/idempotency.test.ts': 17,
  'test/api/routing/tasks.test.ts': 16,
  'test/api/decisions/quorum-rules.test.ts': 16,
  'test/api/llm/asked.test.ts': 16,
  'test/api/audit/exports.test.ts': 16,
  'test/api/decisions/duties.test.ts': 15,
  'test/sdk/waiting.test.ts': 15,
  'test/api/organizations/changing-users.test.ts': 15,
  'test/api/gate/stop-clocks.test.ts': 15,
  'src/modules/audit/exports/download.test.ts': 14,
  'test/api/agents/team-grants.test.ts': 14,
  'test/api/provider/provider-accounts.test.ts': 14,
  'test/contract/http/session-origins.test.ts': 14,
  'test/api/gate/who-acts.test.ts': 13,
  'test/api/sign-in/personal-keys.test.ts': 13,
  'test/api/llm/calls.test.ts': 12,
  'test/api/hitl/hitl.test.ts': 12,
  'test/api/sign-in/sessions.test.ts': 12,
  'test/api/node/work.test.ts': 12,
  'test/api/decisions/batch.test.ts': 12,
  'test/api/llm/corpus.test.ts': 12,
  'test/api/notifications/scanners.test.ts': 12,
  'test/contract/http/unknown-names.test.ts': 12,
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

// What each suite of `npm run prove` is about: files or folders, those of the product below `src`. A change of one of them is a reason to
// try the suite. `seconds`: how long it takes by itself in its short form, on two cores, roughly.

const GATE = ['domain/gate/', 'modules/gate/', 'modules/authority/', 'modules/executions/', 'migrations/'];
const REQUESTS = ['domain/hitl/', 'modules/hitl/requests/', 'modules/hitl/decisions/', 'migrations/'];
const SHARED = ['modules/lifecycle/', 'modules/organizations/stops/', 'modules/organizations/shared-change.ts'];
const DATABASE = ['platform/database/'];
const START = ['start/', 'platform/config/', 'scripts/start.mjs', 'scripts/prepare'];
const SIGNED = ['domain/audit/notes/', 'domain/audit/tree/', 'modules/audit/checkpoints/'];
const FOUND = ['domain/audit/integrity/', 'modules/audit/verification/'];
const ENTRIES = ['domain/audit/entry/', 'platform/audit/'];
const REPLAY = ['domain/audit/replay/', 'domain/audit/completeness/'];
const RETENTION = ['domain/audit/retention/', 'modules/audit/retention/'];
const ERASURE = ['domain/audit/erasure/', 'modules/audit/erasures/', 'modules/privacy/'];
const PROVIDER = ['modules/sign-in/provider/', 'modules/sign-in/bearer/'];

/** By name: `[seconds, …what it is about]`. */
export const SUBJECTS = {
  'faults/audit/anchors-away': [15, 'modules/audit/anchors/'],
  'faults/audit/checkpoint-thinning': [5, 'modules/audit/checkpoints/'],
  'faults/audit/concurrent-erasures': [18, ...ERASURE],
  'faults/audit/export-streams': [40, 'modules/audit/exports/', 'domain/audit/export/'],
  'faults/audit/forged-keys': [36, 'modules/audit/keys/', 'domain/audit/notes/'],
  'faults/audit/leadership': [5, 'platform/database/leadership/'],
  'faults/audit/log-not-writable': [48, ...DATABASE, 'platform/audit/'],
  'faults/audit/organization-removed': [10, ...SIGNED],
  'faults/audit/rewritten-log': [82, ...SIGNED, 'modules/audit/anchors/'],
  'faults/audit/rollback': [66, 'modules/audit/anchors/', 'modules/audit/checkpoints/', 'modules/lifecycle/'],
  'faults/audit/signing-key': [32, 'modules/audit/keys/', 'domain/audit/notes/'],
  'faults/audit/trees': [15, ...SIGNED],
  'faults/decisions/begun-again': [49, 'modules/gate/', 'modules/executions/'],
  'faults/decisions/late-decision': [8, ...GATE],
  'faults/decisions/request-expiry': [50, 'modules/hitl/expiry/'],
  'faults/decisions/shared-changes': [15, ...SHARED, ...GATE],
  'faults/decisions/stale-decision': [12, ...GATE],
  'faults/decisions/stop': [26, ...SHARED, 'modules/gate/'],
  'faults/decisions/usage-order': [5, 'modules/capabilities/'],
  'faults/retention/erase-escaped': [36, ...ERASURE],
  'faults/retention/retention-and-erasure': [82, ...RETENTION, ...ERASURE],
  'faults/retention/swept-replay': [15, ...RETENTION, ...REPLAY],
  'faults/retention/verify-archive': [36, ...RETENTION],
  'faults/retention/verify-swept': [32, ...RETENTION, ...FOUND],
  'faults/servers/clock-ahead': [22, 'modules/authority/', 'platform/database/', 'modules/gate/admission/'],
  'faults/servers/crash': [44, 'modules/gate/', 'modules/executions/', 'platform/outbox/'],
  'faults/servers/database-away': [27, ...DATABASE, 'modules/gate/'],
  'faults/servers/frozen-worker': [12, 'platform/outbox/', 'modules/gate/execution/'],
  'faults/servers/root-key-rotation': [17, 'modules/organizations/installation/', 'platform/auth/'],
  'faults/servers/shutdown': [58, 'start/', 'modules/gate/execution/'],
  'faults/servers/slow-mail': [5, 'platform/mail/'],
  'faults/sign-in/password-attack': [21, 'modules/sign-in/passwords/'],
  'faults/sign-in/provider-sessions': [29, ...PROVIDER, 'modules/sign-in/sessions/'],
  'faults/sign-in/provider-trouble': [10, ...PROVIDER],
  'faults/sign-in/sessions': [27, 'modules/sign-in/sessions/'],
  'faults/tampering/audit-tampering': [20, ...FOUND, ...ENTRIES, ...SIGNED],
  'faults/tampering/copied-erasures': [60, ...ERASURE, ...FOUND],
  'faults/tampering/deep-values': [45, ...FOUND, ...ENTRIES],
  'faults/tampering/forged-erasures': [60, ...ERASURE, ...FOUND],
  'faults/tampering/forged-sweeps': [49, ...RETENTION, ...FOUND],
  'faults/tampering/odd-entries': [36, ...FOUND, ...ENTRIES],
  'faults/tampering/odd-exports': [45, 'modules/audit/exports/', 'domain/audit/export/'],
  'faults/verification/compared-rows': [52, 'domain/audit/completeness/'],
  'faults/verification/completeness': [40, 'domain/audit/completeness/'],
  'faults/verification/endless-cells': [10, ...FOUND],
  'faults/verification/odd-values': [21, 'domain/audit/completeness/'],
  'faults/verification/replayed-windows': [12, 'domain/audit/replay/'],
  'faults/verification/verify-command': [27, 'modules/audit/verification/', 'bin/'],
  'faults/verification/verify-remembered': [15, ...FOUND],
  'long/agents/transfer-chain': [25, 'modules/lifecycle/', 'modules/agents/'],
  'long/audit/export-command': [15, 'modules/audit/exports/', 'cli/'],
  'long/audit/verifier': [30, 'verifier/', 'domain/audit/export/'],
  'long/audit/verifier-module': [25, 'verifier/'],
  'long/code/style': [25, 'eslint.config.mjs', 'scripts/lint/'],
  'long/decisions/edit-guards': [15, ...REQUESTS],
  'long/harness/test-server': [15, 'test/support/servers/'],
  'long/http/queue-rules': [25, 'domain/hitl/', 'modules/hitl/queue/'],
  'long/http/tier-matrix': [25, 'platform/commerce/', 'modules/commercial/'],
  'long/organizations/tenant-owners': [40, ...REPLAY, 'modules/organizations/', 'modules/authority/'],
  'long/platform/bad-parameters': [20, 'platform/http/'],
  'long/platform/path-spellings': [15, 'platform/http/'],
  'long/privacy/erase-sign-in': [20, ...ERASURE, 'modules/sign-in/personal-data.store.ts'],
  'long/privacy/erase-words': [35, ...ERASURE],
  'long/sign-in/passwords-elsewhere': [20, 'modules/sign-in/passwords/', 'modules/sign-in/invitations/'],
  'long/waiting/hitl-events-resume': [20, 'modules/hitl/events/', 'platform/wake/'],
  'start/command-line': [10, 'bin/', 'platform/config/', 'Dockerfile', 'scripts/image-steps.sh'],
  'start/demo': [30, 'demo/', 'scripts/demo.mjs'],
  'start/embedded-postgres': [37, 'platform/embedded/'],
  'start/prepare': [10, 'scripts/prepare.mjs', 'scripts/build.mjs', 'package-lock.json'],
  'start/rotate-key': [15, 'modules/organizations/installation/', 'platform/embedded/'],
  'start/start': [135, ...START, 'platform/embedded/', 'package-lock.json'],
  'activation-race': [6, 'modules/lifecycle/', 'modules/agents/'],
  'append-race': [15, 'platform/audit/', 'migrations/'],
  'auth-flood': [10, 'platform/auth/', 'platform/rate-limit/'],
  'bad-input': [10, 'platform/http/'],
  'basis-race': [10, ...SHARED, 'modules/authority/'],
  'conditions-only-tighten': [2, 'domain/gate/'],
  'crash': [25, 'modules/gate/', 'modules/executions/', 'platform/outbox/'],
  'cross-organization': [10, 'modules/organizations/', 'modules/teams/', 'platform/auth/'],
  'erasure-crash': [20, ...ERASURE],
  'exported-tampering': [15, 'domain/audit/export/', 'modules/audit/exports/', 'verifier/'],
  'hitl-races': [10, ...REQUESTS],
  'hitl-walk': [15, ...REQUESTS, 'modules/hitl/'],
  'honest': [30, ...REPLAY, ...GATE, ...REQUESTS, ...SHARED],
  'key-rotation': [20, 'modules/audit/keys/'],
  'limit-race': [10, 'modules/capabilities/', 'modules/gate/admission/'],
  'revocation-race': [10, 'modules/agents/', 'modules/gate/admission/'],
  'stop-race': [10, ...SHARED],
  'sweep-crash': [20, ...RETENTION],
  'tamper': [150, ...FOUND, ...ENTRIES, ...SIGNED],
  'token-race': [10, 'modules/agents/tokens/'],
  'waiters': [5, 'modules/hitl/events/', 'platform/wake/'],
};

/** Where a part of a subject stands in the checkout. */
export const pathOf = (part) => (/^(?:cli|domain|modules|platform|start)\//.test(part) ? `src/${part}` : part);

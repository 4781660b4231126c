// The module graph of docs/architecture.md as data. The layering rules, the table-ownership check and their tests read it
// from here, so that an arrow can be added here alone, and one diff in which a reviewer sees it.

/** Module → the modules it stands directly on. A module may import, and name in SQL, whatever its arrows lead to. */
export const MODULE_GRAPH = {
  organizations: [],
  'sign-in': ['organizations'],
  teams: ['organizations'],
  capabilities: ['teams', 'organizations'],
  agents: ['capabilities', 'teams', 'organizations'],
  executions: ['agents'],
  tasks: ['executions', 'agents', 'organizations'],
  authority: ['organizations', 'sign-in', 'teams', 'capabilities', 'agents', 'executions', 'tasks'],
  hitl: ['authority', 'executions', 'agents', 'teams'],
  gate: ['hitl', 'authority', 'executions'],
  lifecycle: ['hitl', 'tasks', 'agents', 'organizations', 'sign-in', 'notifications'],
  audit: ['organizations'],
  privacy: ['audit', 'organizations'],
  node: ['gate'],
  routing: ['gate', 'tasks'],
  llm: ['gate'],
  mcp: ['gate'],
  notifications: ['hitl', 'sign-in', 'teams', 'organizations'],
  commercial: ['sign-in', 'executions', 'teams', 'organizations'],
};

/** What src/domain may import besides itself: pure functions over their arguments, nothing that reads or keeps state. */
export const PURE_LIBRARIES = [
  'canonicalize', '@bufbuild/cel', 're2js', 'ajv', 'ajv-formats', 'big.js', 'rfc6902',
  // The scan for personal data: checksums, formats and encodings.
  'libphonenumber-js', 'ibantools', 'stdnum', '@scure/base', '@noble/hashes',
];

/**
 * Tables without an entity class, by owner. A table with an entity belongs to the folder its entity stands in; every other
 * table that a migration creates stands here, or the check says that nobody owns it.
 */
export const TABLES_WITHOUT_ENTITY = {
  organizations: ['organizations', 'instance', 'tenants', 'users', 'personal_keys', 'stops'],
  teams: ['teams', 'team_members'],
  capabilities: ['capability_definitions', 'capability_grants', 'grant_usage', 'grant_uses', 'grant_totals', 'secrets'],
  agents: ['agents', 'agent_keys', 'refreshed_tokens', 'setup_tokens'],
  executions: ['executions'],
  node: ['node_work'],
  tasks: ['tasks'],
  routing: ['routing_decisions'],
  hitl: ['hitl_requests', 'hitl_votes', 'hitl_events'],
  audit: [
    'audit_verification_rate_limits',
    // Rows come by the functions of appending alone; integration takes them away.
    'audit_tree_queue',
    'audit_trees',
    'audit_tree_leaves',
    'audit_tree_tiles',
    'audit_platform_leaves',
    'audit_map_nodes',
    'audit_checkpoints',
    'audit_signing_keys',
    'audit_anchors',
    'audit_sweeps',
    'audit_erasure_notes',
  ],
  privacy: ['erasures'],
  notifications: ['notification_channels', 'notifications', 'notification_deliveries', 'mail_tokens', 'chat_accounts'],
  'sign-in': ['user_identities', 'sessions', 'passkeys', 'passwords', 'invitations', 'sign_in_slowdowns', 'spent_once'],
  platform: [
    'audit_heads',
    'audit_entries',
    'audit_subjects',
    'outbox',
    'idempotency_keys',
    'rate_quotas',
    'server_heartbeats',
    'migrations',
  ],
};

/**
 * Tables of a module that the platform's SQL names nevertheless, with the reason: the one hole in "the platform knows no
 * module", kept this small.
 */
export const NAMED_BY_PLATFORM = {
  organizations: 'the unit of work raises the revision of the facts that all agents of an organization share',
};

/** Functions of the database past which nothing writes to the log, whatever their version, and the folder that calls them. */
export const CALLED_FROM = {
  append_entries: 'src/platform/database/',
  erase_disclosures: 'src/modules/privacy/',
  sweep_entries: 'src/modules/audit/retention/',
  sweep_subjects: 'src/modules/audit/retention/',
};

/** Every module that `name` may import, by following its arrows; without `name` itself. */
export function modulesBelow(name, graph = MODULE_GRAPH) {
  const below = new Set();
  const visit = (module) => {
    for (const next of graph[module] ?? []) {
      if (below.has(next)) continue;
      below.add(next);
      visit(next);
    }
  };
  visit(name);
  return [...below].sort();
}

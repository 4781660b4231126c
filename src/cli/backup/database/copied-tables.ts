/**
 * What a backup holds. By name, since others may keep tables of their own beside them, which no restore could make; a test compares these
 * names with the schema. A name stays when its table goes: older databases have it still.
 */
export const COPIED: readonly string[] = [
  'agent_keys', 'agents', 'audit_anchors', 'audit_checkpoints', 'audit_entries', 'audit_erasure_notes', 'audit_heads', 'audit_map_nodes',
  'audit_platform_leaves', 'audit_signing_keys', 'audit_subjects', 'audit_sweeps', 'audit_tree_leaves', 'audit_tree_queue',
  'audit_tree_tiles', 'audit_trees', 'audit_verification_rate_limits', 'capability_definitions', 'capability_grants', 'chat_accounts',
  'erasures', 'executions', 'grant_totals', 'grant_usage', 'grant_uses', 'hitl_requests', 'hitl_votes', 'idempotency_keys', 'instance',
  'invitations', 'mail_tokens', 'node_work', 'notification_channels', 'notification_deliveries', 'notifications', 'organizations',
  'outbox', 'passkeys', 'passwords', 'personal_keys', 'refreshed_tokens', 'routing_decisions', 'secrets', 'sessions', 'setup_tokens',
  'sign_in_slowdowns', 'spent_once', 'stops', 'tasks', 'team_members', 'teams', 'tenants', 'user_identities', 'users',
];

/**
 * `migrations` is made anew by running them. `hitl_events` repeats for a day what clients missed, in the order of the transaction numbers
 * of the database that it was written in, which another one does not go on from. `rate_quotas` is empty after a crash, so that nothing
 * rests on it. `server_heartbeats` is about servers that run.
 */
export const LEFT_OUT: readonly string[] = ['migrations', 'hitl_events', 'rate_quotas', 'server_heartbeats'];

/** Whatever the role or the database prefers, values are written and read in one and the same form. */
export const FIXED_TEXT = [
  `set local timezone = 'UTC'`, `set local datestyle = 'ISO, MDY'`, `set local intervalstyle = 'postgres'`,
  `set local extra_float_digits = 1`, `set local bytea_output = 'hex'`, `set local client_encoding = 'UTF8'`,
].join('; ');

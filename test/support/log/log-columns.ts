import type { SaidColumns } from '../routes/columns.js';

const checkpoint = { organization_id: 'id', root: 'digest', note: 'digest' } as const;

/**
 * What the audit log's own tables hold, and that of the migrations: no holder erases in them. `log` may show something of a person, and
 * is blanked where it is a disclosure; nothing else here does. A note is signed digests.
 */
export const LOG_COLUMNS: SaidColumns = {
  audit_heads: { organization_id: 'id', chain: 'id', hash: 'digest' },
  audit_entries: {
    organization_id: 'id', chain: 'id', id: 'id', event: 'code', agent_id: 'id', actor_id: 'id', capability: 'code', outcome: 'code',
    timestamp: 'code', payload: 'log', disclosures: 'log', prev_hash: 'digest', hash: 'digest',
  },
  audit_subjects: {
    organization_id: 'id', user_id: 'id', entry_id: 'id', pointer: 'code', chain: 'id', event: 'code', capability: 'code', outcome: 'code',
    timestamp: 'code',
  },
  audit_tree_queue: { organization_id: 'id', chains: 'id', hashes: 'digest' },
  audit_trees: {
    organization_id: 'id', root: 'digest', tail_chains: 'id', tail_hashes: 'digest',
    // Leaves of the platform's tree: a root and a time.
    tail_data: 'digest',
  },
  audit_tree_leaves: { organization_id: 'id', chains: 'id', hashes: 'digest', root: 'digest' },
  audit_tree_tiles: { organization_id: 'id', hashes: 'digest', root: 'digest' },
  audit_platform_leaves: { data: 'digest', root: 'digest' },
  audit_map_nodes: { prefix: 'digest', hash: 'digest', organization_id: 'id', root: 'digest' },
  audit_checkpoints: checkpoint,
  // The key's name is the installation's, and `verifier_key` its public half.
  audit_signing_keys: { key_id: 'id', verifier_key: 'code', note: 'digest' },
  // `destination` stands in the environment; `error` is what its system answered, of a request that holds digests.
  audit_anchors: { destination: 'code', root: 'digest', note: 'digest', error: 'code' },
  // `skeleton` and `disclosures` are names of objects in the archive.
  audit_sweeps: {
    organization_id: 'id', id: 'id', state: 'code', cuts: 'digest', checkpoint: 'digest', skeleton: 'id', disclosures: 'id',
    entry_id: 'id', notes: 'digest',
  },
  audit_erasure_notes: { organization_id: 'id', entry_id: 'id', note: 'digest' },
  audit_verification_rate_limits: { credential: 'id' },
  migrations: { name: 'code' },
};

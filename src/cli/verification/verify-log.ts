import { originOf, PLATFORM_TREE } from '../../domain/audit/notes/checkpoint.js';
import { configuredAnchors } from '../../modules/audit/anchors/configured-anchors.js';
import { askAnchors, type AskedAnchors } from '../../modules/audit/anchors/ask-anchors.js';
import { logCheckOf } from '../../modules/audit/verification/log-checks.js';
import { instanceName } from '../../modules/audit/checkpoints/checkpoint.query.js';
import type { Verification } from '../../modules/audit/verification/verification-result.js';
import { openSnapshot } from '../../modules/audit/query/snapshots.query.js';
import { VERIFICATION } from '../../modules/audit/verification/worker-threads.js';
import { verifyDatabase } from '../../modules/audit/verification/verify-database.js';
import { grantRecords } from '../../modules/capabilities/grant-records.query.js';
import { secretRecords } from '../../modules/capabilities/secrets/secret-records.query.js';
import { executionRecords } from '../../modules/executions/execution-records.query.js';
import { requestRecords } from '../../modules/hitl/requests/request-records.query.js';
import { voteRecords } from '../../modules/hitl/decisions/vote-records.query.js';
import { erasureRecords } from '../../modules/privacy/requests/erasure-records.query.js';
import { taskRecords } from '../../modules/tasks/task-records.query.js';
import { loadConfig } from '../../platform/config/config.js';
import { ownKeyOf } from '../signing-key.js';
import { commandOutput } from '../command-output.js';
import { anchorEnvironment, type VerifySourceOptions } from './verify-options.js';
import { withArchives } from './with-archives.js';

const { say } = commandOutput('audit verify');

const THREADS = 2;
/** Those that modules register in a server. */
export const RECORD_KEEPERS = [executionRecords, requestRecords, voteRecords, grantRecords, erasureRecords, taskRecords, secretRecords];

/** With the anchors that the environment names, where they can be asked; of the whole log, with the archives, too. */
export async function verifyFromDatabase(databaseUrl: string, env: NodeJS.ProcessEnv, how: VerifySourceOptions): Promise<Verification> {
  const { agentId, remembered, verifierKeys, integrityOnly, onProgress } = how;
  const pinned = verifierKeys.length > 0 ? { verifierKeys } : {};
  const found = await verifyDatabase({
    databaseUrl, organizations: 'all', threads: THREADS, seed: ownKeyOf(databaseUrl, env), remembered, onProgress,
    anchors: () => askNamed(databaseUrl, env),
    ...(integrityOnly
      ? {}
      : { check: (run, source) => logCheckOf(run, source, RECORD_KEEPERS, { organizations: 'all', agentId, ...pinned }) }),
    ...(agentId === undefined ? {} : { agentId }),
    ...pinned,
  });
  // Of an agent's chain alone nothing is said of what was swept: archives hold all chains of an organization.
  return agentId === undefined ? withArchives(found, databaseUrl, env) : found;
}

/** No anchor is shown anything: a verification must leave everything as it was. */
async function askNamed(databaseUrl: string, env: NodeJS.ProcessEnv): Promise<AskedAnchors> {
  const connection = await openSnapshot(databaseUrl, VERIFICATION);
  const instance = await instanceName(connection.run).finally(() => connection.close());
  const anchors = configuredAnchors(loadConfig(anchorEnvironment(env)));
  return askAnchors(anchors, originOf(instance, PLATFORM_TREE), undefined, ({ name }, error) =>
    say(`the anchor ${name} cannot be asked: ${error instanceof Error ? error.message : String(error)}`));
}

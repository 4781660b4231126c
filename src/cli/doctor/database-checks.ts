import '../../platform/database/statements/json-columns.js';
import { assertSameSecrets, fingerprintsOf } from '../../modules/organizations/installation/secret-fingerprints.js';
import { compareAll } from '../../modules/audit/anchors/accept-loss.js';
import { contradictionText, type Comparison } from '../../modules/audit/anchors/compare-anchor.js';
import { configuredAnchors } from '../../modules/audit/anchors/configured-anchors.js';
import { otherKey, signerOf } from '../../modules/audit/keys/signer.js';
import type { RunStatement } from '../../platform/auth/credentials/credential-source.js';
import type { Config, ServerSecrets } from '../../platform/config/config.js';
import { StartRefused } from '../../platform/config/start-refused.js';
import { MIGRATION_NAMES, OLDEST_POSTGRESQL } from '../../platform/database/data-source.js';
import { compareSchema } from '../../platform/database/schema-version.js';
import { clockSkewMs, LARGEST_CLOCK_SKEW_MS } from '../../platform/database/faults/clock-watch.js';
import { newClient } from '../../platform/database/new-client.js';
import { failureReason } from '../failure-reason.js';
import { NEVER_SET_UP } from '../command-output.js';
import { databaseState, installationState, type DatabaseState, type InstallationState } from './database-state.query.js';
import { note, well, wrong, type Finding } from './finding.js';

const ANSWER_MS = 10_000;

/** Everything that only the database can tell. It is read, and nothing in it is changed. */
export async function databaseChecks(url: string, config: Config, secrets: ServerSecrets | undefined): Promise<Finding[]> {
  const client = newClient({ url, name: 'countersign doctor', answerTimeoutMs: ANSWER_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const run: RunStatement = async (sql, parameters) => (await client.query<Record<string, unknown>>(sql, [...parameters])).rows;
    const asked = Date.now();
    const state = await databaseState(run);
    const findings = [versionFinding(state), clockFinding(state, asked), migrationsFinding(state)];
    const installation = state.migrations.length === 0 ? undefined : await installationState(run);
    if (installation === undefined) return findings;
    return [...findings, maintenanceFinding(installation), ...await secretsFindings(run, installation, secrets),
      ...await anchorFindings(run, config, secrets), effectsFinding(installation)];
  } finally {
    await client.end().catch(() => undefined);
  }
}

function versionFinding({ version }: DatabaseState): Finding {
  const text = `PostgreSQL ${Math.floor(version / 10_000)}.${version % 10_000}`;
  return version >= OLDEST_POSTGRESQL ? well('database', text)
    : wrong('database', `${text} is too old`, `use PostgreSQL ${OLDEST_POSTGRESQL / 10_000} or newer`);
}

function clockFinding({ now }: DatabaseState, asked: number): Finding {
  const apart = clockSkewMs(now, asked, Date.now());
  const detail = `this machine's and the database's differ by ${apart} ms`;
  return apart <= LARGEST_CLOCK_SKEW_MS ? well('clocks', detail)
    : wrong('clocks', detail, 'set both by NTP: past 2 s a server is not ready, past 5 s nothing begins');
}

function migrationsFinding({ migrations }: DatabaseState): Finding {
  const { missing, newer } = compareSchema(MIGRATION_NAMES, migrations);
  if (newer.length > 0) return wrong('migrations', `the schema is a newer version's (${newer.at(-1)})`, 'start the version that made it');
  if (migrations.length === 0) return note('migrations', NEVER_SET_UP, 'the first start sets it up');
  return missing.length === 0 ? well('migrations', `all ${MIGRATION_NAMES.length} have run`)
    : note('migrations', `${missing.length} of ${MIGRATION_NAMES.length} have not run`, 'the next start runs them: make a backup before');
}

function maintenanceFinding({ instance, maintenanceBecause: because }: InstallationState): Finding {
  return because === null ? well('installation', `${instance} serves`)
    : wrong('installation', `${instance} is in maintenance mode`, because);
}

async function secretsFindings(
  run: RunStatement, { instance, fingerprints }: InstallationState, secrets: ServerSecrets | undefined,
): Promise<Finding[]> {
  if (secrets === undefined) {
    return [wrong('secrets', 'they are not all set here', 'set JWT_SECRET, ENCRYPTION_KEY and AUDIT_SIGNING_KEY as the servers have them')];
  }
  try {
    assertSameSecrets(fingerprints, fingerprintsOf(secrets, instance));
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error;
    return [wrong('secrets', error.message, 'give the servers what the database was set up with')];
  }
  const other = await otherKey(run, await signerOf(run, secrets.auditSigningKey));
  return [well('secrets', 'those of this database'), other === undefined ? well('signing key', 'the one that signs')
    : wrong('signing key', other.message, other.isVouchedFor ? 'it was rotated: start with the new one'
      : 'nothing vouches for that key: somebody has written past the servers; restore a backup')];
}

async function anchorFindings(run: RunStatement, config: Config, secrets: ServerSecrets | undefined): Promise<Finding[]> {
  const anchors = configuredAnchors(secrets === undefined ? config : { ...config, auditSigningKey: secrets.auditSigningKey });
  return (await compareAll(run, anchors, secrets?.auditSigningKey)).map(anchorFinding);
}

function anchorFinding(found: Comparison): Finding {
  const { name } = found.anchor;
  switch (found.kind) {
    case 'agrees':
      return found.anchored ? well('anchor', `${name} has ${found.anchored.size} rounds of the log`)
        : note('anchor', `${name} has nothing of this log yet`, 'the server that leads writes there within seconds of the first entries');
    case 'excused':
      return note('anchor', `${name} has a checkpoint that was given up by a recovery`);
    case 'silent':
      return wrong('anchor', `${name} does not answer (${failureReason(found.error, NEVER_SET_UP)})`,
        'look whether it is reachable, and may be read');
    case 'contradicts':
      return wrong('anchor', `${name} contradicts this database`, contradictionText(found));
  }
}

function effectsFinding({ parked }: InstallationState): Finding {
  return parked === 0 ? well('effects', 'none was given up')
    : note('effects', `${parked} were given up, of mail, notifications or executions`,
      `why stands in the servers' logs, at "an effect is given up"`);
}

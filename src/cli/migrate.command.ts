import { Command } from 'commander';
import type { ServerSeen } from '../platform/database/faults/running-servers.query.js';
import type { SchemaComparison } from '../platform/database/schema-version.js';
import { StartRefused } from '../platform/config/start-refused.js';
import { serverVersion } from '../platform/config/server-version.js';
import { withEnvironmentFile } from '../start/environment-file.js';
import { commandOutput, DATABASE_DEFAULT, EXIT, type ExitCode, NEVER_SET_UP, NO_DATABASE } from './command-output.js';
import { onDatabaseOf, withDatabase } from './database-address.js';
import { failureReason } from './failure-reason.js';

const { say, refuse } = commandOutput('migrate');

interface MigrateOptions {
  databaseUrl?: string;
  json?: boolean;
  to?: string;
}

type Work = (url: string, json: boolean, to: string) => Promise<ExitCode>;

/** Commands over the schema. */
export function migrateCommand(): Command {
  const migrate = new Command('migrate').description('Looks at the schema of a database, and brings it up to date.');
  const add = (name: string, description: string, work: Work) => migrate.command(name).description(description)
    .option('--database-url <url>', `database; ${DATABASE_DEFAULT}`)
    .option('--json', 'print one JSON object')
    .action(async (options: MigrateOptions) => {
      process.exitCode = await onDatabase(options, withEnvironmentFile(process.env), work);
    });
  add('status', 'Says which migrations have run, which have not, and which servers run; changes nothing. '
    + 'Exit codes: 0 all have run, 1 some have not, or the schema is a newer version\'s, 2 could not reach the database.', status);
  add('up', 'Runs what has not run, as a start does; servers of the version before may go on meanwhile. '
    + 'Exit codes: 0 all have run, 1 refused, 2 could not reach the database.', up);
  add('down', 'Undoes what ran after a migration, newest first; refused while servers run, and by name where something would be lost. '
    + 'Exit codes: 0 done, 1 refused, 2 could not reach the database.', down)
    .requiredOption('--to <migration>', 'the newest one that stays, as `status` names it, and GET /version as `schema`');
  return migrate;
}

async function onDatabase({ databaseUrl, json, to = '' }: MigrateOptions, env: NodeJS.ProcessEnv, work: Work): Promise<ExitCode> {
  try {
    const done = await onDatabaseOf(withDatabase(env, databaseUrl), (url) => work(url, json === true, to));
    return done === undefined ? refuse(NO_DATABASE, EXIT.NO_CONNECTION) : done.outcome;
  } catch (error) {
    return refuse(failureReason(error, NEVER_SET_UP), error instanceof StartRefused ? EXIT.REFUSED : EXIT.NO_CONNECTION);
  }
}

const status: Work = async (url, json) => {
  const [{ createDataSource, MIGRATION_NAMES }, { compareSchema, migrationsIn }, { runningServers }] = await Promise.all([
    import('../platform/database/data-source.js'), import('../platform/database/schema-version.js'),
    import('../platform/database/faults/running-servers.query.js'),
  ]);
  const dataSource = await createDataSource({ url, poolSize: 1, connectTimeoutMs: 10_000 }).initialize();
  try {
    const schema = compareSchema(MIGRATION_NAMES, await migrationsIn(dataSource));
    const servers = await runningServers(dataSource);
    const known = { version: serverVersion(), ...schema, servers };
    process.stdout.write(json ? `${JSON.stringify(known, null, 2)}\n` : report(schema, servers));
    return schema.missing.length === 0 && schema.newer.length === 0 ? EXIT.WELL : EXIT.REFUSED;
  } finally {
    await dataSource.destroy();
  }
};

const up: Work = async (url, json) => {
  const { createDataSource, migrate } = await import('../platform/database/data-source.js');
  const dataSource = await createDataSource({ url, poolSize: 2, connectTimeoutMs: 10_000, withoutLimits: true }).initialize();
  try {
    const ran = await migrate(dataSource);
    if (json) process.stdout.write(`${JSON.stringify({ version: serverVersion(), ran }, null, 2)}\n`);
    else say(ran.length === 0 ? 'the schema is up to date; nothing was run' : `ran ${ran.join(', ')}`);
    return EXIT.WELL;
  } finally {
    await dataSource.destroy();
  }
};

const down: Work = async (url, json, to) => {
  const { createDataSource, migrateDown } = await import('../platform/database/data-source.js');
  const dataSource = await createDataSource({ url, poolSize: 2, connectTimeoutMs: 10_000, withoutLimits: true }).initialize();
  try {
    const undone = await migrateDown(dataSource, to);
    if (json) process.stdout.write(`${JSON.stringify({ version: serverVersion(), undone }, null, 2)}\n`);
    else say(undone.length === 0 ? `${to} is the newest that has run; nothing was undone` : `undid ${undone.join(', ')}`);
    return EXIT.WELL;
  } finally {
    await dataSource.destroy();
  }
};

function report({ run, missing, newer }: SchemaComparison, servers: readonly ServerSeen[]): string {
  const lines = [
    `  Version ${serverVersion()} knows ${run.length - newer.length + missing.length} migrations.`,
    ...run.map((name) => `  ${newer.includes(name) ? 'newer  ' : 'has run'}  ${name}`),
    ...missing.map((name) => `  missing  ${name}`),
    servers.length === 0 ? '  No server runs.' : `  Servers: ${servers.map(({ version, count }) => `${count} of ${version}`).join(', ')}`,
  ];
  if (missing.length > 0) lines.push('  The next start runs what is missing, and so does `countersign migrate up`: make a backup before.');
  if (newer.length > 0) lines.push("  The schema is a newer version's: this version does not start on it.");
  return ['', ...lines, '', ''].join('\n');
}

import { Command } from 'commander';
import { ConfigError, givenSecrets, loadConfig, type Config, type ServerSecrets } from '../../platform/config/config.js';
import { oneLine } from '../../domain/notifications/plain-text.js';
import { withEnvironmentFile } from '../../start/environment-file.js';
import { DATABASE_DEFAULT, EXIT, NEVER_SET_UP, type ExitCode } from '../command-output.js';
import { onDatabaseOf, withDatabase } from '../database-address.js';
import { failureReason } from '../failure-reason.js';
import { print, printJson, styled } from '../service/shown.js';
import { note, well, wrong, type Finding } from './finding.js';

interface DoctorOptions {
  readonly databaseUrl?: string;
  readonly json?: boolean;
}

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('Looks through what a server here would start with, and says what to do about what is wrong; nothing is changed. '
      + 'Exit codes: 0 nothing is wrong, 1 something is, 2 the database cannot be reached.')
    .option('--database-url <url>', `database to look at; ${DATABASE_DEFAULT}`)
    .option('--json', 'print one JSON object')
    .action(async (options: DoctorOptions) => {
      process.exitCode = await doctor(options, withEnvironmentFile(process.env));
    });
}

async function doctor({ databaseUrl, json }: DoctorOptions, env: NodeJS.ProcessEnv): Promise<ExitCode> {
  const { findings, isReached } = await diagnosed(env, databaseUrl);
  if (json) printJson({ well: findings.every(({ state }) => state !== 'wrong'), findings });
  else print(report(findings));
  if (!isReached) return EXIT.NO_CONNECTION;
  return findings.some(({ state }) => state === 'wrong') ? EXIT.REFUSED : EXIT.WELL;
}

async function diagnosed(env: NodeJS.ProcessEnv, databaseUrl: string | undefined): Promise<{ findings: Finding[]; isReached: boolean }> {
  let meant: NodeJS.ProcessEnv;
  let config: Config;
  try {
    meant = withDatabase(env, databaseUrl);
    config = loadConfig(meant);
  } catch (error) {
    const problems = failureReason(error, NEVER_SET_UP).split('\n');
    const isOfAddress = !(error instanceof ConfigError);
    return { findings: problems.map((problem) => wrong('configuration', problem, 'put the variable right')), isReached: !isOfAddress };
  }
  const [{ databaseChecks }, { surroundingsChecks }] = await Promise.all([
    import('./database-checks.js'), import('./surroundings-checks.js'),
  ]);
  const surroundings = surroundingsChecks(config);
  const [ofDatabase, isReached] = await databaseFindings(databaseChecks, meant, config);
  const ofConfiguration = well('configuration', config.production ? 'for production' : 'for a trial');
  return { findings: [ofConfiguration, ...ofDatabase, ...await surroundings], isReached };
}

type DatabaseChecks = (url: string, config: Config, secrets: ServerSecrets | undefined) => Promise<Finding[]>;

async function databaseFindings(checks: DatabaseChecks, meant: NodeJS.ProcessEnv, config: Config): Promise<[Finding[], boolean]> {
  try {
    const looked = await onDatabaseOf(meant, async (url) => checks(url, config, await secretsOf(config)));
    const none = note('database', 'there is none yet', `the first start makes one in ${config.dataDir}`);
    return [looked?.outcome ?? [none], true];
  } catch (error) {
    return [[wrong('database', failureReason(error, NEVER_SET_UP), 'look whether PostgreSQL runs, and is reachable from here')], false];
  }
}

/** Undefined where one is missing. */
async function secretsOf(config: Config): Promise<ServerSecrets | undefined> {
  try {
    if (!config.embedded) return givenSecrets(config);
    return (await import('../../platform/embedded/secret-files.js')).embeddedSecrets(config, true);
  } catch {
    return undefined;
  }
}

function report(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const mark = { well: styled('green', 'well '), note: styled('yellow', 'note '), wrong: styled('red', 'wrong') };
  const lines = findings.flatMap(({ check, state, detail, todo }) => [
    `  ${mark[state]}  ${check.padEnd(width)}  ${oneLine(detail, Infinity)}`,
    ...todo === undefined ? [] : [`         ${' '.repeat(width)}  ${styled('dim', oneLine(todo, Infinity))}`],
  ]);
  return ['', ...lines, ''].join('\n');
}

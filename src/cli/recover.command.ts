import { Command } from 'commander';
import type { Recovered } from '../modules/lifecycle/recover-installation.js';
import type { OpenWork } from '../modules/lifecycle/recovery.query.js';
import type { Comparison } from '../modules/audit/anchors/compare-anchor.js';
import { loadConfig, type Config } from '../platform/config/config.js';
import { StartRefused } from '../platform/config/start-refused.js';
import { withEnvironmentFile } from '../start/environment-file.js';
import { onDatabaseOf, withDatabase } from './database-address.js';
import { failureReason } from './failure-reason.js';
import { DATABASE_DEFAULT, EXIT, NEVER_SET_UP, NO_DATABASE, progressLine, commandOutput } from './command-output.js';
import { anchorsCopyOption, withAnchorsCopy } from './verification/anchors-copy.js';
import { counted } from './verification/verification-report.js';

const { refuse } = commandOutput('recover');

interface RecoverOptions {
  databaseUrl?: string;
  acceptLoss?: boolean;
  anchorsCopy?: string;
  json?: boolean;
}

/** What would be lost, or was. */
interface Findings {
  readonly anchors: readonly ShownAnchor[];
  /** Trees that are not those that were signed: an organization's id, `platform` or `map`. */
  readonly rewritten: readonly string[];
  readonly open: OpenWork;
}

interface ShownAnchor {
  readonly name: string;
  readonly result: Comparison['kind'];
  readonly size?: number;
  readonly ourSize?: number;
}

const SERVED = 'servers serve this database, and no anchor shows that it misses anything: every token, session and the root key would '
  + 'die for nothing. Is it an older one all the same, stop the servers first';

/** Puts a database into service that is behind its anchors. */
export function recoverCommand(): Command {
  return new Command('recover')
    .description('Puts an older database into service, and gives up what it misses. Without --accept-loss it only shows what that is. '
      + 'Exit codes: 0 recovered, 1 refused or only shown, 2 could not reach the database.')
    .option('--accept-loss', 'do it: end what is open, revoke every token and the root key, and record the loss')
    .option('--database-url <url>', `database to recover; ${DATABASE_DEFAULT}`)
    .addOption(anchorsCopyOption())
    .option('--json', 'print one JSON object')
    .action(async (options: RecoverOptions) => {
      process.exitCode = await recover(options, withEnvironmentFile(process.env));
    });
}

async function recover({ databaseUrl, acceptLoss, anchorsCopy, json }: RecoverOptions, env: NodeJS.ProcessEnv): Promise<number> {
  try {
    const meant = withAnchorsCopy(withDatabase(env, databaseUrl), anchorsCopy);
    const { onRecoveryParts } = await import('../modules/lifecycle/recovery-parts.store.js');
    const done = await onDatabaseOf(meant, (url) => onRecoveryParts(url, async (parts) => {
      const { configuredAnchors } = await import('../modules/audit/anchors/configured-anchors.js');
      const { compareAll, waiveCheckpoints, lostOf, recoverySigner, signLosses } = await import('../modules/audit/anchors/accept-loss.js');
      const { rewrittenTrees, rewrittenText } = await import('../modules/audit/checkpoints/rewritten-trees.js');
      const { openWork, serviceState } = await import('../modules/lifecycle/recovery.query.js');
      if (!(await parts.rootKey.isSetUp())) throw new StartRefused('this database was never set up: there is nothing to recover');
      const config = loadConfig(meant);
      const seed = await signingKeyOf(config);
      const anchors = configuredAnchors(seed === undefined ? config : { ...config, auditSigningKey: seed });
      const compared = await compareAll(parts.run, anchors, seed);
      const rewritten = seed === undefined ? [] : await rewrittenTrees(parts.run, seed);
      const findings = { anchors: compared.map(shown), rewritten: rewritten.map(({ tree }) => tree), open: await openWork(parts.run) };
      if (!acceptLoss) return show(findings, json === true);
      if (rewritten[0]) throw new StartRefused(rewrittenText(rewritten[0].message));
      const { isHeld, servers } = await serviceState(parts.run);
      if (servers > 0 && !isHeld && lostOf(compared).length === 0) throw new StartRefused(SERVED);
      const { recoverInstallation } = await import('../modules/lifecycle/recover-installation.js');
      const progress = progressLine();
      const recovered = await recoverInstallation(parts, {
        lost: await signLosses(parts.run, lostOf(compared), seed),
        signed: seed === undefined ? undefined : await recoverySigner(parts.run, seed),
        beforeRelease: () => waiveCheckpoints(parts.run, compared),
        onProgress: (step, done) => progress.show(`${done} ${STEPS[step]}`),
      }).finally(progress.clear);
      return report(findings, recovered, json === true);
    }));
    return done === undefined ? refuse(NO_DATABASE, EXIT.NO_CONNECTION) : done.outcome;
  } catch (error) {
    return refuse(failureReason(error, NEVER_SET_UP), error instanceof StartRefused ? EXIT.REFUSED : EXIT.NO_CONNECTION);
  }
}

/** Undefined where this machine has no signing key: then it cannot be known here what was signed. */
async function signingKeyOf(config: Config): Promise<string | undefined> {
  if (!config.embedded) return config.auditSigningKey;
  return (await import('../platform/embedded/secret-files.js')).embeddedSecrets(config, true).auditSigningKey;
}

function shown(found: Comparison): ShownAnchor {
  const { anchor, kind } = found;
  return {
    name: anchor.name,
    result: kind,
    ...('anchored' in found && found.anchored ? { size: found.anchored.size } : {}),
    ...('ourSize' in found ? { ourSize: found.ourSize } : {}),
  };
}

function show(findings: Findings, json: boolean): number {
  const text = [
    '', ...findings.anchors.map(anchorLine), ...findings.rewritten.map(rewrittenLine), '', ...openLines(findings.open, 'would be'), '',
    '  Nothing was changed.',
    ...findings.rewritten.length > 0
      ? ['  A rewritten database cannot be recovered: put the right one, or a backup, back.']
      : ['  If the right database cannot be put back, and what this one misses is lost for good:', '  countersign recover --accept-loss',
        '  A rehearsal, while the right one goes on, gives up nothing of its anchors: --anchors-copy <folder>, with a copy of them.'],
    '', '',
  ].join('\n');
  process.stdout.write(json ? `${JSON.stringify({ recovered: false, ...findings }, null, 2)}\n` : text);
  return EXIT.REFUSED;
}

function report(findings: Findings, { recoveredAt, ...counts }: Recovered, json: boolean): number {
  const text = [
    '', ...findings.anchors.map(anchorLine), '', ...openLines(findings.open, 'was'), '',
    `  Recovered: ${counted(counts.agents, 'agent', 'agents')} in ${counted(counts.organizations, 'organization', 'organizations')}.`,
    '', '  The old root key is dead. Make a new one now: countersign key rotate',
    '  Agents need new tokens, people sign in anew.',
    '  Personal keys, grants and stops are those of this database, as old as it is: look them through.',
    '  A witness does not forget: its operator has to let it begin anew. Nor does whoever verifies with remembered checkpoints',
    '  (countersign audit verify): tell them of the loss; who accepts it begins a new file (--remember).', '', '',
  ].join('\n');
  process.stdout.write(json ? `${JSON.stringify({ recovered: true, recoveredAt, ...findings, done: counts }, null, 2)}\n` : text);
  return EXIT.WELL;
}

function anchorLine({ name, result, size, ourSize }: ShownAnchor): string {
  switch (result) {
    case 'contradicts':
      return `  ${name}\n    has a checkpoint of ${size} rounds of the log; this database has ${ourSize}, or another history`;
    case 'excused':
      return `  ${name}\n    has a checkpoint of ${size} rounds of the log that was given up before`;
    case 'silent':
      return `  ${name}\n    does not answer`;
    case 'agrees':
      return `  ${name}\n    agrees with this database`;
  }
}

function rewrittenLine(tree: string): string {
  const what = tree === 'map' ? 'the map of the organizations' : tree === 'platform' ? "the platform's tree" : `the tree of ${tree}`;
  return `  ${what}\n    is not the one that was signed: the audit log was rewritten in the database`;
}

/** Each says of how many, and of one or many, what was done or would be. */
function openLines(
  { running, openRequests, approved, tasks, effects, agents, sessions, invitations }: OpenWork, done: 'was' | 'would be',
): string[] {
  const verb = (count: number) => (done === 'was' && count !== 1 ? 'were' : done);
  return [
    `  ${counted(running, 'running execution', 'running executions')}: ${verb(running)} closed as indeterminate`,
    `  ${counted(openRequests, 'open request', 'open requests')}, ${approved} approved and not begun: ${verb(openRequests)} cancelled`,
    `  ${counted(tasks, 'task', 'tasks')} that nobody had begun: ${verb(tasks)} cancelled`,
    `  ${counted(effects, 'effect that was not sent', 'effects that were not sent')}: ${verb(effects)} dropped`,
    `  ${counted(agents, 'agent', 'agents')}: every token and setup token ${done} revoked`,
    `  ${counted(sessions, 'session', 'sessions')} of people: ${verb(sessions)} ended`,
    `  ${counted(invitations, 'open invitation', 'open invitations')}: ${verb(invitations)} voided`,
  ];
}

const STEPS = {
  work: 'agents with open work', agents: 'agents whose tokens are dead', sessions: 'sessions', invitations: 'invitations',
  organizations: 'organizations',
} as const;

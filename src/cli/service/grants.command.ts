import type { Countersign, GrantReply, GrantWord } from '@countersign/sdk';
import { Command, Option } from 'commander';
import { oneLine } from '../../domain/notifications/plain-text.js';
import { UsageError } from '../command-output.js';
import { onService, withServiceOptions, type ServiceOptions } from './service-command.js';
import { cellText, distance, print, printJson, styled, table } from './shown.js';

const WORDS: readonly GrantWord[] = ['auto', 'notify', 'propose', 'escalate', 'block', 'never', 'always', 'on_risk'];
const SHOWN = 500;
const EXIT_CODES = 'Exit codes: 0 done, 1 refused, 2 no connection.';

interface HolderOptions extends ServiceOptions {
  readonly agent?: string;
  readonly team?: string;
}

interface CreateOptions extends HolderOptions {
  readonly mode?: GrantWord;
  readonly expires?: string;
}

/** Who may do what, and when a person is asked. */
export function grantsCommand(): Command {
  const grants = new Command('grants').description('Who may do what, and when a person is asked.');
  withServiceOptions(grants.command('list'))
    .description(`Lists grants in force. ${EXIT_CODES}`)
    .option('--agent <id>', 'what this agent holds, by its team, too')
    .option('--team <id>', 'what this team holds')
    .option('--capability <name>', 'who holds this capability')
    .action((options: HolderOptions & { capability?: string }) => onService('grants list', options, list));
  withServiceOptions(grants.command('create'))
    .description(`Grants a capability; of one that is granted already it changes what is given. ${EXIT_CODES}`)
    .argument('<capability>', 'its exact name')
    .option('--agent <id>', 'to this agent')
    .option('--team <id>', 'or to every agent of this team')
    .addOption(new Option('--mode <mode>', 'default: that of the catalogue').choices(WORDS))
    .option('--expires <time>', 'from then on it is none, such as 2027-01-31T12:00:00Z')
    .action((capability: string, options: CreateOptions) =>
      onService('grants create', options, (service) => create(service, capability, options)));
  withServiceOptions(grants.command('revoke'))
    .description(`Takes a grant back: nothing begins after the answer. ${EXIT_CODES}`)
    .argument('<grant>', 'its id, as grants list shows it')
    .action((id: string, options: ServiceOptions) => onService('grants revoke', options, async (service) => {
      await service.grants.revoke(id);
      if (options.json) printJson({ revoked: id });
      else print(`  ${styled('bold', 'revoked')}  ${id}`);
    }));
  return grants;
}

async function list({ grants }: Countersign, options: HolderOptions & { capability?: string }): Promise<void> {
  const { agent, team, capability, json } = options;
  if (agent === undefined && team === undefined && capability === undefined) {
    throw new UsageError('whose grants: give --agent, --team or --capability');
  }
  const { grants: found, total } = await grants.list({
    limit: SHOWN, ...(agent ? { agentId: agent } : {}), ...(team ? { teamId: team } : {}), ...(capability ? { capability } : {}),
  });
  if (json) return printJson({ grants: found, total });
  if (found.length === 0) return print('  There is none.');
  print(grantTable(found));
  if (total > found.length) print(styled('dim', `  ${total - found.length} more`));
}

async function create({ grants }: Countersign, capability: string, { agent, team, mode, expires, json }: CreateOptions): Promise<void> {
  if ((agent === undefined) === (team === undefined)) throw new UsageError('to whom: give --agent or --team');
  const written = await grants.create({
    capability, ...(agent === undefined ? {} : { agentId: agent }), ...(team === undefined ? {} : { teamId: team }),
    ...(mode === undefined ? {} : { hitlMode: mode }), ...(expires === undefined ? {} : { expiresAt: expires }),
  });
  if (json) return printJson(written);
  print(grantTable([written.grant]));
  for (const { detail } of written.warnings ?? []) print(`  ${styled('yellow', 'note')}  ${oneLine(detail, Infinity)}`);
}

function grantTable(grants: readonly GrantReply[]): string {
  return table(['grant', 'holder', 'capability', 'says', 'means now', 'ends'], grants.map((grant) => [
    grant.id, grant.agentId ?? grant.teamId ?? '–', cellText(grant.capability), grant.hitlMode, modeText(grant.effectiveMode),
    grant.expiresAt === undefined ? '–' : distance(Date.parse(grant.expiresAt) - Date.now()),
  ]));
}

function modeText(mode: GrantReply['effectiveMode']): string {
  switch (mode) {
    case 'auto':
    case 'notify':
      return styled('green', mode);
    case 'propose':
    case 'escalate':
      return styled('yellow', mode);
    case 'block':
      return styled('red', mode);
  }
}

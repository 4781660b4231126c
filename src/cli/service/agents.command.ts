import type { AgentReply, Countersign } from '@countersign/sdk';
import { Command, Option } from 'commander';
import { oneLine } from '../../domain/notifications/plain-text.js';
import { onService, withServiceOptions, type ServiceOptions } from './service-command.js';
import { cellText, distance, fields, moment, print, printJson, styled, table } from './shown.js';

const RISK_LEVELS = ['minimal', 'limited', 'high', 'unacceptable'] as const;
const SHOWN = 500;
const EXIT_CODES = 'Exit codes: 0 done, 1 refused, 2 no connection.';

type Risk = (typeof RISK_LEVELS)[number];

interface ListOptions extends ServiceOptions {
  readonly status?: AgentReply['status'];
  readonly risk?: Risk;
  readonly team?: string;
}

interface RegisterOptions extends ServiceOptions {
  readonly risk?: Risk;
  readonly description?: string;
  readonly owner?: string;
  readonly team?: string;
  readonly organization?: string;
}

/** The registry of agents. */
export function agentsCommand(): Command {
  const agents = new Command('agents').description('The registry of agents.');
  withServiceOptions(agents.command('list'))
    .description(`Lists agents, the newest first. ${EXIT_CODES}`)
    .addOption(new Option('--status <status>', 'only these').choices(['active', 'deactivated']))
    .addOption(new Option('--risk <level>', 'only of this risk level').choices(RISK_LEVELS))
    .option('--team <id>', 'only of this team')
    .action((options: ListOptions) => onService('agents list', options, list));
  withServiceOptions(agents.command('show'))
    .description(`Shows an agent and what it may do. ${EXIT_CODES}`)
    .argument('<agent>', 'its id, agt_…')
    .action((id: string, options: ServiceOptions) => onService('agents show', options, (service) => show(service, id, options)));
  withServiceOptions(agents.command('register'))
    .description(`Registers an agent, and shows its token this once. ${EXIT_CODES}`)
    .argument('<name>', 'as reviewers read it')
    .addOption(new Option('--risk <level>', 'default: limited').choices(RISK_LEVELS))
    .option('--description <text>', 'what it is for')
    .option('--owner <user>', 'who answers for it')
    .option('--team <id>', 'whose grants it shares')
    .option('--organization <id>', 'where it belongs; for root')
    .action((name: string, options: RegisterOptions) =>
      onService('agents register', options, (service) => register(service, name, options)));
  withServiceOptions(agents.command('token'))
    .description(`Issues a new token with the grants of now, and shows it this once. ${EXIT_CODES}`)
    .argument('<agent>', 'its id, agt_…')
    .action((id: string, options: ServiceOptions) => onService('agents token', options, async (service) => {
      const { token, expiresAt } = await service.agents.issueToken(id);
      presentToken(token, expiresAt, options.json === true ? { token, expiresAt } : undefined);
    }));
  withServiceOptions(agents.command('deactivate'))
    .description(`Takes an agent out of service: it is refused everything from then on. ${EXIT_CODES}`)
    .argument('<agent>', 'its id, agt_…')
    .option('--reason <text>', 'kept in the log')
    .action((id: string, options: ServiceOptions & { reason?: string }) => onService('agents deactivate', options, async (service) =>
      presentAgent((await service.agents.deactivate(id, options.reason === undefined ? {} : { reason: options.reason })).agent, options)));
  withServiceOptions(agents.command('activate'))
    .description(`Puts an agent back into service; it needs a new token. ${EXIT_CODES}`)
    .argument('<agent>', 'its id, agt_…')
    .action((id: string, options: ServiceOptions) => onService('agents activate', options, async (service) =>
      presentAgent((await service.agents.activate(id)).agent, options)));
  return agents;
}

async function list({ agents }: Countersign, { status, risk, team, json }: ListOptions): Promise<void> {
  const { agents: found, total } = await agents.list({
    limit: SHOWN, ...(status ? { status } : {}), ...(risk ? { riskLevel: risk } : {}), ...(team ? { teamId: team } : {}),
  });
  if (json) return printJson({ agents: found, total });
  if (found.length === 0) return print('  There is none.');
  print(table(['agent', 'name', 'risk', 'status', 'may do'], found.map((agent) => [
    agent.id, cellText(agent.name), riskText(agent.riskLevel), statusText(agent.status), cellText(agent.capabilities.join(', ')),
  ])));
  if (total > found.length) print(styled('dim', `  ${total - found.length} more`));
}

async function show({ agents, grants }: Countersign, id: string, { json }: ServiceOptions): Promise<void> {
  const [{ agent }, granted] = await Promise.all([agents.get(id), grants.listOf(id)]);
  if (json) return printJson({ agent, grants: granted.grants });
  print(`\n${agentText(agent)}\n`);
  if (granted.grants.length === 0) return print('  It may do nothing.\n');
  print(`${table(['capability', 'says', 'means now', 'by'], granted.grants.map(({ capability, hitlMode, effectiveMode, teamId }) =>
    [cellText(capability), hitlMode, effectiveMode, teamId ?? 'its own']))}\n`);
}

async function register({ agents }: Countersign, name: string, options: RegisterOptions): Promise<void> {
  const { risk, description, owner, team, organization, json } = options;
  const registered = await agents.register({
    name, ...(risk ? { riskLevel: risk } : {}), ...(description === undefined ? {} : { description }),
    ...(owner === undefined ? {} : { ownerId: owner }), ...(team === undefined ? {} : { teamId: team }),
    ...(organization === undefined ? {} : { organizationId: organization }),
  });
  if (!json) print(`\n${agentText(registered.agent)}`);
  presentToken(registered.token, registered.expiresAt, json ? registered : undefined);
}

function presentAgent(agent: AgentReply, { json }: ServiceOptions): void {
  if (json) printJson({ agent });
  else print(`  ${statusText(agent.status)}  ${agent.id}  ${oneLine(agent.name)}`);
}

function presentToken(token: string | null, expiresAt: string, whole: object | undefined): void {
  if (whole !== undefined) return printJson(whole);
  print(`\n  ${styled('bold', 'token')}  ${token ?? 'was shown before'}\n         shown this once; it ends ${moment(expiresAt)}\n`);
}

function agentText(agent: AgentReply): string {
  const { id, name, description, organizationId, riskLevel, status, ownerId, teamId, tags, createdAt, nodeLastSeen } = agent;
  return fields([
    ['agent', id], ['name', oneLine(name, Infinity)], ['description', description && oneLine(description, Infinity)],
    ['organization', organizationId], ['risk', riskText(riskLevel)], ['status', statusText(status)],
    ['owner', ownerId], ['team', teamId], ['tags', oneLine(tags.join(', '), Infinity)], ['registered', moment(createdAt)],
    ['node seen', nodeLastSeen && distance(Date.parse(nodeLastSeen) - Date.now())],
  ]);
}

const riskText = (risk: Risk) => (risk === 'high' || risk === 'unacceptable' ? styled('yellow', risk) : risk);
const statusText = (status: AgentReply['status']) => styled(status === 'active' ? 'green' : 'red', status);

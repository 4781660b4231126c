import type { Countersign, HitlStatus } from '@countersign/sdk';
import { Command, Option } from 'commander';
import { onService, withServiceOptions, type ServiceOptions } from '../service-command.js';
import { print, printJson, styled } from '../shown.js';
import { approveCommand, escalateCommand, rejectCommand } from './decide.command.js';
import { requestTable, requestText } from './request-text.js';

const STATUSES: readonly (HitlStatus | 'cancelled')[] = ['pending', 'escalated', 'approved', 'rejected', 'timed_out', 'cancelled'];
const ENDS_SOONEST_FIRST = 100;

interface ListOptions extends ServiceOptions {
  readonly status?: (typeof STATUSES)[number];
  readonly mine?: boolean;
  readonly agent?: string;
  readonly capability?: string;
}

/** Requests to people: what is asked, and what is decided. */
export function hitlCommand(): Command {
  const hitl = new Command('hitl').description('Requests that wait for a person.');
  withServiceOptions(hitl.command('list'))
    .description('Lists open requests, those that end soonest first; with --status the newest of that status. '
      + 'Exit codes: 0 listed, 1 refused, 2 no connection.')
    .addOption(new Option('--status <status>', 'instead of the open ones').choices(STATUSES))
    .option('--mine', 'only those in your own queue')
    .option('--agent <id>', "only this agent's")
    .option('--capability <name>', 'only of this capability')
    .action((options: ListOptions) => onService('hitl list', options, list));
  withServiceOptions(hitl.command('show'))
    .description('Shows a request, what would run, and its digest. Exit codes: 0 shown, 1 refused, 2 no connection.')
    .argument('<request>', 'its id, hitl_…')
    .action((id: string, options: ServiceOptions) => onService('hitl show', options, (service) => show(service, id, options)));
  return hitl.addCommand(approveCommand()).addCommand(rejectCommand()).addCommand(escalateCommand());
}

async function list({ hitl }: Countersign, { status, mine, agent, capability, json }: ListOptions): Promise<void> {
  const wanted = status === undefined ? (['pending', 'escalated'] as const) : [status];
  const pages = await Promise.all(wanted.map((one) => hitl.list({
    status: one, limit: ENDS_SOONEST_FIRST, ...(mine ? { assignedTo: 'me' } : {}),
    ...(agent === undefined ? {} : { agentId: agent }), ...(capability === undefined ? {} : { capability }),
  })));
  const requests = pages.flatMap((page) => page.requests);
  if (status === undefined) requests.sort((a, b) => Date.parse(a.expiresAt) - Date.parse(b.expiresAt));
  const total = pages.reduce((sum, page) => sum + page.total, 0);
  if (json) return printJson({ requests, total });
  if (requests.length === 0) return print(status === undefined ? '  Nothing waits for a decision.' : `  None is ${status}.`);
  print(requestTable(requests));
  if (total > requests.length) print(styled('dim', `  ${total - requests.length} more`));
}

async function show({ hitl }: Countersign, id: string, { json }: ServiceOptions): Promise<void> {
  const request = await hitl.get(id);
  if (json) printJson({ request });
  else print(`\n${requestText(request)}\n`);
}

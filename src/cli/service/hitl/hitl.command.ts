import type { Countersign, HitlStatus, RequestReply } from '@countersign/sdk';
import { Command, InvalidArgumentError, Option } from 'commander';
import { onService, withServiceOptions, type ServiceOptions } from '../service-command.js';
import { print, printJson, styled } from '../shown.js';
import { approveCommand, escalateCommand, rejectCommand } from './decide.command.js';
import { requestTable, requestText } from './request-text.js';

const STATUSES: readonly (HitlStatus | 'cancelled')[] = ['pending', 'escalated', 'approved', 'rejected', 'timed_out', 'cancelled'];
const SHOWN = 100;
/** The longest page of the service. */
const PAGE = 500;

interface ListOptions extends ServiceOptions {
  readonly status?: (typeof STATUSES)[number];
  readonly mine?: boolean;
  readonly agent?: string;
  readonly capability?: string;
  readonly limit: number;
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
    .addOption(new Option('--limit <count>', 'shows so many at most').default(SHOWN).argParser(countOf))
    .action((options: ListOptions) => onService('hitl list', options, list));
  withServiceOptions(hitl.command('show'))
    .description('Shows a request, what would run, and its digest. Exit codes: 0 shown, 1 refused, 2 no connection.')
    .argument('<request>', 'its id, hitl_…')
    .action((id: string, options: ServiceOptions) => onService('hitl show', options, (service) => show(service, id, options)));
  return hitl.addCommand(approveCommand()).addCommand(rejectCommand()).addCommand(escalateCommand());
}

function countOf(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1 to 999999.');
  return Number(text);
}

async function list({ hitl }: Countersign, { status, mine, agent, capability, limit, json }: ListOptions): Promise<void> {
  const wanted = status === undefined ? (['pending', 'escalated'] as const) : [status];
  const found = await Promise.all(wanted.map((one) => listed(hitl, limit, {
    status: one, ...(mine ? { assignedTo: 'me' } : {}),
    ...(agent === undefined ? {} : { agentId: agent }), ...(capability === undefined ? {} : { capability }),
  })));
  const all = found.flatMap((one) => one.requests);
  if (status === undefined) all.sort((a, b) => Date.parse(a.expiresAt) - Date.parse(b.expiresAt));
  const [requests, total] = [all.slice(0, limit), found.reduce((sum, one) => sum + one.total, 0)];
  if (json) return printJson({ requests, total });
  if (requests.length === 0) return print(status === undefined ? '  Nothing waits for a decision.' : `  None is ${status}.`);
  print(requestTable(requests));
  if (total > requests.length) print(styled('dim', `  ${total - requests.length} more: countersign hitl list --limit ${total} shows them`));
}

/** Page by page, as many as are to be shown. */
async function listed(hitl: Countersign['hitl'], limit: number, query: NonNullable<Parameters<Countersign['hitl']['list']>[0]>) {
  const requests: RequestReply[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await hitl.list({ ...query, limit: Math.min(PAGE, limit - requests.length), ...(cursor === undefined ? {} : { cursor }) });
    requests.push(...page.requests);
    cursor = page.nextCursor;
    if (cursor === undefined || requests.length >= limit) return { requests, total: page.total };
  }
}

async function show({ hitl }: Countersign, id: string, { json }: ServiceOptions): Promise<void> {
  const request = await hitl.get(id);
  if (json) printJson({ request });
  else print(`\n${requestText(request)}\n`);
}

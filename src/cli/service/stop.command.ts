import type { Countersign, StopReply } from '@countersign/sdk';
import { Command } from 'commander';
import { UsageError } from '../command-output.js';
import { onService, withServiceOptions, type ServiceOptions } from './service-command.js';
import { cellText, moment, print, printJson, styled, table } from './shown.js';

const SHOWN = 500;

interface StopOptions extends ServiceOptions {
  readonly agent?: string;
  readonly organization?: string | true;
  readonly all?: boolean;
  readonly reason: string;
}

/** Emergency stops. */
export function stopCommand(): Command {
  return withServiceOptions(new Command('stop'))
    .description('Stops an agent, an organization or everything: on every server nothing begins after the answer. '
      + 'Exit codes: 0 stopped, 1 refused, 2 no connection.')
    .option('--agent <id>', 'this agent')
    .option('--organization [id]', 'this organization; without an id your own')
    .option('--all', 'everything; for root')
    .requiredOption('--reason <text>', 'stands in the log')
    .action((options: StopOptions) => onService('stop', options, stop));
}

export function resumeCommand(): Command {
  return withServiceOptions(new Command('resume'))
    .description('Lifts a stop; without one, lists those in force. Exit codes: 0 done, 1 refused, 2 no connection.')
    .argument('[stop]', 'its id')
    .action((id: string | undefined, options: ServiceOptions) => onService('resume', options, (service) => resume(service, id, options)));
}

async function stop({ stops }: Countersign, options: StopOptions): Promise<void> {
  const { agent, organization, all, reason, json } = options;
  if ([agent, organization, all].filter((one) => one !== undefined).length !== 1) {
    throw new UsageError('what is to stop: give --agent, --organization or --all');
  }
  const target = agent !== undefined ? { scope: 'agent' as const, id: agent } : all ? { scope: 'all' as const }
    : { scope: 'organization' as const, ...(typeof organization === 'string' ? { id: organization } : {}) };
  const made = await stops.create({ ...target, reason });
  if (json) return printJson(made);
  print(`  ${styled('red', 'stopped')}  ${targetText(made.stop)}\n  countersign resume ${made.stop.id}   lifts it`);
}

async function resume({ stops }: Countersign, id: string | undefined, { json }: ServiceOptions): Promise<void> {
  if (id !== undefined) {
    await stops.lift(id);
    const lifted = await stops.get(id);
    return json ? printJson(lifted) : print(`  ${styled('green', 'lifted')}  ${targetText(lifted.stop)}`);
  }
  const { stops: found, total } = await stops.list({ status: 'active', limit: SHOWN });
  if (json) return printJson({ stops: found, total });
  if (found.length === 0) return print('  Nothing is stopped.');
  print(table(['stop', 'what', 'reason', 'by', 'since'], found.map((one) =>
    [one.id, targetText(one), cellText(one.reason), cellText(one.madeBy), moment(one.madeAt)])));
}

function targetText({ scope, targetId }: StopReply): string {
  return scope === 'all' ? 'everything' : targetId === undefined ? scope : `${scope} ${targetId}`;
}

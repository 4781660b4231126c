import type { Countersign, RequestReply } from '@countersign/sdk';
import { Command } from 'commander';
import { createInterface } from 'node:readline/promises';
import { UsageError, onService, withServiceOptions, type ServiceOptions } from '../service-command.js';
import { EXIT, type ExitCode } from '../../command-output.js';
import { print, printJson, styled } from '../shown.js';
import { isOpen, requestText } from './request-text.js';

const NEEDS_DIGEST = 'nobody was shown what would run: give --digest, as countersign hitl show has shown it';

interface DecisionOptions extends ServiceOptions {
  readonly digest?: string;
  readonly note?: string;
}

interface EscalationOptions extends ServiceOptions {
  readonly reason: string;
  readonly to?: string;
}

export function approveCommand(): Command {
  return withServiceOptions(new Command('approve'))
    .description('Approves what was shown: on a terminal it shows the request and asks; elsewhere --digest says which action was seen. '
      + 'Exit codes: 0 approved, or your vote counts; 1 refused, or you said no; 2 no connection, or nobody was shown it.')
    .argument('<request>', 'its id, hitl_…')
    .option('--digest <digest>', 'digest of the action that you were shown: any other is refused')
    .option('--note <text>', 'kept with the decision, and told to the agent')
    .action((id: string, options: DecisionOptions) =>
      onService('hitl approve', options, (service, _, signal) => approve(service, id, options, signal)));
}

export function rejectCommand(): Command {
  return withServiceOptions(new Command('reject'))
    .description('Rejects a request: nothing runs. Exit codes: 0 rejected, 1 refused, 2 no connection.')
    .argument('<request>', 'its id, hitl_…')
    .option('--digest <digest>', 'only if this is what would run; default: whatever would')
    .option('--note <text>', 'kept with the decision, and told to the agent')
    .action((id: string, options: DecisionOptions) => onService('hitl reject', options, (service) => reject(service, id, options)));
}

export function escalateCommand(): Command {
  return withServiceOptions(new Command('escalate'))
    .description('Hands a request on to the next level. Exit codes: 0 handed on, 1 refused, 2 no connection.')
    .argument('<request>', 'its id, hitl_…')
    .requiredOption('--reason <text>', 'kept with the request')
    .option('--to <user>', 'a person who may decide there; default: the queue of that level')
    .action((id: string, options: EscalationOptions) => onService('hitl escalate', options, (service) => escalate(service, id, options)));
}

async function approve({ hitl }: Countersign, id: string, options: DecisionOptions, signal: AbortSignal): Promise<ExitCode> {
  const { digest, note, json } = options;
  let shown = digest;
  if (shown === undefined) {
    if (json || !process.stdin.isTTY || !process.stdout.isTTY) throw new UsageError(NEEDS_DIGEST);
    const request = await hitl.get(id, {}, { signal });
    print(`\n${requestText(request)}\n`);
    if (!isOpen(request)) {
      print(`  It is ${request.status} already.`);
      return EXIT.REFUSED;
    }
    if (!(await isMeant(signal))) return EXIT.REFUSED;
    shown = request.actionDigest;
  }
  const { request } = await hitl.approve({ id, actionDigest: shown }, note === undefined ? {} : { note }, { signal });
  present(request, json === true);
  return EXIT.WELL;
}

async function isMeant(signal: AbortSignal): Promise<boolean> {
  const question = createInterface({ input: process.stdin, output: process.stdout });
  const left = new AbortController();
  question.once('close', () => left.abort());
  try {
    const answer = await question.question('  Approve this? Type yes: ', { signal: AbortSignal.any([signal, left.signal]) });
    return answer.trim().toLowerCase() === 'yes';
  } catch {
    // Interrupted, or there is nothing more to be read: that is no yes.
    return false;
  } finally {
    question.close();
  }
}

async function reject({ hitl }: Countersign, id: string, { digest, note, json }: DecisionOptions): Promise<void> {
  const actionDigest = digest ?? (await hitl.get(id)).actionDigest;
  const { request } = await hitl.reject({ id, actionDigest }, note === undefined ? {} : { note });
  present(request, json === true);
}

async function escalate({ hitl }: Countersign, id: string, { reason, to, json }: EscalationOptions): Promise<void> {
  present(await hitl.escalate(id, { reason, ...(to === undefined ? {} : { escalateTo: to }) }), json === true);
}

function present(request: RequestReply, json: boolean): void {
  if (json) return printJson({ request });
  const { id, status, execution, quorum, votes = [], decidableBy } = request;
  const what = isOpen(request) && quorum ? `${votes.length} of ${quorum.approvals} approvals` : status;
  print(`  ${styled('bold', what)}  ${id}`);
  if (execution) print(`  execution ${execution.id} is ${execution.status}`);
  if (isOpen(request) && decidableBy) print(`  ${decidableBy.count} people can approve it now, at level ${decidableBy.level}`);
}

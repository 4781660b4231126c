import type { Countersign, RequestReply } from '@countersign/sdk';
import { Command, Option } from 'commander';
import { createInterface } from 'node:readline/promises';
import type { JsonObject } from '../../../domain/json.js';
import { onService, withServiceOptions, type ServiceOptions } from '../service-command.js';
import { EXIT, UsageError, type ExitCode } from '../../command-output.js';
import { print, printJson, styled } from '../shown.js';
import { inputOf, type InputOptions } from '../json-input.js';
import { isOpen, requestText, section } from './request-text.js';

const NEEDS_REASON = '--break-glass needs its reason, as --note';
const NO_DIGEST = '--digest is 64 hexadecimal digits, as countersign hitl show has shown them';
const NEEDS_DIGEST = 'nobody was shown what would run: give --digest, as countersign hitl show has shown it';

interface DecisionOptions extends ServiceOptions {
  readonly digest?: string;
  readonly note?: string;
}

interface ApprovalOptions extends DecisionOptions, InputOptions {
  readonly breakGlass?: boolean;
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
    .addOption(new Option('--input <json>', 'what is to run instead of what was asked, a JSON object').conflicts('inputFile'))
    .option('--input-file <file>', 'file that holds it; - is standard input')
    .option('--break-glass', 'though separation of duties or a quorum bars you: owners and root, with a reason as --note')
    .action((id: string, options: ApprovalOptions) =>
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

async function approve({ hitl }: Countersign, id: string, options: ApprovalOptions, signal: AbortSignal): Promise<ExitCode> {
  const { digest, note, breakGlass, json } = options;
  if (breakGlass && note === undefined) throw new UsageError(NEEDS_REASON);
  assertDigest(digest);
  const editedInput = inputOf(options);
  const shown = digest ?? (await digestOfShown(hitl, id, { ...options, editedInput }, signal));
  if (shown === undefined) return EXIT.REFUSED;
  const decision = {
    ...(note === undefined ? {} : { note }), ...(editedInput === undefined ? {} : { editedInput }), ...(breakGlass ? { breakGlass } : {}),
  };
  const { request } = await hitl.approve({ id, actionDigest: shown }, decision, { signal });
  present(request, json === true);
  return EXIT.WELL;
}

/** Shows a person what would run, and what they would have instead. @returns undefined where that is no yes */
async function digestOfShown(
  hitl: Countersign['hitl'], id: string, { json, editedInput, breakGlass }: ApprovalOptions & { editedInput?: JsonObject },
  signal: AbortSignal,
): Promise<string | undefined> {
  if (json || !process.stdin.isTTY || !process.stdout.isTTY) throw new UsageError(NEEDS_DIGEST);
  const request = await hitl.get(id, {}, { signal });
  const instead = editedInput === undefined ? [] : section('What you would have run instead', editedInput);
  print(`\n${[requestText(request), ...instead].join('\n')}\n`);
  if (!isOpen(request)) return void print(`  It is ${request.status} already.`);
  if (breakGlass) print(`  ${styled('red', 'break-glass')}  whatever bars you is overridden; every admin is told\n`);
  if (await isMeant(signal)) return request.actionDigest;
  return void print('  Nothing was decided.');
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
  assertDigest(digest);
  const actionDigest = digest ?? (await hitl.get(id)).actionDigest;
  const { request } = await hitl.reject({ id, actionDigest }, note === undefined ? {} : { note });
  present(request, json === true);
}

function assertDigest(digest: string | undefined): void {
  if (digest !== undefined && !/^[0-9a-f]{64}$/.test(digest)) throw new UsageError(NO_DIGEST);
}

async function escalate({ hitl }: Countersign, id: string, { reason, to, json }: EscalationOptions): Promise<void> {
  present(await hitl.escalate(id, { reason, ...(to === undefined ? {} : { escalateTo: to }) }), json === true);
}

function present(request: RequestReply, json: boolean): void {
  if (json) return printJson({ request });
  const { id, status, execution, quorum, votes = [], decidableBy, edit, breakGlass } = request;
  const waits = quorum ? `${votes.length} of ${quorum.approvals} approvals` : edit ? 'edited, and waits for another person' : status;
  print(`  ${styled('bold', isOpen(request) ? waits : `${status}${breakGlass ? ' by break-glass' : ''}`)}  ${id}`);
  if (execution) print(`  execution ${execution.id} is ${execution.status}`);
  if (isOpen(request) && decidableBy) {
    print(`  ${decidableBy.count === 1 ? '1 person' : `${decidableBy.count} people`} can approve it now, at level ${decidableBy.level}`);
  }
}

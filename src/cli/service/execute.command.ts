import type { Countersign, GateDryRun, Outcome } from '@countersign/sdk';
import { Command, Option } from 'commander';
import { EXIT, UsageError, commandOutput, progressLine, type ExitCode } from '../command-output.js';
import { oneLine, visible } from '../../domain/notifications/plain-text.js';
import { inputOf, type InputOptions } from './json-input.js';
import { onService, withServiceOptions, type ServiceOptions } from './service-command.js';
import { print, printJson, styled } from './shown.js';

/** Until the gate has answered: a connector may take its time. */
const ANSWERED_WITHIN_MS = 150_000;
/** After so long without an answer somebody at a pipe is told, too. */
const SILENT_MS = 3_000;

interface ExecuteOptions extends ServiceOptions, InputOptions {
  readonly action?: string;
  readonly agent?: string;
  readonly idempotencyKey?: string;
  readonly wait?: string;
  readonly dryRun?: boolean;
}

/** One call at the gate. */
export function executeCommand(): Command {
  return withServiceOptions(new Command('execute'))
    .description('Executes a capability, or asks for it, as the agent whose token or key it is. '
      + 'Exit codes: 0 it ran, or you may do it now; 1 anything else that the gate said, a request to a person too; 2 no connection.')
    .argument('<capability>', 'its exact name')
    .addOption(new Option('--input <json>', 'what it is done with, a JSON object; default: {}').conflicts('inputFile'))
    .option('--input-file <file>', 'file that holds it; - is standard input')
    .option('--action <name>', 'name of the action, for the reviewer')
    .option('--agent <id>', 'which agent acts; for root, and dry runs of administrators')
    .addOption(new Option('--idempotency-key <key>', 'the same call by the same key is done once').conflicts('dryRun'))
    .addOption(new Option('--wait <seconds>', 'waits so long for a decision').conflicts('dryRun'))
    .option('--dry-run', 'only what the gate would do, and why; exit code 0 where it would run')
    .action((capability: string, options: ExecuteOptions) =>
      onService('execute', options, (service, _, signal) => execute(service, capability, options, signal)));
}

async function execute(service: Countersign, capability: string, options: ExecuteOptions, signal: AbortSignal): Promise<ExitCode> {
  const { action, agent, idempotencyKey, wait, dryRun, json } = options;
  const input = inputOf(options) ?? {};
  const said = { ...(action === undefined ? {} : { action }), ...(agent === undefined ? {} : { agentId: agent }) };
  if (dryRun) return presentDryRun(await service.gate.dryRun(capability, input, { ...said, signal }), json === true);
  const waits = waiting(wait);
  const watch = watching(wait);
  const outcome = await service.execute(capability, input, {
    ...said, signal, timeoutMs: ANSWERED_WITHIN_MS, ...(idempotencyKey === undefined ? {} : { idempotencyKey }), ...waits,
    onPending: ({ hitlRequestId }) => watch.asked(hitlRequestId),
  }).finally(watch.end);
  return present(outcome, json === true);
}

/** Says what is waited for, and for how long it has been. */
function watching(wait: string | undefined): { asked(id: string): void; end(): void } {
  const { say } = commandOutput('execute');
  const progress = progressLine();
  const begun = performance.now();
  let what = 'for an answer';
  const seconds = () => Math.round((performance.now() - begun) / 1_000);
  const shown = setInterval(() => progress.show(`waiting ${what}: ${seconds()} s`), 1_000);
  const silent = setTimeout(() => {
    progress.clear();
    say(`it is being done, or waits in turn: no answer yet, and none is waited for longer than ${ANSWERED_WITHIN_MS / 1_000} s`);
  }, SILENT_MS);
  return {
    asked: (id) => {
      clearTimeout(silent);
      progress.clear();
      what = `for a person (${id})`;
      const waits = wait === undefined ? '' : `; waiting ${wait} s for the decision. To end the wait (Ctrl-C) takes nothing back`;
      say(`a person is asked: ${id}${waits}`);
    },
    end: () => {
      clearTimeout(silent);
      clearInterval(shown);
      progress.clear();
    },
  };
}

function waiting(wait: string | undefined): { waitForApproval?: boolean; waitTimeoutMs?: number } {
  if (wait === undefined) return {};
  if (!/^[1-9]\d{0,6}$/.test(wait)) throw new UsageError('--wait takes whole seconds, from 1');
  return { waitForApproval: true, waitTimeoutMs: Number(wait) * 1_000 };
}

function present(outcome: Outcome, json: boolean): ExitCode {
  if (json) printJson(outcome);
  else print(outcomeText(outcome));
  return outcome.status === 'executed' ? EXIT.WELL : EXIT.REFUSED;
}

function outcomeText(outcome: Outcome): string {
  const { executionId } = outcome;
  switch (outcome.status) {
    case 'executed':
      return [
        `  ${styled('green', 'executed')}  ${executionId}${outcome.runs === 'caller' ? '  you may do it now' : ''}`,
        ...outcome.output === undefined ? [] : [visible(JSON.stringify(outcome.output, null, 2))],
      ].join('\n');
    case 'failed':
      return `  ${styled('red', outcome.indeterminate ? 'may have been done' : 'failed')}  ${executionId}  ${
        oneLine(`${outcome.error.code}: ${outcome.error.message}`, Infinity)}`;
    case 'blocked':
      return `  ${styled('red', 'blocked')}  ${executionId}  ${oneLine(outcome.reason, Infinity)}`;
    case 'pending_approval':
      return [
        `  ${styled('yellow', 'waits for a person')}  ${outcome.hitlRequestId}`,
        `  countersign hitl show ${outcome.hitlRequestId}   shows what becomes of it; --wait <seconds> would wait for that`,
      ].join('\n');
  }
}

function presentDryRun(dryRun: GateDryRun, json: boolean): ExitCode {
  const { decision, effectiveMode, reasons } = dryRun;
  if (json) printJson(dryRun);
  else {
    print(`  ${styled('bold', oneLine(decision))}${effectiveMode === undefined ? '' : `  (${effectiveMode})`}`);
    for (const { detail } of reasons) print(`  ${oneLine(detail, Infinity)}`);
  }
  return decision === 'run' ? EXIT.WELL : EXIT.REFUSED;
}

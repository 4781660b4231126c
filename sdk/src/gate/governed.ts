import type { Connection } from '../connection.js';
import { called, CountersignError, isCountersignError, messageOf } from '../errors.js';
import { bodyText } from '../json.js';
import type { ReportDto } from '../wire.js';
import type { ExecuteOptions, Gate, Input } from './gate.js';
import type { Executed } from './outcome.js';

export interface GovernedOptions extends Omit<ExecuteOptions, 'waitForApproval' | 'idempotencyKey'> {
  /**
   * Told when what came of the function could not be reported, or without its output, since that is no JSON or too long. The function's
   * result is returned all the same. Default: console.error.
   */
  readonly onReportError?: (error: CountersignError) => void;
}

/** Runs by the gate's leave: the input as it was let through, which a person may have edited. */
export type Action<I extends Input, R> = (input: I, licence: Executed) => R | Promise<R>;

export function governedAction<I extends Input, R>(
  { gate, connection }: { gate: Gate; connection: Connection }, action: Action<I, R>, capability: string, options: GovernedOptions = {},
): (input: I, call?: GovernedOptions & { readonly idempotencyKey?: string }) => Promise<R> {
  return async (input, call = {}) => {
    const { onReportError = console.error, ...said } = { ...options, ...call };
    // What is let through is what runs: nobody can change it while a person decides.
    const asked = (JSON.parse(bodyText({ input })) as { input: I }).input;
    const { outcome, isReplayed } = await gate.ask(capability, asked, { ...said, waitForApproval: true });
    const { executionId } = outcome;
    if (outcome.status === 'pending_approval') throw new CountersignError('HITL_PENDING', { hitlId: outcome.hitlRequestId, executionId });
    if (outcome.status === 'blocked') throw new CountersignError('CAPABILITY_BLOCKED', { detail: outcome.reason, executionId });
    if (outcome.status === 'failed') throw new CountersignError('EXECUTION_FAILED', { detail: outcome.error.message, executionId });
    if (outcome.runs === 'service') throw new CountersignError('RUN_BY_SERVICE', { executionId, output: outcome.output });
    if (isReplayed) throw new CountersignError('ALREADY_EXECUTED', { executionId, idempotencyKey: call.idempotencyKey });
    const report = (body: ReportDto) => reported(connection, executionId, body, onReportError);
    const began = performance.now();
    const durationMs = () => Math.min(86_400_000, Math.round(performance.now() - began));
    let result: R;
    try {
      result = await (action((outcome.input ?? asked) as I, outcome) as Promise<R>);
    } catch (error) {
      await report({ outcome: 'failure', error: { message: messageOf(error) }, durationMs: durationMs() });
      throw error;
    }
    await report({ outcome: 'success', durationMs: durationMs(), output: result });
    return result;
  };
}

/** The deed is done, whatever becomes of the report. */
async function reported(connection: Connection, id: string, body: ReportDto, onError: (error: CountersignError) => void): Promise<void> {
  try {
    await connection.request('POST /api/v1/executions/{id}/report', { path: { id }, body, idempotencyKey: `report-${id}` });
  } catch (error) {
    await called('onReportError', () => onError((error as CountersignError).with({ executionId: id }))).catch(console.error);
    const { output, ...rest } = body;
    const isUnusable = isCountersignError(error, 'VALIDATION_FAILED', 'BODY_TOO_LARGE');
    if (output !== undefined && isUnusable) await reported(connection, id, rest, onError);
  }
}

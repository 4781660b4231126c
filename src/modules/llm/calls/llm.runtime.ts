import { Injectable } from '@nestjs/common';
import { isJsonObject, type JsonObject, type JsonValue, readJson } from '../../../domain/json.js';
import { passedOn } from '../../../domain/llm/family.js';
import { textOf } from '../../../domain/llm/whole-answer.js';
import { mapTexts } from '../../../domain/pii/body/map-texts.js';
import { REQUEST_SHAPES } from '../../../domain/pii/body/structural-members.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { parseStrictJson } from '../../../platform/http/request/strict-json.js';
import { OUTPUT_BYTES_MAX } from '../../gate/runtimes/output.js';
import type { CutOff, LeftBehind, Runtime, RuntimeCall, RuntimeError, RuntimeOutcome } from '../../gate/runtimes/runtime.js';
import { ModelProviders } from '../providers/model-providers.js';
import { ScanSettingsQuery } from '../scan/scan-settings.query.js';
import { type CallFacts, closingEvents, outputOf } from './llm-events.js';
import { type OutgoingCall, type Performed, PerformCallService } from './perform-call.service.js';

/** A call that its caller waits for, on this server. */
export interface WaitingCall {
  readonly outgoing: Omit<OutgoingCall, 'deadline'>;
  readonly facts: Omit<CallFacts, 'executionId'>;
  /** What came of it, once it was made. */
  performed?: Performed;
}

const ENDED: RuntimeError = { code: 'SERVER_ENDED', message: 'The server ended before the answer was whole. Nothing outside was changed.' };
const GONE: RuntimeError = { code: 'PROVIDER_ERROR', message: 'No provider runs this model any more.' };
const UNSCANNED: RuntimeError = { code: 'PII_SCAN_REQUIRED', message: 'What no scan reads may not leave any more: nothing was sent.' };
const BROKE: RuntimeError = { code: 'PROVIDER_ERROR', message: 'The call broke off on this server.' };

/**
 * Calls language models. A call whose caller waits is made with what the caller's own request holds in memory: neither prompt nor answer
 * is kept. A call that people approved is made from the request, and its answer is kept, with placeholders where values were. A call
 * changes nothing outside, so one that breaks off has failed, and is never indeterminate.
 */
@Injectable()
export class LlmRuntime implements Runtime {
  readonly name = 'llm';
  readonly timeoutSeconds: number;
  private readonly waiting = new Map<string, WaitingCall>();

  constructor(
    private readonly calls: PerformCallService,
    private readonly settings: ScanSettingsQuery,
    private readonly providers: ModelProviders,
  ) {
    this.timeoutSeconds = providers.timeoutSeconds;
  }

  /** From here on the execution is its caller's: `run` takes the call from memory. */
  keep(executionId: string, call: WaitingCall): void {
    this.waiting.set(executionId, call);
  }

  async run(call: RuntimeCall, signal: AbortSignal): Promise<RuntimeOutcome> {
    const { executionId, deadline } = call;
    const waiting = this.waiting.get(executionId);
    this.waiting.delete(executionId);
    try {
      if (!waiting) return await this.approved(call, signal);
      const performed = await this.calls.perform({ ...waiting.outgoing, deadline }, signal);
      waiting.performed = performed;
      return outcomeOf(performed, { ...waiting.facts, executionId });
    } catch {
      return { kind: 'failed', error: BROKE };
    }
  }

  /** Nobody has the answer of a call that a crash cut off, and nothing outside was changed. What it may have cost is its prompt. */
  withdraw(_tx: Tx, { id: executionId, input: text }: CutOff): Promise<LeftBehind> {
    const input = readJson(text);
    if (!isJsonObject(input)) return Promise.resolve({ kind: 'untouched', error: ENDED });
    const [model, provider, digest] = [textIn(input, 'model'), textIn(input, 'provider'), textIn(input, 'digest')];
    const metadata = { executionId, model, provider, promptTokens: Number(input['tokens']), digest, brokenOff: true };
    return Promise.resolve({ kind: 'untouched', error: ENDED, events: [{ type: 'llm.request', metadata }] });
  }

  /** From what people approved: scanned, unless the caller left the scan out. The answer is kept, so that values that it holds are taken out. */
  private async approved({ executionId, organizationId, input, deadline }: RuntimeCall, signal: AbortSignal): Promise<RuntimeOutcome> {
    const { tokens, body, headers } = input;
    const model = textIn(input, 'model');
    const family = this.providers.forModel(model)?.family;
    if (family === undefined || !isJsonObject(body)) return { kind: 'failed', error: GONE };
    const { pii, isRequired } = await this.settings.of(organizationId);
    const { unscanned } = mapTexts(body, REQUEST_SHAPES[family], (text) => text);
    const isSkipped = input['scanSkipped'] === true;
    if (isRequired && (isSkipped || unscanned > 0)) return { kind: 'failed', error: UNSCANNED };
    const { stream: _, stream_options: __, ...whole } = body;
    const performed = await this.calls.perform({
      family, model, body: whole, headers: isJsonObject(headers) ? passedOn(headers) : {}, wantsUsage: true, tokens: new Map(),
      // People approved this model.
      settings: { ...pii, answers: 'redact' }, deadline, mayStandIn: () => Promise.resolve(false),
    }, signal);
    const scan = { counts: {}, isSkipped, unscanned, settings: pii };
    const outcome = outcomeOf(performed, { executionId, digest: textIn(input, 'digest'), promptTokens: Number(tokens), scan });
    if (outcome.kind !== 'executed' || performed.answer === undefined) return outcome;
    const output = { ...(outcome.output as JsonObject), content: textOf(family, performed.answer), answer: performed.answer };
    return { ...outcome, output: kept(output) };
  }
}

const textIn = (input: JsonObject, name: string): string => {
  const value = input[name];
  return typeof value === 'string' ? value : '';
};

function outcomeOf(performed: Performed, facts: CallFacts): RuntimeOutcome {
  const { failure } = performed;
  const events = closingEvents(performed, facts);
  const output = outputOf(performed, facts.promptTokens);
  if (!failure) return { kind: 'executed', output, events };
  const { code, message } = failure;
  return { kind: 'failed', error: { code, message }, events, ...(performed.events > 0 ? { output } : {}) };
}

/** What the database can keep, and people can be shown. */
function kept(output: JsonObject): JsonValue {
  const text = JSON.stringify(output);
  const parsed = Buffer.byteLength(text) <= OUTPUT_BYTES_MAX ? parseStrictJson(Buffer.from(text)) : undefined;
  if (parsed?.ok) return parsed.value;
  const { content: _, answer: __, ...rest } = output;
  return { ...rest, omitted: 'an answer that cannot be kept: larger than 256 KiB, or no I-JSON' };
}

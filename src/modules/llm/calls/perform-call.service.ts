import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Dispatcher } from 'undici';
import { type AnswerFacts, COMPLETION_PATH, type Family, NO_USAGE } from '../../../domain/llm/family.js';
import { AnswerTexts } from '../../../domain/llm/streams/answer-texts.js';
import { StreamFault } from '../../../domain/llm/streams/stream-fault.js';
import { splitEvent } from '../../../domain/llm/streams/split-event.js';
import { eventText, type StreamEvent, type StreamReader } from '../../../domain/llm/streams/stream-event.js';
import { streamReader } from '../../../domain/llm/streams/stream-reader.js';
import { answerFacts } from '../../../domain/llm/whole-answer.js';
import { isJsonObject, type JsonObject } from '../../../domain/json.js';
import type { TokenMap } from '../../../domain/pii/answers/tokens.js';
import type { EntityCounts } from '../../../domain/pii/entity-types.js';
import type { PiiSettings } from '../../../domain/pii/settings.js';
import type { Deadline } from '../../gate/runtimes/deadline.js';
import { askProvider } from '../providers/ask-provider.js';
import { readEvents, readWhole } from '../providers/answer-body.js';
import { ModelProviders } from '../providers/model-providers.js';
import { AnswerBroken, type ProviderFailure } from '../providers/provider-failure.js';
import { PiiScanner, ScanFailed } from '../scan/pii-scanner.service.js';
import { Cancellation } from './cancellation.js';
import type { AnswerSink } from './client-stream.js';

/** A call as it leaves: scanned, and in the format of its provider. */
export interface OutgoingCall {
  readonly family: Family;
  readonly model: string;
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  readonly wantsUsage: boolean;
  /** Whether another model may be asked in its place. Default: any of the operator's fallbacks. */
  readonly mayStandIn?: (model: string, provider: string) => Promise<boolean>;
  readonly tokens: TokenMap;
  /** How the answer is read. */
  readonly settings: PiiSettings;
  /** Where the answer goes as it comes; without one it is read whole. */
  readonly sink?: AnswerSink;
  /** Aborted once the client has gone, where it waits for a whole answer. */
  readonly gone?: AbortSignal;
  readonly deadline: Deadline;
}

/** What came of a call. */
export interface Performed {
  /** The model and the provider that were asked last. */
  readonly model: string;
  readonly provider: string;
  readonly facts: AnswerFacts;
  /** How many events of a stream had come, each about a token. */
  readonly events: number;
  readonly answerCounts: EntityCounts;
  readonly durationMs: number;
  /** A whole answer, as the client gets it. */
  readonly answer?: JsonObject;
  /** The events by which a stream ends. */
  readonly ending?: string;
  readonly failure?: ProviderFailure;
}

type Read = Omit<Performed, 'model' | 'provider' | 'durationMs'>;

/** What is still read behind a stream's last event, and for how long. */
const REST_BYTES = 4 * 1024;
const REST_MS = 1_000;

/** For so long the events of a stream may hold the process. */
const TURN_MS = 5;

const NOTHING: Read = { facts: { usage: NO_USAGE }, answerCounts: {}, events: 0 };
const NOBODY: ProviderFailure = { code: 'PROVIDER_ERROR', message: 'No provider of this model is set up any more.' };
const CUT: ProviderFailure = { code: 'PROVIDER_ERROR', message: 'The stream of the provider ended before the answer did.' };
const UNREAD: ProviderFailure = {
  code: 'SCAN_FAILED', message: 'The answer could not be scanned for personal data, and is handed on to nobody.',
};
const SLOW: ProviderFailure = { code: 'PROVIDER_ERROR', message: 'The answer of the provider did not arrive whole in time.' };

/** Asks the providers of a model in turn, and reads the answer of the first that gives one. Expected failures are results. */
@Injectable()
export class PerformCallService {
  constructor(
    private readonly providers: ModelProviders,
    private readonly scanner: PiiScanner,
  ) {}

  /** @param ending aborted when the server can wait no longer */
  async perform(call: OutgoingCall, ending?: AbortSignal): Promise<Performed> {
    const begun = performance.now();
    const cancellation = new Cancellation(call.deadline, ending, call.sink?.gone ?? call.gone);
    try {
      return { ...(await this.inTurn(call, cancellation)), durationMs: Math.round(performance.now() - begun) };
    } finally {
      cancellation.close();
    }
  }

  private async inTurn(call: OutgoingCall, cancellation: Cancellation): Promise<Omit<Performed, 'durationMs'>> {
    let last: Omit<Performed, 'durationMs'> = { ...NOTHING, model: call.model, provider: '', failure: NOBODY };
    for (const { provider, model } of this.providers.candidatesFor(call.model, call.family)) {
      const asked = { model, provider: provider.name };
      if (model !== call.model && call.mayStandIn && !(await call.mayStandIn(model, provider.name))) continue;
      const answer = await askProvider(provider, {
        method: 'POST', path: COMPLETION_PATH[call.family], body: JSON.stringify(bodyFor(call, model)),
        headers: { 'content-type': 'application/json', ...call.headers }, signal: cancellation.signal, deadline: call.deadline,
        settings: call.settings,
      });
      if (answer.kind === 'answered') return { ...asked, ...(await this.read(call, answer.response, cancellation)) };
      last = { ...NOTHING, ...asked, failure: cancellation.failure ?? answer.failure };
      if (!answer.mayAsk || cancellation.failure) return last;
    }
    return last;
  }

  private async read(call: OutgoingCall, { body }: Dispatcher.ResponseData, cancellation: Cancellation): Promise<Read> {
    const { family, settings, tokens, sink } = call;
    if (sink) return streamed(call, body, sink, cancellation);
    let facts = NOTHING.facts;
    try {
      const whole = await readWhole(body);
      facts = answerFacts(family, whole);
      if (settings.answers === 'off' && tokens.size === 0) return { ...NOTHING, facts, answer: whole };
      const { body: answer, counts } = await this.scanner.readAnswer(whole, family, settings, tokens);
      return { ...NOTHING, facts, answer: answer as JsonObject, answerCounts: counts };
    } catch (error) {
      return { ...NOTHING, facts, failure: failureIn(error, cancellation) };
    }
  }
}

async function streamed(
  call: OutgoingCall, body: Dispatcher.ResponseData['body'], sink: AnswerSink, cancellation: Cancellation,
): Promise<Read> {
  const texts = new AnswerTexts(call.settings, call.tokens);
  const reader = streamReader(call.family, texts, call.wantsUsage);
  let events = 0;
  let failure: ProviderFailure | undefined;
  try {
    for await (const ready of readEvents(body)) {
      events += ready.length;
      await handOn(ready, reader, texts, sink);
      if (reader.ending || cancellation.failure) break;
    }
    if (!reader.ending) failure = cancellation.failure ?? CUT;
  } catch (error) {
    failure = failureIn(error, cancellation);
  }
  texts.close();
  letGo(body, reader.ending !== undefined);
  const seen = { facts: reader.facts(), answerCounts: texts.counts, events };
  return failure ? { ...seen, failure } : { ...seen, ending: reader.ending!.map(eventText).join('') };
}

/**
 * What came before a faulty event goes out, however the network has cut the stream. The first event goes at once, however many came with
 * it, and others are served between events that take long.
 */
async function handOn(ready: readonly StreamEvent[], reader: StreamReader, texts: AnswerTexts, sink: AnswerSink): Promise<void> {
  let text = '';
  let begun = performance.now();
  try {
    for (const event of ready) {
      for (const piece of texts.isPlain ? [event] : splitEvent(event)) {
        text += reader.read(piece).map(eventText).join('');
        const isFirst = !sink.hasBegun && text !== '';
        if (!isFirst && performance.now() - begun < TURN_MS) continue;
        if (isFirst) {
          await sink.write(text);
          text = '';
        }
        // What was written leaves when this turn is over.
        await nextTurn();
        begun = performance.now();
      }
    }
  } finally {
    await sink.write(text);
  }
}

/** Behind the last event the connection ends its answer, and is kept for the next call. What goes on is cut. */
function letGo(body: Dispatcher.ResponseData['body'], isWhole: boolean): void {
  if (isWhole) void body.dump({ limit: REST_BYTES, signal: AbortSignal.timeout(REST_MS) }).catch(() => body.destroy());
  else body.destroy();
}

/** A provider that began to answer has answered in time: what was late is the rest. */
function failureIn(error: unknown, { failure }: Cancellation): ProviderFailure {
  if (failure) return failure.code === 'PROVIDER_TIMEOUT' ? SLOW : failure;
  if (error instanceof AnswerBroken) return error.failure;
  if (error instanceof ScanFailed) return UNREAD;
  if (error instanceof StreamFault) return { code: 'PROVIDER_ERROR', message: error.message };
  if (error instanceof SyntaxError) return { code: 'PROVIDER_ERROR', message: 'The provider sent an event that is no JSON.' };
  throw error;
}

/** The usage of streams is always asked for. */
function bodyFor({ family, body, sink }: OutgoingCall, model: string): JsonObject {
  if (!sink || family !== 'openai') return { ...body, model };
  const { stream_options: options } = body;
  return { ...body, model, stream_options: { ...(isJsonObject(options) ? options : {}), include_usage: true } };
}

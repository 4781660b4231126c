import type { Connection } from '../connection.js';
import { checkOptions, CountersignError, isTrouble } from '../errors.js';
import { backoffMs } from '../http/backoff.js';
import { Deadline } from '../http/deadline.js';
import { EventParser, type StreamEvent } from './event-parser.js';

/** What has become of a request, or `reset`: load the list anew, for what was missed is not told any more. */
export interface HitlEvent {
  /** Give it as `lastEventId` to go on behind this event. */
  readonly id: string;
  /** `hitl.created`, `.approved`, …, `execution.<status>`, or `reset`. */
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EventOptions {
  /** Of the last event that was seen. Default: from now on. */
  readonly lastEventId?: string;
  /** Narrows them to one organization. */
  readonly organizationId?: string;
  /** Ends the stream; the iteration then ends without an error. */
  readonly signal?: AbortSignal;
}

/** The service sends something every 15 seconds; what is silent for so long is lost. */
const SILENCE_MS = 45_000;

/**
 * Follows requests, and comes back by itself where the stream breaks off, behind the last event: none is missed and none comes twice.
 * @throws CountersignError of a credential or option that the service refuses
 */
export async function* hitlEvents(connection: Connection, options: EventOptions = {}): AsyncGenerator<HitlEvent, void, undefined> {
  checkOptions(options, 'events', 'lastEventId organizationId signal');
  const { organizationId, signal } = options;
  let lastEventId = options.lastEventId;
  for (let attempt = 0; !signal?.aborted; attempt++) {
    let retryMs = 0;
    try {
      const parser = new EventParser();
      for await (const event of streamed(connection, { organizationId, lastEventId, signal }, parser)) {
        attempt = 0;
        lastEventId = (event ? event.id : parser.lastId) ?? lastEventId;
        retryMs = parser.retryMs ?? retryMs;
        if (event !== undefined) yield { id: event.id ?? '', event: event.event, data: parsed(event.data) };
      }
    } catch (error) {
      if (signal?.aborted) return;
      // Errors of reading a body are the platform's own.
      if (error instanceof CountersignError && (!isTrouble(error) || error.retryAfterMs === Infinity)) throw error;
      retryMs = Math.max(retryMs, (error as CountersignError).retryAfterMs ?? 0);
    }
    const resting = new Deadline(Infinity, signal);
    await resting.pause(retryMs + backoffMs(attempt)).catch(() => undefined);
    resting.end();
  }
}

/** One connection, until it ends or falls silent. */
async function* streamed(
  connection: Connection, { organizationId, lastEventId, signal }: EventOptions, parser: EventParser,
): AsyncGenerator<StreamEvent | undefined> {
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => controller.abort(new CountersignError('UNREACHABLE', { detail: 'The stream fell silent.' })), SILENCE_MS);
  };
  try {
    heard();
    const response = await connection.open('/api/v1/hitl/events', {
      query: { organizationId }, signal: controller.signal,
      headers: { accept: 'text/event-stream', ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) },
    });
    const [decoder, reader] = [new TextDecoder(), response.body!.getReader()];
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      yield* parser.push(decoder.decode(value, { stream: true }));
      // The position may have moved without an event.
      yield undefined;
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    // Whoever leaves the iteration leaves no connection open.
    controller.abort();
  }
}

function parsed(data: string): HitlEvent['data'] {
  try {
    return JSON.parse(data) as HitlEvent['data'];
  } catch (cause) {
    const detail = 'An event of the stream is no JSON.';
    throw new CountersignError('BAD_RESPONSE', { detail, status: 200, cause, retryAfterMs: Infinity });
  }
}

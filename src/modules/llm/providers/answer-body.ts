import type { Readable } from 'node:stream';
import { createParser } from 'eventsource-parser';
import { isJsonObject, type JsonObject } from '../../../domain/json.js';
import type { StreamEvent } from '../../../domain/llm/streams/stream-event.js';
import { AnswerBroken } from './provider-failure.js';

export const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const LINE_MAX = 1024 * 1024;

const broken = (message: string) => new AnswerBroken({ code: 'PROVIDER_ERROR', message });
const TOO_LARGE = 'The answer of the provider is larger than 16 MiB.';

/** @throws AnswerBroken where it is larger, breaks off, or is no JSON object */
export async function readWhole(body: Readable, max: number = ANSWER_BYTES_MAX): Promise<JsonObject> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of partsOf(body)) {
    size += part.length;
    if (size > max) {
      body.destroy();
      throw broken(TOO_LARGE);
    }
    parts.push(part);
  }
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts)));
    if (isJsonObject(value)) return value;
  } catch {
    // Said below.
  }
  throw broken('The provider answered with something else than JSON.');
}

/**
 * The events of a stream, as many as each piece of it brings.
 * @throws AnswerBroken where it is larger than 16 MiB, has a line of more than 1 MiB, or breaks off
 */
export async function* readEvents(body: Readable): AsyncGenerator<readonly StreamEvent[]> {
  let events: StreamEvent[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: LINE_MAX,
    onEvent: ({ event, data }) => events.push({ event, data }),
    onError: ({ type }) => (isTooLong ||= type === 'max-buffer-size-exceeded'),
  });
  const decoder = new TextDecoder('utf-8');
  let size = 0;
  for await (const part of partsOf(body)) {
    size += part.length;
    if (size > ANSWER_BYTES_MAX) throw broken(TOO_LARGE);
    try {
      parser.feed(decoder.decode(part, { stream: true }));
    } catch {
      isTooLong = true;
    }
    if (isTooLong) throw broken('The provider sent a line of more than 1 MiB.');
    if (events.length === 0) continue;
    const ready = events;
    events = [];
    yield ready;
  }
}

async function* partsOf(body: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const part of body.iterator({ destroyOnReturn: false })) yield part as Buffer;
  } catch {
    throw broken('The answer of the provider broke off.');
  }
}

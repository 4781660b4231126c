import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import { type AnswerFacts, NO_USAGE, wordIn } from '../family.js';
import { usageOf } from '../whole-answer.js';
import type { AnswerTexts, TextForm } from './answer-texts.js';
import { StreamFault } from './stream-fault.js';
import type { StreamEvent, StreamReader } from './stream-event.js';

/** Members of a delta that hold a text of the model's, with its form. */
const TEXTS: Readonly<Record<string, TextForm>> = { text: 'text', thinking: 'text', partial_json: 'json' };

/** Events of a message. The texts of each block go through `AnswerTexts`; what was held back goes out before the block ends. */
export class AnthropicStream implements StreamReader {
  ending: readonly StreamEvent[] | undefined;
  /** As the events say it: later ones bring the members that have changed. */
  private usage: JsonObject = {};
  private finishReason: string | undefined;
  private readonly deltas = new Map<JsonValue, JsonObject>();

  constructor(private readonly texts: AnswerTexts) {}

  read(event: StreamEvent): readonly StreamEvent[] {
    const data = JSON.parse(event.data) as JsonValue;
    if (!isJsonObject(data)) throw new StreamFault('The provider sent no event of its format.');
    switch (data['type']) {
      case 'error':
        throw new StreamFault('The provider broke its stream off.');
      case 'message_stop':
        this.ending = [event];
        return [];
      case 'message_start':
        this.note(isJsonObject(data['message']) ? data['message']['usage'] : undefined);
        return [event];
      case 'message_delta':
        this.note(data['usage']);
        if (isJsonObject(data['delta'])) this.finishReason ??= wordIn(data['delta'], 'stop_reason');
        return [this.whole(event, data)];
      case 'content_block_start':
        return [this.whole(event, data)];
      case 'content_block_delta':
        return [this.texts.isPlain ? event : this.changed(event, data)];
      case 'content_block_stop':
        return [...this.restsOf(event, data), event];
      default:
        return [event];
    }
  }

  facts(): AnswerFacts {
    const usage = Object.keys(this.usage).length === 0 ? NO_USAGE : usageOf(this.usage);
    return { usage, ...(this.finishReason === undefined ? {} : { finishReason: this.finishReason }) };
  }

  private note(usage: JsonValue | undefined): void {
    if (isJsonObject(usage)) this.usage = { ...this.usage, ...usage };
  }

  /** What does not come in pieces: results of the provider's own tools, citations. */
  private whole(event: StreamEvent, data: JsonObject): StreamEvent {
    if (this.texts.isPlain) return event;
    const whole = this.texts.whole(data);
    return whole === data ? event : { ...event, data: JSON.stringify(whole) };
  }

  private changed(event: StreamEvent, data: JsonObject): StreamEvent {
    const { delta, index } = data;
    if (!isJsonObject(delta)) return event;
    const name = Object.keys(TEXTS).find((member) => typeof delta[member] === 'string');
    if (name === undefined) return this.whole(event, data);
    this.deltas.set(index ?? 0, delta);
    const text = this.texts.push(blockKeyOf(index), TEXTS[name]!, delta[name] as string);
    return this.texts.changes ? { event: event.event, data: JSON.stringify({ ...data, delta: { ...delta, [name]: text } }) } : event;
  }

  private restsOf({ event }: StreamEvent, { index = 0 }: JsonObject): StreamEvent[] {
    const delta = this.deltas.get(index);
    this.deltas.delete(index);
    const rest = this.texts.end(blockKeyOf(index));
    if (delta === undefined || rest === '') return [];
    const name = Object.keys(TEXTS).find((member) => typeof delta[member] === 'string')!;
    const data = { type: 'content_block_delta', index, delta: { ...delta, [name]: rest } };
    return [{ event: event === undefined ? undefined : 'content_block_delta', data: JSON.stringify(data) }];
  }
}

const blockKeyOf = (index: JsonValue | undefined): string => (typeof index === 'number' ? String(index) : '0');

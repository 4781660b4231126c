import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import { type AnswerFacts, NO_USAGE, wordIn } from '../family.js';
import { usageOf } from '../whole-answer.js';
import type { AnswerTexts, TextForm } from './answer-texts.js';
import { StreamFault } from './stream-fault.js';
import type { StreamEvent, StreamReader } from './stream-event.js';

const DONE = '[DONE]';
/** Members of a delta that are no text of the model's. */
const STRUCTURAL: ReadonlySet<string> = new Set(['role', 'id', 'name', 'type']);

type Rest = (text: string) => JsonObject;

/** Chunks of a chat completion. Each text of each choice goes through `AnswerTexts`; what was held back goes out before its choice ends. */
export class OpenAiStream implements StreamReader {
  ending: readonly StreamEvent[] | undefined;
  private usage = NO_USAGE;
  private finishReason: string | undefined;
  /** By choice, the places of its texts, each with how a rest of it is said in a delta. */
  private readonly open = new Map<number, Map<string, Rest>>();
  /** What every chunk of the answer has. */
  private envelope: JsonObject = {};

  constructor(
    private readonly texts: AnswerTexts,
    private readonly wantsUsage: boolean,
  ) {}

  read(event: StreamEvent): readonly StreamEvent[] {
    if (event.data === DONE) {
      this.ending = [event];
      // A choice that ends without a word of it.
      const rests = [...this.open.keys()].flatMap((index) => this.restsOf(index).map((delta) => ({ index, delta, finish_reason: null })));
      return rests.map((choice) => said(event, { ...this.envelope, choices: [choice] }));
    }
    const chunk = JSON.parse(event.data) as JsonValue;
    if (!isJsonObject(chunk) || chunk['error'] !== undefined) throw new StreamFault('The provider broke its stream off.');
    const choices = Array.isArray(chunk['choices']) ? chunk['choices'].filter(isJsonObject) : [];
    const hasUsage = isJsonObject(chunk['usage']);
    if (isJsonObject(chunk['usage'])) this.usage = usageOf(chunk['usage']);
    this.envelope = without(without(chunk, 'usage'), 'choices');
    for (const choice of choices) this.finishReason ??= wordIn(choice, 'finish_reason');
    // Asked for by the gateway, not by the client.
    if (!this.wantsUsage && hasUsage && choices.length === 0) return [];
    const hides = !this.wantsUsage && 'usage' in chunk;
    if (this.texts.isPlain) return [hides ? said(event, without(chunk, 'usage')) : event];
    const shown = hides ? without(chunk, 'usage') : chunk;
    const before: JsonObject[] = [];
    const changed = choices.map((choice) => {
      const piece = this.changed(choice);
      const rests = choice['finish_reason'] ? this.restsOf(indexOf(choice)) : [];
      if (rests.length === 0) return piece;
      // A choice's last chunk may bring text, too: that goes first, with what was held back behind it.
      for (const delta of [piece['delta']!, ...rests]) before.push({ ...piece, delta, finish_reason: null });
      return { ...piece, delta: {} };
    });
    if (!this.texts.changes) return [hides ? said(event, shown) : event];
    const rests = before.map((choice) => said(event, { ...without(chunk, 'usage'), choices: [choice] }));
    return [...rests, said(event, { ...shown, choices: changed })];
  }

  facts(): AnswerFacts {
    return { usage: this.usage, ...(this.finishReason === undefined ? {} : { finishReason: this.finishReason }) };
  }

  private changed(choice: JsonObject): JsonObject {
    const { delta } = choice;
    if (!isJsonObject(delta)) return choice;
    const index = indexOf(choice);
    const changed = this.members(index, '', delta, (members) => members);
    return { ...choice, delta: changed, ...(this.texts.redacts && 'logprobs' in choice ? { logprobs: null } : {}) };
  }

  private members(choice: number, path: string, from: JsonObject, wrap: (members: JsonObject) => JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(from).map(([name, value]): [string, JsonValue] => {
      const at = `${path}/${name}`;
      if (typeof value === 'string' && !STRUCTURAL.has(name)) {
        return [name, this.text(choice, at, name === 'arguments' ? 'json' : 'text', value, (rest) => wrap({ [name]: rest }))];
      }
      if (isJsonObject(value)) return [name, this.members(choice, at, value, (members) => wrap({ [name]: members }))];
      if (!Array.isArray(value)) return [name, value];
      // A call of a tool comes in pieces, by its index; other lists come whole.
      const isIndexed = value.every((item) => isJsonObject(item) && typeof item['index'] === 'number');
      if (!isIndexed) return [name, this.texts.whole({ [name]: value })[name]!];
      return [name, value.map((item) => {
        if (!isJsonObject(item)) return item;
        const index = indexOf(item);
        return this.members(choice, `${at}/${index}`, item, (members) => wrap({ [name]: [{ index, ...members }] }));
      })];
    }));
  }

  private text(choice: number, path: string, form: TextForm, piece: string, rest: Rest): string {
    let open = this.open.get(choice);
    if (open === undefined) this.open.set(choice, (open = new Map<string, Rest>()));
    open.set(path, rest);
    return this.texts.push(`${choice}${path}`, form, piece);
  }

  /** What was held back of the texts of a choice that ends, each as a delta. */
  private restsOf(index: number): JsonObject[] {
    const open = [...(this.open.get(index) ?? [])];
    this.open.delete(index);
    return open.flatMap(([path, delta]) => {
      const rest = this.texts.end(`${index}${path}`);
      return rest === '' ? [] : [delta(rest)];
    });
  }
}

const indexOf = ({ index }: JsonObject): number => (typeof index === 'number' ? index : 0);
const said = ({ event }: StreamEvent, chunk: JsonObject): StreamEvent => ({ event, data: JSON.stringify(chunk) });

function without(object: JsonObject, name: string): JsonObject {
  const { [name]: _, ...rest } = object;
  return rest;
}

import { type CorpusLine, CORPUS_TERMS } from '../../../bench/pii/corpus.js';
import type { JsonObject } from '../../../src/domain/json.js';
import { scanText } from '../../../src/domain/pii/scan-text.js';

export type WireFamily = 'openai' | 'anthropic';

export const WIRE_PATH: Readonly<Record<WireFamily, string>> = { openai: 'chat/completions', anthropic: 'messages' };

/** One call that has all of the lines in each place that a text can stand in: prompt, arguments and results of tools, unknown member. */
export function callWith(family: WireFamily, lines: readonly CorpusLine[]): JsonObject {
  const texts = lines.map(({ text }) => text);
  const ours = { notes_of_ours: { seen: texts } };
  if (family === 'openai') {
    return {
      model: 'gpt-test', ...ours,
      messages: [
        ...texts.map((content) => ({ role: 'user', content })),
        { role: 'assistant', tool_calls: texts.map((text, index) => ({ id: `call_${index}`, type: 'function', function: {
          name: 'note', arguments: argumentsOf(text, index),
        } })) },
        ...texts.map((content, index) => ({ role: 'tool', tool_call_id: `call_${index}`, content })),
      ],
      tools: [{ type: 'function', function: { name: 'note', description: texts[0]!, parameters: { type: 'object' } } }],
    };
  }
  return {
    model: 'claude-test', max_tokens: 9, system: texts[0]!, ...ours,
    messages: [
      { role: 'user', content: texts.map((text) => ({ type: 'text', text })) },
      { role: 'assistant', content: texts.map((text, at) => ({ type: 'tool_use', id: `call_${at}`, name: 'note', input: { text } })) },
      { role: 'user', content: texts.map((content, at) => ({ type: 'tool_result', tool_use_id: `call_${at}`, content })) },
    ],
    tools: [{ name: 'note', description: texts[0]!, input_schema: { type: 'object' } }],
  };
}

/** Every other one with its marks and letters written as escapes, as some serializers do. */
function argumentsOf(text: string, index: number): string {
  const json = JSON.stringify({ text });
  if (index % 2 === 0) return json;
  return json.replace(/[@\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The values of the corpus that the scan finds where it reads nothing but their line; the others are in the table of docs/llm.md. */
export function findableValues(lines: readonly CorpusLine[]): readonly string[] {
  return lines.flatMap(({ text, spans }) => {
    const found = scanText(text, { terms: CORPUS_TERMS });
    const isFound = (from: number, to: number) => found.some(({ start, end }) => start <= from && end >= to);
    return spans.filter(([start, end]) => isFound(start, end)).map(([start, end]) => text.slice(start, end));
  });
}

/** Characters by which values are looked up: none of the corpus is shorter. */
const KEY = 7;

/** Looks for many values in a text at once, as they are, behind the escapes of JSON, and as a column of bytes shows them. */
export class ValueSearch {
  private readonly byKey = new Map<string, [form: string, value: string][]>();

  constructor(values: Iterable<string>) {
    for (const value of new Set(values)) {
      const escaped = JSON.stringify(value).slice(1, -1);
      const forms = [value, escaped, JSON.stringify(escaped).slice(1, -1), value.replaceAll('"', '""'), Buffer.from(value).toString('hex')];
      for (const form of new Set(forms)) {
        const key = form.slice(0, KEY);
        this.byKey.set(key, [...(this.byKey.get(key) ?? []), [form, value]]);
      }
    }
  }

  /** Those that the text holds as words of their own: a number inside of a hash is nobody's. */
  in(text: string): string[] {
    const shown = text.replace(/\\+u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
    const found = new Set<string>();
    for (let at = 0; at + KEY <= shown.length; at++) {
      for (const [form, value] of this.byKey.get(shown.slice(at, at + KEY)) ?? []) {
        const isWhole = shown.startsWith(form, at) && !isPart(form, shown[at - 1], shown[at + form.length]);
        if (isWhole) found.add(value);
      }
    }
    return [...found];
  }
}

const isPart = (form: string, before = '', behind = '') => /^[0-9a-f.:-]+$/i.test(form) && /[0-9a-f]/i.test(before + behind);

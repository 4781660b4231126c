import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { type AnswerFacts, countIn, type Family, NO_USAGE, type TokenUsage, wordIn } from './family.js';

/** What is kept of a whole answer. */
export function answerFacts(family: Family, answer: JsonObject): AnswerFacts {
  const usage = isJsonObject(answer['usage']) ? usageOf(answer['usage']) : NO_USAGE;
  const ended = family === 'openai' ? firstOf(answer['choices']) : answer;
  const finishReason = ended && wordIn(ended, family === 'openai' ? 'finish_reason' : 'stop_reason');
  return finishReason === undefined ? { usage } : { usage, finishReason };
}

/** Of either family; what Anthropic read from its cache was part of the prompt. */
export function usageOf(usage: JsonObject): TokenUsage {
  const sum = (...names: string[]) => names.reduce((total, name) => total + (countIn(usage, name) ?? 0), 0);
  return {
    promptTokens: countIn(usage, 'prompt_tokens') ?? sum('input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'),
    completionTokens: countIn(usage, 'completion_tokens') ?? sum('output_tokens'),
  };
}

/** The answer's text alone: of the first choice, or of all blocks of text. */
export function textOf(family: Family, answer: JsonObject): string {
  if (family === 'anthropic') return texts(answer['content']);
  const message = firstOf(answer['choices'])?.['message'];
  const content = isJsonObject(message) ? message['content'] : undefined;
  return typeof content === 'string' ? content : texts(content);
}

function texts(content: JsonValue | undefined): string {
  if (!Array.isArray(content)) return '';
  return content.map((block) => (isJsonObject(block) && typeof block['text'] === 'string' ? block['text'] : '')).join('');
}

function firstOf(list: JsonValue | undefined): JsonObject | undefined {
  const first = Array.isArray(list) ? list[0] : undefined;
  return isJsonObject(first) ? first : undefined;
}

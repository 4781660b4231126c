import type { Family } from '../family.js';
import type { AnswerTexts } from './answer-texts.js';
import { AnthropicStream } from './anthropic-stream.js';
import { OpenAiStream } from './openai-stream.js';
import type { StreamReader } from './stream-event.js';

export function streamReader(family: Family, texts: AnswerTexts, wantsUsage: boolean): StreamReader {
  return family === 'openai' ? new OpenAiStream(texts, wantsUsage) : new AnthropicStream(texts);
}

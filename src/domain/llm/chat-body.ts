import type { JsonObject } from '../json.js';
import type { Family } from './family.js';
import { DEFAULT_MAX_TOKENS } from './model-call.js';

export interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

/** The interface's chat request, as the provider of the model takes it. Anthropic's format has the system's words apart. */
export function chatBody(family: Family, model: string, messages: readonly ChatMessage[], maxTokens?: number): JsonObject {
  const all = messages.map(({ role, content }) => ({ role, content }));
  const bound: JsonObject = maxTokens === undefined ? {} : { max_tokens: maxTokens };
  if (family === 'openai') return { model, messages: all, ...bound };
  const system = all.filter(({ role }) => role === 'system').map(({ content }) => content);
  return {
    model, max_tokens: DEFAULT_MAX_TOKENS, ...bound, messages: all.filter(({ role }) => role !== 'system'),
    ...(system.length === 0 ? {} : { system: system.join('\n\n') }),
  };
}

import type { JsonObject } from '../json.js';

/** Whose wire format a provider speaks. */
export const FAMILIES = ['openai', 'anthropic'] as const;
export type Family = (typeof FAMILIES)[number];

/** Where a completion is asked for, below the provider's base URL. */
export const COMPLETION_PATH: Readonly<Record<Family, string>> = { openai: '/chat/completions', anthropic: '/v1/messages' };

/** Tokens as the provider counted them; 0 where it has not said. */
export interface TokenUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export const NO_USAGE: TokenUsage = { promptTokens: 0, completionTokens: 0 };

/** What is kept of an answer: counts and words of the provider's, never a text of the model's. */
export interface AnswerFacts {
  readonly usage: TokenUsage;
  /** The provider's word for why it ended, where it said one. */
  readonly finishReason?: string;
}

export const countIn = (object: JsonObject, name: string): number | undefined => {
  const value = object[name];
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
};

/** A word of the provider's, short enough to be one. */
export const wordIn = (object: JsonObject, name: string): string | undefined => {
  const value = object[name];
  return typeof value === 'string' && /^[a-z0-9_.-]{1,64}$/i.test(value) ? value : undefined;
};

/** Headers of a client's that go along to the provider, and belong to what people approve. */
export const PASSED_ON = ['anthropic-version', 'anthropic-beta'] as const;
export const ANTHROPIC_VERSION = '2023-06-01';

/** Those of some headers that belong to the call. */
export function passedOn(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(PASSED_ON.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]] as const] : [])));
}

import type { JsonObject } from '../json.js';

/** Asking a language model through the gateway. */
export const LLM_INVOKE = 'llm:invoke';
const BODY = 'body';
const HEADERS = 'headers';

/**
 * What the gate decides over: schema, conditions and limits. Of a model's call that people are asked about, the input also has the call
 * itself (`body`, and `headers` that go along), which is for them alone: the gate decides over the same members whether it asks or not.
 */
export function decidedInput(capability: string, input: JsonObject): JsonObject {
  if (!hasModelCall(capability, input)) return input;
  const { [BODY]: _, [HEADERS]: __, ...rest } = input;
  return rest;
}

/** Whether the input holds a model's call that runs as it stands: nobody edits it, and the gateway runs it. */
export function hasModelCall(capability: string, input: JsonObject): boolean {
  return capability === LLM_INVOKE && Object.hasOwn(input, BODY);
}

import { isJsonObject, type JsonObject } from '../../json.js';

/** Whose format a body has. */
export type ProviderFamily = 'openai' | 'anthropic';

/**
 * What stands in a member of a known body. `keep`: a name or an id that the format gives meaning to, in which only what is sure is looked
 * for where it has the form of one. `sealed`: bytes of the vendor's, left as they are where they look like such. `skip`: left whole.
 * `schema`: a JSON Schema, whose words are read and whose structure is left. Whatever is not named is read: texts, numbers and names of
 * members. An array has the shape of each of its elements.
 */
export type Shape = 'keep' | 'sealed' | 'skip' | 'schema' | ShapeMembers | undefined;

export interface ShapeMembers {
  readonly [member: string]: Shape;
}

const FUNCTION: ShapeMembers = { name: 'keep', description: undefined, parameters: 'schema' };
const CALL: ShapeMembers = { id: 'keep', type: 'keep', index: 'keep', function: { name: 'keep' }, custom: { name: 'keep' } };
const CHOICE: ShapeMembers = { type: 'keep', name: 'keep', function: { name: 'keep' }, custom: { name: 'keep' } };

/** Members of parts and blocks that are texts, or what holds them. */
const TEXTS = { text: undefined, refusal: undefined, citations: undefined, annotations: undefined, cache_control: undefined } as const;
const PART: ShapeMembers = { ...TEXTS, type: 'keep' };
const OPENAI_MESSAGE: ShapeMembers = {
  role: 'keep', tool_call_id: 'keep', content: PART, tool_calls: CALL, function_call: { name: 'keep' }, audio: { id: 'keep' },
  name: undefined, refusal: undefined, annotations: undefined, reasoning_content: undefined, reasoning: undefined,
};

const OPENAI: ShapeMembers = {
  model: 'keep', models: 'keep', messages: OPENAI_MESSAGE, prediction: { type: 'keep', content: PART }, functions: FUNCTION, seed: 'keep',
  max_tokens: 'keep', max_completion_tokens: 'keep', tool_choice: CHOICE, function_call: CHOICE,
  tools: { type: 'keep', function: FUNCTION, custom: { name: 'keep', format: { type: 'keep' } } },
  response_format: { type: 'keep', json_schema: { name: 'keep', schema: 'schema' } },
};

const CITATION: ShapeMembers = { type: 'keep', encrypted_index: 'sealed' };
const SOURCE: Record<string, Shape> = { type: 'keep', media_type: 'keep', data: undefined };
const BLOCK: Record<string, Shape> = {
  ...TEXTS, type: 'keep', id: 'keep', name: 'keep', tool_use_id: 'keep', signature: 'sealed', data: 'sealed', encrypted_content: 'sealed',
  tool_name: 'keep', citations: CITATION, thinking: undefined, input: undefined, is_error: undefined, title: undefined,
  context: undefined, url: undefined, page_age: undefined, retrieved_at: undefined, error_code: undefined, stdout: undefined,
  stderr: undefined, return_code: undefined, caller: undefined, server_name: undefined, source: SOURCE,
};
BLOCK['content'] = SOURCE['content'] = BLOCK;
const ANTHROPIC_MESSAGE: ShapeMembers = { role: 'keep', content: BLOCK };

const ANTHROPIC: ShapeMembers = {
  model: 'keep', system: BLOCK, messages: ANTHROPIC_MESSAGE, tool_choice: CHOICE, max_tokens: 'keep', container: 'keep', betas: 'keep',
  tools: { type: 'keep', name: 'keep', input_schema: 'schema' },
};

/** Of a call's body, by its family. */
export const REQUEST_SHAPES: Readonly<Record<ProviderFamily, ShapeMembers>> = { openai: OPENAI, anthropic: ANTHROPIC };

/** Of a whole answer's body, by its family. */
export const ANSWER_SHAPES: Readonly<Record<ProviderFamily, ShapeMembers>> = {
  openai: {
    id: 'keep', object: 'keep', created: 'keep', model: 'keep', system_fingerprint: 'keep', service_tier: 'keep', usage: 'skip',
    choices: { index: 'keep', finish_reason: 'keep', logprobs: 'skip', message: OPENAI_MESSAGE },
  },
  anthropic: {
    id: 'keep', type: 'keep', role: 'keep', model: 'keep', stop_reason: 'keep', usage: 'skip', container: 'keep', content: BLOCK,
  },
};

/** Of an event of Anthropic's stream: what comes whole in it. */
export const EVENT_SHAPE: ShapeMembers = {
  type: 'keep', index: 'keep', usage: 'skip', content_block: BLOCK, delta: { ...BLOCK, citation: CITATION, stop_reason: 'keep' },
};

/** Types of parts and blocks whose members above are all that they have. */
const TEXT_TYPES: ReadonlySet<unknown> = new Set([
  undefined, 'text', 'refusal', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result', 'server_tool_use', 'web_search_tool_result',
  'web_search_result', 'web_search_tool_result_error', 'web_fetch_tool_result', 'web_fetch_result', 'web_fetch_tool_result_error',
  'mcp_tool_use', 'mcp_tool_result', 'code_execution_tool_result', 'code_execution_result', 'code_execution_tool_result_error',
  'search_result', 'tool_reference', 'document',
]);
const MESSAGES: ReadonlySet<Shape> = new Set([OPENAI_MESSAGE, ANTHROPIC_MESSAGE]);
const PARTS: ReadonlySet<Shape> = new Set([PART, BLOCK, SOURCE]);

/**
 * Whether an object of a message may hold what no text scan reads, such as images, sound and files: it has a type or a member that is not
 * known to be text or structure. So what the vendors add later counts, too.
 */
export function isUnread(object: JsonObject, shape: Shape): boolean {
  const isPart = PARTS.has(shape);
  if (!isPart && !MESSAGES.has(shape)) return false;
  if (Object.keys(object).some((name) => !Object.hasOwn(shape as ShapeMembers, name))) return true;
  if (!isPart) return false;
  const { type, source } = object;
  if (shape === SOURCE) return type !== 'text' && type !== 'content';
  return !TEXT_TYPES.has(type) || (type === 'document' && !isJsonObject(source)) || ('data' in object && type !== 'redacted_thinking');
}

/** Blocks of their own words: no vendor seals anything of theirs. */
const OPEN_TYPES: ReadonlySet<unknown> = new Set([undefined, 'text', 'tool_use', 'tool_result', 'document']);

/** Whether an object may hold what a vendor has sealed. */
export function maySeal({ type }: JsonObject, shape: Shape): boolean {
  return shape === CITATION || !OPEN_TYPES.has(type);
}

/** Members of a JSON Schema whose texts are structure, not words. */
export const SCHEMA_STRUCTURE: ReadonlySet<string> = new Set(['type', 'format', 'pattern', 'required', '$ref', '$schema', '$id',
  '$anchor']);

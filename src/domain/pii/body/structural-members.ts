/** Whose format a body has. */
export type ProviderFamily = 'openai' | 'anthropic';

/**
 * What stands in a member of a known body. `keep`: a name or an id that the format gives meaning to, left as it is. `json`: JSON as a
 * text. `schema`: a JSON Schema, whose words are read and whose structure is left. `address`: a text, unless it is a `data:` address.
 * Whatever is not named is read: texts, numbers and names of members. An array has the shape of each of its elements.
 */
export type Shape = 'keep' | 'json' | 'schema' | 'address' | ShapeMembers | undefined;

export interface ShapeMembers {
  readonly [member: string]: Shape;
}

const FUNCTION: ShapeMembers = { name: 'keep', description: undefined, parameters: 'schema' };
const CALL: ShapeMembers = { id: 'keep', type: 'keep', index: 'keep', function: { name: 'keep', arguments: 'json' },
  custom: { name: 'keep' } };
const PART: ShapeMembers = { type: 'keep' };
const OPENAI_MESSAGE: ShapeMembers = {
  role: 'keep', tool_call_id: 'keep', content: PART, tool_calls: CALL, function_call: { name: 'keep', arguments: 'json' },
  audio: { id: 'keep' },
};

const OPENAI: ShapeMembers = {
  model: 'keep', models: 'keep', messages: OPENAI_MESSAGE, stream_options: 'keep', service_tier: 'keep', reasoning_effort: 'keep',
  verbosity: 'keep', modalities: 'keep', audio: 'keep', tool_choice: 'keep', function_call: 'keep', functions: FUNCTION, seed: 'keep',
  max_tokens: 'keep', max_completion_tokens: 'keep',
  tools: { type: 'keep', function: FUNCTION, custom: { name: 'keep', format: { type: 'keep' } } },
  response_format: { type: 'keep', json_schema: { name: 'keep', schema: 'schema' } },
};

const CACHE = 'keep';
const BLOCK: ShapeMembers = {
  type: 'keep', id: 'keep', name: 'keep', tool_use_id: 'keep', signature: 'keep', data: 'keep', cache_control: CACHE,
  encrypted_content: 'keep',
};
const RESULT_BLOCK: ShapeMembers = { ...BLOCK, content: BLOCK };

const ANTHROPIC: ShapeMembers = {
  model: 'keep', system: BLOCK, messages: { role: 'keep', content: RESULT_BLOCK }, tool_choice: 'keep', thinking: 'keep',
  service_tier: 'keep',
  max_tokens: 'keep', container: 'keep', betas: 'keep', cache_control: CACHE,
  tools: { type: 'keep', name: 'keep', input_schema: 'schema', cache_control: CACHE },
};

/** Of a call's body, by its family. */
export const REQUEST_SHAPES: Readonly<Record<ProviderFamily, ShapeMembers>> = { openai: OPENAI, anthropic: ANTHROPIC };

/** Of a whole answer's body, by its family. */
export const ANSWER_SHAPES: Readonly<Record<ProviderFamily, ShapeMembers>> = {
  openai: {
    id: 'keep', object: 'keep', created: 'keep', model: 'keep', system_fingerprint: 'keep', service_tier: 'keep', usage: 'keep',
    choices: { index: 'keep', finish_reason: 'keep', logprobs: 'keep', message: OPENAI_MESSAGE },
  },
  anthropic: {
    id: 'keep', type: 'keep', role: 'keep', model: 'keep', stop_reason: 'keep', usage: 'keep', container: 'keep', content: RESULT_BLOCK,
  },
};

/** Types of parts that hold what no text scan reads: images, sound, files. */
export const MEDIA_TYPES: ReadonlySet<unknown> = new Set([
  'image', 'image_url', 'input_image', 'audio', 'input_audio', 'video', 'file', 'input_file', 'document', 'container_upload',
]);

/** Members of a JSON Schema whose texts are structure, not words. */
export const SCHEMA_STRUCTURE: ReadonlySet<string> = new Set(['type', 'format', 'pattern', 'required', '$ref', '$schema', '$id',
  '$anchor']);

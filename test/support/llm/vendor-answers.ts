import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '../../../src/domain/json.js';
import type { ModelAnswer, ModelRequest } from './seen-call.js';

/** What a vendor answers here: the same bytes for the same call. */
export interface Said {
  readonly text?: string;
  /** Calls of tools, by name. */
  readonly tools?: Readonly<Record<string, unknown>>;
  /** Into how many characters a streamed text is cut. */
  readonly piece?: number;
  /** Milliseconds between events of a stream. */
  readonly everyMs?: number;
}

const CREATED = 1_790_000_000;
const USAGE = { prompt: 11, completion: 7 };

/** Answers a request of either family, whole or as a stream, as the request wants it. */
export function says(said: Said | ((request: ModelRequest) => Said)): ModelAnswer {
  return async (request, response) => {
    const what = typeof said === 'function' ? said(request) : said;
    const isOpenAi = request.path.endsWith('/chat/completions');
    if (request.body.stream !== true) return json(response, 200, isOpenAi ? completion(request, what) : message(request, what));
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    for (const event of isOpenAi ? chunks(request, what) : events(request, what)) {
      response.write(event);
      if (what.everyMs !== undefined) await pause(what.everyMs);
      if (response.destroyed) return;
    }
    response.end();
  };
}

/** A refusal or a failure, in the form of the family. */
export function refuses(status: number, text = 'no such thing', headers: Record<string, string> = {}): ModelAnswer {
  return ({ path }, response) => {
    const error = path.endsWith('/chat/completions')
      ? { error: { message: text, type: 'invalid_request_error', param: null, code: 'bad_thing' } }
      : { type: 'error', error: { type: 'invalid_request_error', message: text }, request_id: 'req_of_vendor' };
    json(response, status, error, headers);
  };
}

/** Without a script: echoes nothing, lists models, and refuses calls without the operator's key or form, as the vendors do. */
export const standingAnswer: ModelAnswer = (request, response) => {
  const { method, path, headers, body } = request;
  if (method === 'GET') return json(response, 200, modelList(headers['x-api-key'] !== undefined));
  if (path.endsWith('/count_tokens')) return json(response, 200, { input_tokens: 5 });
  if (path.endsWith('/messages') && (headers['anthropic-version'] === undefined || typeof body.max_tokens !== 'number')) {
    return refuses(400, 'max_tokens: Field required')(request, response);
  }
  return says({ text: 'Good morning to you' })(request, response);
};

export function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length, ...headers });
  response.end(bytes);
}

function modelList(isAnthropic: boolean): JsonObject {
  const at = new Date(CREATED * 1_000).toISOString();
  if (isAnthropic) {
    const data = [{ type: 'model', id: 'claude-test', display_name: 'Claude Test', created_at: at }];
    return { data, has_more: false, first_id: 'claude-test', last_id: 'claude-test' };
  }
  const data: JsonObject[] = [{ id: 'gpt-test', object: 'model', created: CREATED, owned_by: 'openai' }, { id: 'dall-e', object: 'model' }];
  return { object: 'list', data };
}

const toolCalls = ({ tools = {} }: Said) => Object.entries(tools).map(([name, input], index) => ({ name, input, id: `call_${index}` }));

function completion({ body }: ModelRequest, said: Said): JsonObject {
  const calls = toolCalls(said).map(({ id, name, input }) =>
    ({ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }));
  return {
    id: 'chatcmpl-1', object: 'chat.completion', created: CREATED, model: body.model!, system_fingerprint: 'fp_1', service_tier: 'default',
    choices: [{
      index: 0, logprobs: null, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
      message: { role: 'assistant', content: said.text ?? null, refusal: null, ...(calls.length > 0 ? { tool_calls: calls } : {}) },
    }],
    usage: { prompt_tokens: USAGE.prompt, completion_tokens: USAGE.completion, total_tokens: USAGE.prompt + USAGE.completion },
  };
}

function* chunks({ body }: ModelRequest, said: Said): Generator<string> {
  const wantsUsage = (body.stream_options as JsonObject | undefined)?.include_usage === true;
  const chunk = (choices: unknown[], more: object = {}) => `data: ${JSON.stringify({
    id: 'chatcmpl-1', object: 'chat.completion.chunk', created: CREATED, model: body.model, system_fingerprint: 'fp_1',
    ...(wantsUsage ? { usage: null } : {}), choices, ...more,
  })}\n\n`;
  const delta = (members: object, end: string | null = null) => chunk([{ index: 0, delta: members, logprobs: null, finish_reason: end }]);
  yield delta({ role: 'assistant', content: said.text === undefined ? null : '', refusal: null });
  for (const piece of pieces(said.text ?? '', said.piece)) yield delta({ content: piece });
  const calls = toolCalls(said);
  for (const [index, { id, name, input }] of calls.entries()) {
    yield delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
    for (const piece of pieces(JSON.stringify(input), said.piece)) yield delta({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  yield delta({}, calls.length > 0 ? 'tool_calls' : 'stop');
  const usage = { prompt_tokens: USAGE.prompt, completion_tokens: USAGE.completion, total_tokens: USAGE.prompt + USAGE.completion };
  if (wantsUsage) yield chunk([], { usage });
  yield 'data: [DONE]\n\n';
}

function blocksOf(said: Said): JsonObject[] {
  return [
    ...(said.text === undefined ? [] : [{ type: 'text', text: said.text }]),
    ...toolCalls(said).map(({ id, name, input }) => ({ type: 'tool_use', id, name, input: input as JsonObject })),
  ];
}

function message({ body }: ModelRequest, said: Said): JsonObject {
  return {
    id: 'msg_1', type: 'message', role: 'assistant', model: body.model!, content: blocksOf(said),
    stop_reason: said.tools ? 'tool_use' : 'end_turn', stop_sequence: null,
    usage: { input_tokens: USAGE.prompt, output_tokens: USAGE.completion, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  };
}

function* events({ body }: ModelRequest, said: Said): Generator<string> {
  const event = (type: string, members: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  yield event('message_start', {
    message: {
      ...message({ body } as ModelRequest, {}), content: [], stop_reason: null, usage: { input_tokens: USAGE.prompt, output_tokens: 1 },
    },
  });
  yield event('ping', {});
  for (const [index, block] of blocksOf(said).entries()) {
    const isText = block.type === 'text';
    yield event('content_block_start', { index, content_block: isText ? { type: 'text', text: '' } : { ...block, input: {} } });
    for (const piece of pieces(isText ? (block.text as string) : JSON.stringify(block.input), said.piece)) {
      const delta = isText ? { type: 'text_delta', text: piece } : { type: 'input_json_delta', partial_json: piece };
      yield event('content_block_delta', { index, delta });
    }
    yield event('content_block_stop', { index });
  }
  const end = { stop_reason: said.tools ? 'tool_use' : 'end_turn', stop_sequence: null };
  yield event('message_delta', { delta: end, usage: { output_tokens: USAGE.completion } });
  yield event('message_stop', {});
}

function pieces(text: string, size = 5): string[] {
  const characters = [...text];
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, at) => characters.slice(at * size, (at + 1) * size).join(''));
}

import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import type { Family } from './family.js';

/** Tokens that a call may cost where it names no bound itself. */
export const DEFAULT_MAX_TOKENS = 4_096;
/** What an image, a sound or a file is reckoned at. */
const MEDIA_TOKENS = 1_000;
const BYTES_OF_A_TOKEN = 4;
const MODEL_MAX = 200;
const CHOICES_MAX = 128;
const TOKENS_MAX = Number.MAX_SAFE_INTEGER / CHOICES_MAX;

/** What a call's body says of the call. */
export interface ModelCall {
  readonly model: string;
  /** The most tokens that all its choices together may have. */
  readonly maxTokens: number;
  readonly stream: boolean;
  /** How many tools the model is offered. */
  readonly tools: number;
  /** Whether the client itself asked for the usage of its stream. */
  readonly wantsUsage: boolean;
}

export interface CallError {
  readonly pointer: string;
  readonly message: string;
}

/** Reads what the gate decides over. All else of the body is the provider's to judge. */
export function readModelCall(family: Family, body: JsonObject): { readonly call: ModelCall } | { readonly errors: readonly CallError[] } {
  const errors: CallError[] = [];
  const { model, messages, stream, tools, functions, stream_options: options } = body;
  if (typeof model !== 'string' || model === '' || model.length > MODEL_MAX) {
    errors.push({ pointer: '/model', message: `must be the name of a model, of 1 to ${MODEL_MAX} characters` });
  }
  if (!Array.isArray(messages) || messages.length === 0) {
    errors.push({ pointer: '/messages', message: 'must be a list of one message or more' });
  }
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean') {
    errors.push({ pointer: '/stream', message: 'must be true or false' });
  }
  const bounds = family === 'openai' ? ['max_completion_tokens', 'max_tokens'] : ['max_tokens'];
  // A provider may read either of them.
  const given = bounds.flatMap((name) => wholeNumber(body, name, TOKENS_MAX, errors) ?? []);
  const max = given.length === 0 ? DEFAULT_MAX_TOKENS : Math.max(...given);
  const choices = family === 'openai' ? (wholeNumber(body, 'n', CHOICES_MAX, errors) ?? 1) : 1;
  if (errors.length > 0) return { errors };
  const offered = [tools, functions].reduce<number>((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
  const wantsUsage = isJsonObject(options) && options['include_usage'] === true;
  return { call: { model: model as string, maxTokens: max * choices, stream: stream === true, tools: offered, wantsUsage } };
}

function wholeNumber(body: JsonObject, name: string, max: number, errors: CallError[]): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return value;
  errors.push({ pointer: `/${name}`, message: `must be a whole number from 1 to ${Math.floor(max)}` });
  return undefined;
}

/** Members that may hold bytes of an image, of sound or of a file. What stands elsewhere is words to a provider. */
const BYTES_IN: ReadonlySet<string | undefined> = new Set(['data', 'url', 'image_url', 'file_data']);

/** Bytes in base64, of something else than text. */
function isEncoded(value: string, name: string | undefined): boolean {
  if (!BYTES_IN.has(name)) return false;
  const begin = /^data:(?!text\/)[\w./+-]+(?:;[\w.=-]+)*;base64,/.exec(value)?.[0].length ?? (name === 'data' ? 0 : undefined);
  return begin !== undefined && /^[A-Za-z0-9+/_-]*={0,2}$/.test(value.slice(begin));
}

/** How many tokens the texts of a body have, roughly: a quarter of their bytes in UTF-8. */
export function estimateTokens(body: JsonValue): number {
  let bytes = 0;
  let media = 0;
  const visit = (value: JsonValue, name?: string): void => {
    if (typeof value === 'string') {
      if (value.length > 1_000 && isEncoded(value, name)) media++;
      else bytes += Buffer.byteLength(value);
    } else if (Array.isArray(value)) for (const item of value) visit(item);
    else if (isJsonObject(value)) for (const [member, item] of Object.entries(value)) visit(item, member);
  };
  visit(body);
  return Math.ceil(bytes / BYTES_OF_A_TOKEN) + media * MEDIA_TOKENS;
}

/** SHA-256 over the nonce and what goes out, in base64url: whoever kept the call can show that it is this one. */
export function callDigest(nonce: string, body: string): string {
  return createHash('sha256').update(nonce).update(body).digest('base64url');
}

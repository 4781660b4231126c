import { createHash } from 'node:crypto';
import type { JsonValue } from '../../../domain/json.js';
import { parseStrictJson } from '../../../platform/http/request/strict-json.js';

/** The most bytes of JSON an output has: it is kept in the execution and shown in its answer. */
export const OUTPUT_BYTES_MAX = 256 * 1024;
const QUOTED_MAX = 100;

/**
 * The output of an answer's body. A receiver that has acted must not make the execution fail by a body that we cannot
 * keep, so every body has one:
 * nothing → `null`; JSON that is I-JSON (RFC 7493) → its value; other text → `{text}`, with NUL and what is not UTF-8
 * replaced by U+FFFD; anything else, or more than 256 KiB of JSON → `{omitted, bytes, sha256}`.
 */
export function outputOf(body: Buffer, headers: Readonly<Record<string, string>>): JsonValue {
  if (body.length === 0) return null;
  const { 'content-type': contentType, 'content-encoding': encoding = 'identity' } = headers;
  // We ask for none; a receiver that encodes all the same has its body described, not guessed at.
  if (encoding.toLowerCase() !== 'identity') return omitted(body, `a body encoded as ${quoted(encoding)}`);
  const type = (contentType ?? '').split(';')[0]!.trim().toLowerCase();
  const parsed = isJson(type) ? parseStrictJson(body) : undefined;
  if (parsed?.ok && fits(parsed.value)) return parsed.value;
  if (!isJson(type) && !isText(type)) return omitted(body, `a body of type ${quoted(contentType!)}`);
  // Duplicate members, numbers beyond the doubles and broken JSON are kept as the text they came as.
  const text = { text: new TextDecoder('utf-8').decode(body).replaceAll('\u0000', '\ufffd') };
  return fits(text) ? text : omitted(body, 'more than 256 KiB');
}

function isJson(type: string): boolean {
  return /^(application|text)\/([a-z0-9.-]+\+)?json$/.test(type);
}

function isText(type: string): boolean {
  if (type === '' || type.startsWith('text/')) return true;
  return /^application\/(xml|[a-z0-9.-]+\+xml|x-www-form-urlencoded|x-ndjson|yaml)$/.test(type);
}

function fits(value: JsonValue): boolean {
  return Buffer.byteLength(JSON.stringify(value)) <= OUTPUT_BYTES_MAX;
}

/** A header as it came, or nothing of it: secrets are cut out later, and neither a part of one nor one in lower case would be known. */
function quoted(value: string): string {
  return value.length <= QUOTED_MAX && /^[\x20-\x7e]*$/.test(value) ? value : '(not shown)';
}

function omitted(body: Buffer, why: string): JsonValue {
  return { omitted: why, bytes: body.length, sha256: createHash('sha256').update(body).digest('hex') };
}

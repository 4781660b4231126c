import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { JsonValue } from '../../../domain/json.js';
import { Problem } from '../reply/problem.js';
import { parseStrictJson } from './strict-json.js';

export interface BodyLimits {
  /** Bytes. */
  limit: number;
  /** Longer or shorter limits by the beginning of the path; the first that fits counts. */
  prefixes?: readonly { prefix: string; limit: number }[];
}

export const DEFAULT_BODY_LIMIT = 256 * 1024;

/** What came with a request. Refusals wait here until somebody wants the body, so that the guard answers first. */
type Body = { kind: 'bytes'; bytes: Buffer } | { kind: 'too_large'; limit: number } | { kind: 'encoded' };

const NO_BODY: Body = { kind: 'bytes', bytes: Buffer.alloc(0) };
const bodies = new WeakMap<IncomingMessage, Body>();
// An interceptor that looks at the body reads the same value as the handler, once.
const values = new WeakMap<IncomingMessage, JsonValue>();

// A caller who is still writing sees our answer only if we keep reading: closing a socket with unread bytes resets
// the connection. So what is too large is read on and thrown away, for a while.
const LINGER_BYTES = 8 * 1024 * 1024;
const LINGER_MS = 2_000;

/**
 * Collects the body's raw bytes and never refuses: authentication answers 401 before anything is said about a body.
 * A caller who goes away while sending ends here; a slow one is cut off by the server's `requestTimeout`.
 */
export function readBodies(limits: BodyLimits): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const { headers } = request;
    if (headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0') return next();
    // Stream events run in the connection's context, so the request's own is kept and entered again.
    // (AsyncResource.bind does the same at ten times the price on Node 20.)
    const context = new AsyncResource('Body');
    const proceed = () => context.runInAsyncScope(next as () => void);
    const encoding = headers['content-encoding'];
    const encoded = encoding !== undefined && encoding.trim().toLowerCase() !== 'identity';
    const limit = limitFor(request.path, limits);
    if (encoded || Number(headers['content-length']) > limit) {
      discard(request, response, encoded ? { kind: 'encoded' } : { kind: 'too_large', limit }, proceed);
      return;
    }
    collect(request, response, limit, proceed);
  };
}

function limitFor(path: string, { limit, prefixes = [] }: BodyLimits): number {
  const lower = path.toLowerCase();
  return prefixes.find(({ prefix }) => lower.startsWith(prefix))?.limit ?? limit;
}

function collect(request: Request, response: Response, limit: number, proceed: () => void): void {
  let chunks: Buffer[] = [];
  let size = 0;
  const stop = () => {
    request.off('data', onData);
    request.off('end', onEnd);
    request.off('close', stop);
    chunks = [];
  };
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    if (size <= limit) {
      chunks.push(chunk);
      return;
    }
    stop();
    discard(request, response, { kind: 'too_large', limit }, proceed);
  };
  const onEnd = () => {
    bodies.set(request, { kind: 'bytes', bytes: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size) });
    stop();
    proceed();
  };
  request.on('data', onData);
  request.on('end', onEnd);
  request.on('close', stop);
  // Without a listener an aborted upload would be an uncaught error; `close` follows and cleans up.
  request.on('error', () => undefined);
}

/** Goes on once the rest has been read and dropped, or is too much or too slow to wait for. The connection ends then. */
function discard(request: Request, response: Response, body: Body, proceed: () => void): void {
  bodies.set(request, body);
  response.setHeader('Connection', 'close');
  let dropped = 0;
  const timer = setTimeout(finish, LINGER_MS);
  const onData = (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > LINGER_BYTES) finish();
  };
  function finish() {
    stop();
    proceed();
  }
  function stop() {
    clearTimeout(timer);
    request.off('data', onData);
    request.off('end', finish);
    request.off('close', stop);
    request.resume();
  }
  request.on('data', onData);
  request.on('end', finish);
  request.on('close', stop);
  request.on('error', () => undefined);
}

/**
 * The body's raw bytes, for signatures over them; empty when there was none.
 * @throws Problem 413, or 415 for a compressed body.
 */
export function bodyBytes(request: IncomingMessage): Buffer {
  const body = bodies.get(request) ?? NO_BODY;
  if (body.kind === 'bytes') return body.bytes;
  if (body.kind === 'encoded') {
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding.');
  }
  throw new Problem('BODY_TOO_LARGE', `The body may have up to ${body.limit} bytes.`);
}

const JSON_TYPE = /^application\/(?:json|[!#$&^_.+a-z0-9-]+\+json)$/;

/**
 * The body as JSON, read strictly; no body is `{}`.
 * @throws Problem 400 with the position of the fault, 413 or 415.
 */
export function parsedBody(request: IncomingMessage): JsonValue {
  const known = values.get(request);
  if (known !== undefined) return known;
  const bytes = bodyBytes(request);
  if (bytes.length === 0) return {};
  if (!hasMediaType(request, (type) => JSON_TYPE.test(type))) {
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', 'Send JSON in UTF-8, with the header Content-Type: application/json.');
  }
  const result = parseStrictJson(bytes);
  if (result.ok) {
    values.set(request, result.value);
    return result.value;
  }
  throw new Problem('VALIDATION_FAILED', 'The body cannot be read.', {
    errors: [{ pointer: result.pointer, message: result.message }],
  });
}

/**
 * The body as form fields (`application/x-www-form-urlencoded`), for the few routes that a browser's form or a chat
 * service calls.
 * @throws Problem 413 or 415.
 */
export function formBody(request: IncomingMessage): URLSearchParams {
  const bytes = bodyBytes(request);
  if (bytes.length > 0 && !hasMediaType(request, (type) => type === 'application/x-www-form-urlencoded')) {
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', 'Send a form, with Content-Type: application/x-www-form-urlencoded.');
  }
  return new URLSearchParams(bytes.toString('utf8'));
}

function hasMediaType(request: IncomingMessage, accepted: (type: string) => boolean): boolean {
  const header = request.headers['content-type'];
  if (header === 'application/json') return accepted(header);
  const [type = '', ...parameters] = (header ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  const utf8 = charset === undefined || /^charset=(?:utf-?8|"utf-?8")$/.test(charset);
  return utf8 && accepted(type.trim());
}

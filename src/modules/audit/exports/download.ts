import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { formatOf, type FileFormat } from './export.dto.js';

/** Texts are joined to pieces of about this size, in characters: each piece on its way costs as much as another. */
const PIECE = 64 * 1024;

/** How long a reader is waited for, in milliseconds. */
export interface Patience {
  /** Who takes nothing for so long is cut off: a snapshot waits for them, which keeps the database from tidying up. */
  readonly stalledMs: number;
  /** And nobody is waited for longer than this. */
  readonly longestMs: number;
}

const PATIENCE: Patience = { stalledMs: 60_000, longestMs: 60 * 60_000 };
/** The longest pause is looked for this many times within it. */
const LOOKS = 12;

const TYPES = { jsonl: 'application/x-ndjson', json: 'application/json', csv: 'text/csv' } as const;

export interface Download {
  /** Of the file, without its ending. */
  readonly name: string;
  readonly format: FileFormat;
  /** Ends it before its time. */
  readonly signal: AbortSignal;
}

/** Says what comes, before anything does. */
export function announce(request: Request, response: Response, { name, format }: Omit<Download, 'signal'>): void {
  const { text, isCompressed } = formatOf(format);
  response.status(200);
  response.setHeader('Content-Type', isCompressed ? 'application/gzip' : `${TYPES[text]}; charset=utf-8`);
  response.setHeader('Content-Disposition', `attachment; filename="${name}.${format}"`);
  response.setHeader('Vary', 'Accept-Encoding');
  if (!isCompressed && request.acceptsEncodings('gzip', 'identity') === 'gzip') response.setHeader('Content-Encoding', 'gzip');
}

/**
 * Sends a file as it is made, as fast as it is taken. What fails, or is cut off, breaks the connection: half a file must not look
 * like a whole one.
 *
 * @throws Error when it could not be sent to its end
 */
export async function send(
  response: ServerResponse, texts: AsyncIterable<string>, download: Download, patience: Patience = PATIENCE,
): Promise<void> {
  const isCompressed = formatOf(download.format).isCompressed || response.getHeader('Content-Encoding') === 'gzip';
  const stall = new AbortController();
  const signal = AbortSignal.any([download.signal, stall.signal]);
  const ending = watchProgress(response, patience, (reason) => stall.abort(new Error(reason)));
  try {
    // Quickly rather than tightly: the processor is shared with the calls.
    if (isCompressed) await pipeline(pieces(texts), createGzip({ level: constants.Z_BEST_SPEED }), response, { signal });
    else await pipeline(pieces(texts), response, { signal });
  } finally {
    ending();
  }
}

async function* pieces(texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let parts: string[] = [];
  let length = 0;
  for await (const text of texts) {
    parts.push(text);
    length += text.length;
    if (length < PIECE) continue;
    yield Buffer.from(parts.join(''), 'utf8');
    parts = [];
    length = 0;
  }
  if (length > 0) yield Buffer.from(parts.join(''), 'utf8');
}

/** Calls back once the client has taken nothing of what waits for it for too long. @returns how to end the watch */
function watchProgress(
  response: ServerResponse, { stalledMs, longestMs }: Patience, onStall: (reason: string) => void,
): () => void {
  const begun = performance.now();
  let last = begun;
  let taken = 0;
  const timer = setInterval(() => {
    const { socket, writableLength } = response;
    const now = performance.now();
    const waits = writableLength > 0 || (socket?.writableLength ?? 0) > 0;
    const gone = (socket?.bytesWritten ?? 0) - (socket?.writableLength ?? 0);
    if (!waits || gone !== taken) last = now;
    taken = gone;
    if (now - last >= stalledMs) onStall('the reader takes nothing any more');
    else if (now - begun >= longestMs) onStall('it takes too long');
  }, stalledMs / LOOKS).unref();
  return () => clearInterval(timer);
}

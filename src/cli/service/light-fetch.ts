import { request as byHttp, type IncomingMessage } from 'node:http';
import { request as byHttps } from 'node:https';
import { ReadableStream } from 'node:stream/web';
import { CountersignError } from '@countersign/sdk';

const WITHOUT_BODY = [204, 205, 304];
/** Statuses after which a call is sent again; for how long, where there was no other answer yet: a person waits before the terminal. */
const PASSING = [429, 502, 503, 504];
const PATIENCE_MS = 8_000;

/** Before there was a connection: whoever asks again at once hears the same. */
const NOBODY_THERE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nothing listens at', EHOSTUNREACH: 'No way leads to', ENETUNREACH: 'No way leads to',
  ENOTFOUND: 'No host is known by the name in', EAI_AGAIN: 'No host is known by the name in',
};
const WHAT_TO_DO = 'start the server (npm start), or name another one by --url or COUNTERSIGN_URL';

/**
 * `fetch` as far as the client needs it, by `node:http`: Node's own compiles a parser when it is first called, which takes more processor
 * time than all else that a command does. Redirections are not followed. A service that was never there is not waited for.
 */
export function lightFetch(): typeof fetch {
  let hasAnswered = false;
  const began = performance.now();
  return (input, { method = 'GET', headers, body, signal } = {}) => new Promise((resolve, reject) => {
    const url = new URL(input as string);
    const send = url.protocol === 'https:' ? byHttps : byHttp;
    const outgoing = send(url, { method, headers: Object.fromEntries(new Headers(headers)), ...(signal ? { signal } : {}) }, (message) => {
      hasAnswered ||= !PASSING.includes(message.statusCode ?? 0);
      try {
        resolve(responseOf(message, !hasAnswered && performance.now() - began > PATIENCE_MS));
      } catch (error) {
        message.destroy();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    outgoing.once('error', (error: NodeJS.ErrnoException) => reject(hasAnswered ? error : nobodyThere(error, url)));
    outgoing.end(body as string | undefined);
  });
}

function nobodyThere(error: NodeJS.ErrnoException, { origin }: URL): Error {
  const what = NOBODY_THERE[error.code ?? ''];
  if (what === undefined) return error;
  return new CountersignError('UNREACHABLE', { detail: `${what} ${origin}: ${WHAT_TO_DO}.`, retryAfterMs: Infinity, cause: error });
}

function responseOf(message: IncomingMessage, isFinal: boolean): Response {
  const { statusCode: status = 0, rawHeaders } = message;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  // The client would come back until its deadline, which is as long as an action may take.
  if (isFinal) headers.set('retry-after', '86400');
  const body = WITHOUT_BODY.includes(status) ? null : ReadableStream.from<Uint8Array>(message);
  if (body === null) message.resume();
  return new Response(body as globalThis.ReadableStream<Uint8Array<ArrayBuffer>> | null, { status, headers });
}

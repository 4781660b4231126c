import { request as byHttp, type IncomingMessage } from 'node:http';
import { request as byHttps } from 'node:https';
import { ReadableStream } from 'node:stream/web';

const WITHOUT_BODY = [204, 205, 304];

/**
 * `fetch` as far as the client needs it, by `node:http`: Node's own compiles a parser when it is first called, which takes more processor
 * time than all else that a command does. Redirections are not followed.
 */
export const lightFetch: typeof fetch = (input, { method = 'GET', headers, body, signal } = {}) => new Promise((resolve, reject) => {
  const url = new URL(input as string);
  const send = url.protocol === 'https:' ? byHttps : byHttp;
  const outgoing = send(url, { method, headers: Object.fromEntries(new Headers(headers)), ...(signal ? { signal } : {}) }, (message) => {
    try {
      resolve(responseOf(message));
    } catch (error) {
      message.destroy();
      reject(error instanceof Error ? error : new Error(String(error)));
    }
  });
  outgoing.once('error', reject);
  outgoing.end(body as string | undefined);
});

function responseOf(message: IncomingMessage): Response {
  const { statusCode: status = 0, rawHeaders } = message;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  const body = WITHOUT_BODY.includes(status) ? null : ReadableStream.from<Uint8Array>(message);
  if (body === null) message.resume();
  return new Response(body as globalThis.ReadableStream<Uint8Array<ArrayBuffer>> | null, { status, headers });
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../../src/domain/json.js';
import { eventually } from '../running/eventually.js';
import type { ModelAnswer, ModelRequest } from './seen-call.js';
import { standingAnswer } from './vendor-answers.js';

export interface ModelProvider {
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  /** Variables of a server that has it for both families. */
  readonly env: Readonly<Record<string, string>>;
  /** The next requests get these answers in turn; after them, the standing one again. */
  script(...answers: ModelAnswer[]): void;
  /** What every request without a scripted answer gets. */
  standing(answer: ModelAnswer): void;
  received(count: number): Promise<readonly ModelRequest[]>;
  /** The newest request. */
  last(): ModelRequest;
  close(): Promise<void>;
}

export const OPENAI_KEY = 'sk-of-the-operator-openai';
export const ANTHROPIC_KEY = 'sk-ant-of-the-operator';

/** A real HTTP server on this machine in the place of both vendors: it speaks their formats, checks calls' form, and keeps the bytes. */
export async function startModelProvider(): Promise<ModelProvider> {
  const requests: ModelRequest[] = [];
  const scripted: ModelAnswer[] = [];
  let standing: ModelAnswer = standingAnswer;
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const request: ModelRequest = {
        method: incoming.method ?? '', path: (incoming.url ?? '').replace(/\?.*$/, ''), headers: incoming.headers, text,
        body: text === '' ? {} : (JSON.parse(text) as JsonObject),
        over: new Promise((resolve) => response.once('close', resolve)),
      };
      requests.push(request);
      // A caller that gave up in the middle of an answer is what some tests are about.
      Promise.resolve((scripted.shift() ?? standing)(request, response)).catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url, requests,
    env: {
      OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: OPENAI_KEY, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: ANTHROPIC_KEY,
    },
    script: (...answers) => void scripted.push(...answers),
    standing: (next) => {
      standing = next;
    },
    received: (count) => eventually(() => {
      if (requests.length < count) throw new Error(`the provider got ${requests.length} of ${count} requests`);
      return requests;
    }),
    last: () => requests.at(-1)!,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

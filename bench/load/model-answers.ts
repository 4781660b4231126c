// What a model answers in a benchmark: at once, and as much as the call's `max_tokens` says, a chunk for each token.
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';

const CONTENT = 'The parcel left the warehouse this morning and should be with you tomorrow. '.repeat(6);
const COMPLETION = JSON.stringify({
  id: 'chatcmpl-1', object: 'chat.completion', created: 1_790_000_000, model: 'gpt-bench', system_fingerprint: 'fp_1',
  choices: [{ index: 0, logprobs: null, finish_reason: 'stop', message: { role: 'assistant', content: CONTENT, refusal: null } }],
  usage: { prompt_tokens: 512, completion_tokens: 96, total_tokens: 608 },
});
const chunk = (delta: object, end: string | null = null) => `data: ${JSON.stringify({
  id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'gpt-bench', system_fingerprint: 'fp_1',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: end }],
})}\n\n`;
const WORDS = 'The parcel left the warehouse this morning and should be with you tomorrow, so please be at home. '.split(' ');
const CHUNKS = WORDS.map((word) => chunk({ content: `${word} ` }));

/** When callers went before they had the whole answer, in milliseconds since 1970. */
export const leftAt: number[] = [];

export async function answerAsModel(text: string, response: ServerResponse): Promise<void> {
  const { stream, max_tokens: count = 100 } = JSON.parse(text) as { stream?: boolean; max_tokens?: number };
  response.once('close', () => response.writableFinished || leftAt.push(performance.timeOrigin + performance.now()));
  // Never answered: its caller will go.
  if (count === 1) {
    if (stream) response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(CHUNKS[0]);
    return;
  }
  if (stream !== true) {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(COMPLETION) }).end(COMPLETION);
    return;
  }
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (let at = 0; at < count && !response.destroyed; at++) {
    const hasRoom = response.write(CHUNKS[at % CHUNKS.length]);
    await (hasRoom ? nextTurn() : new Promise((done) => response.once('drain', done).once('close', done)));
  }
  response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
}

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { send, type Patience } from './download.js';

const LINE = 'x'.repeat(1_000);

let server: Server;
let answer: (response: ServerResponse) => void;

beforeAll(async () => {
  server = createServer((_request, response) => answer(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => void server.close());

/** Far more text than any buffer on the way holds; tells how much was made, and whether its maker was let go. */
function endless() {
  const made = { lines: 0, released: false };
  const texts = async function* () {
    try {
      for (;;) {
        made.lines++;
        yield LINE;
        await pause(0);
      }
    } finally {
      made.released = true;
    }
  };
  return { made, texts };
}

/** Sends it to a client who asks and then does as it is told. */
async function sendTo(client: (socket: Socket) => void, patience: Patience, signal = new AbortController().signal) {
  const { made, texts } = endless();
  const sent = new Promise<unknown>((resolve) => {
    answer = (response) => {
      send(response, texts(), { name: 'a', format: 'jsonl', signal }, patience).then(() => resolve(undefined), resolve);
    };
  });
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  client(socket);
  const error = (await sent) as Error & { code?: string; cause?: unknown };
  socket.destroy();
  return { error, made };
}

const PATIENT: Patience = { stalledMs: 60_000, longestMs: 60_000 };

describe('a download', () => {
  it('of a client who reads nothing ends, and what made it is let go', async () => {
    const { error, made } = await sendTo(() => undefined, { stalledMs: 600, longestMs: 60_000 });
    expect([error.name, String(error.cause)]).toEqual(['AbortError', 'Error: the reader takes nothing any more']);
    expect(made.released).toBe(true);
    // Made only as far as buffers took it.
    expect(made.lines * LINE.length).toBeLessThan(32 * 1024 * 1024);
  });

  it('of a client who reads goes on beyond that', async () => {
    const { error } = await sendTo((socket) => void socket.resume(), { stalledMs: 300, longestMs: 1_500 });
    expect(String(error.cause)).toBe('Error: it takes too long');
  });

  it('of a client who leaves ends', async () => {
    const { error, made } = await sendTo((socket) => void setTimeout(() => socket.destroy(), 100), PATIENT);
    expect(error.code).toBe('ERR_STREAM_PREMATURE_CLOSE');
    expect(made.released).toBe(true);
  });

  it('ends when it is told to', async () => {
    const cut = new AbortController();
    setTimeout(() => cut.abort(new Error('over')), 100);
    const { error, made } = await sendTo(() => undefined, PATIENT, cut.signal);
    expect(String(error.cause)).toBe('Error: over');
    expect(made.released).toBe(true);
  });
});

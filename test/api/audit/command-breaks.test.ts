import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { countersign } from '../../support/servers/command-line.js';

// A command that breaks off has found nothing: its exit code is not the one of "tampered with".

/** Of PostgreSQL's protocol: a letter, how long the rest is, and the rest. */
function message(letter: string, rest: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(rest.length + length.length);
  return Buffer.concat([Buffer.from(letter), length, rest]);
}

const LET_IN = message('R', Buffer.alloc(4));
const READY = message('Z', Buffer.from('I'));
/** Says that columns follow, and none do: whoever reads them reads beyond the end. */
const CUT_OFF = message('T', Buffer.from([0x7f, 0xff]));

let server: Server;
let url: string;

beforeAll(async () => {
  server = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(Buffer.concat([LET_IN, READY]));
      socket.on('data', () => socket.write(CUT_OFF));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `postgres://someone@127.0.0.1:${(server.address() as { port: number }).port}/countersign?sslmode=disable`;
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

const COMMANDS = [['verify', '--no-remember'], ['export', '--out', '/dev/null']];
const AUDIT_SIGNING_KEY = Buffer.alloc(32).toString('base64');

test.each(COMMANDS)('audit %s that breaks off says so in a sentence, and ends with 2', async (...words) => {
  const { code, stdout, stderr } = await countersign(['audit', ...words, '--database-url', url], { AUDIT_SIGNING_KEY });
  expect(stdout).toBe('');
  expect(stderr).toMatch(/countersign: broke off by an unexpected error, without an outcome \([^\n]+\)\n$/);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(code).toBe(2);
});

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asRoot } from '../../support/http/actors.js';
import { eventually } from '../../support/running/eventually.js';
import { pause } from '../../support/proofs/races.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { startSmtp, type TestSmtp } from '../../support/http/smtp-server.js';

/** Longer than what a server hands to itself is its own for, and shorter than a mail may take. */
const SLOW_MS = 6_500;

let smtp: TestSmtp;
let server: TestServer;

beforeAll(async () => {
  smtp = await startSmtp({ slowMs: SLOW_MS });
  const env = { SMTP_HOST: '127.0.0.1', SMTP_PORT: String(smtp.port), SMTP_FROM: 'Countersign <countersign@example.test>' };
  server = await startServer({ env });
});
afterAll(async () => {
  await server.stop();
  await smtp.close();
});

test('a mail server that takes its time is sent each mail once', async () => {
  const begun = await asRoot(server).post('/api/v1/users/invitations', { email: 'slow@example.test', role: 'member' });
  begun.expect(201);
  await pause(SLOW_MS);
  await eventually(async () => {
    expect(await server.sql(`select attempts from outbox where kind = 'mail.send'`)).toEqual([]);
  });
  expect(smtp.mails.map(({ to }) => to)).toEqual([['slow@example.test']]);
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot } from '../../support/http/actors.js';
import { eventually } from '../../support/running/eventually.js';
import { aVisitor } from '../../support/sign-in/passwords.js';
import { aPerson } from '../../support/builders/people.js';
import { freePort } from '../../support/servers/server-process.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { startSmtp, type TestSmtp } from '../../support/http/smtp-server.js';

const INVITATIONS = '/api/v1/users/invitations';
const PATIENT = { every: 100 };
const LOGIN = { user: 'countersign', pass: 'a mail password' };
const GONE = 'gone@example.test';

let port: number;
let smtp: TestSmtp;
let server: TestServer;
let n = 0;

beforeAll(async () => {
  port = await freePort();
  smtp = await startSmtp({ port, login: LOGIN, knowsNot: GONE });
  server = await startServer({
    env: {
      SMTP_HOST: '127.0.0.1', SMTP_PORT: String(port), SMTP_USER: LOGIN.user, SMTP_PASS: LOGIN.pass,
      SMTP_FROM: 'Countersign <countersign@example.test>',
    },
  });
});
afterAll(async () => {
  await server.stop();
  await smtp.close();
});

const anAddress = () => `mailed.${++n}@example.test`;
const waiting = () => server.sql<{ id: string; payload: object; attempts: number }>(
  `select id, payload, attempts from outbox where kind = 'mail.send'`);

async function invite(email: string) {
  const made = (await asRoot(server).post(INVITATIONS, { email, role: 'member' })).expect(201);
  expect(made.body).not.toHaveProperty('link');
  expect(made.at('invitation.delivery')).toBe('mail');
  return made.text('invitation.id');
}

async function mailTo(email: string) {
  return eventually(() => {
    const mail = smtp.mails.find(({ to }) => to.includes(email));
    if (!mail) throw new Error('no mail has come');
    return mail;
  }, PATIENT);
}

describe('an invitation by mail', () => {
  test('goes to its address alone, and lets in whoever reads it, for whom nobody vouches', async () => {
    const admin = await aPerson(server, 'admin');
    const email = anAddress();
    const made = (await admin.client.post(INVITATIONS, { email, role: 'member' })).expect(201);
    expect(made.body).not.toHaveProperty('link');
    const mail = await mailTo(email);
    expect(mail).toMatchObject({ to: [email], from: 'countersign@example.test', user: LOGIN.user });
    expect(mail.header('Message-ID')).toMatch(/^<[\w-]+@example\.test>$/);
    const [link] = /http:\S+\/invitations\/[0-9a-f]{64}/.exec(mail.text) ?? [];
    expect((await (await aVisitor(server)).accept(link!)).status).toBe(303);
    expect(await server.sql('select vouched_by, role from users where email_folded = $1', [email])).toEqual([
      { vouched_by: null, role: 'member' },
    ]);
    await eventually(async () => expect(await waiting()).toEqual([]), PATIENT);
  });

  test('goes to an account in use whose address is the one that it was made with, and to no other', async () => {
    const admin = await aPerson(server, 'admin');
    const colleague = await aPerson(server, 'member');
    (await admin.client.post(INVITATIONS, { email: colleague.email, role: 'member' })).expect(201);
    await mailTo(colleague.email);
    const other = await aPerson(server, 'member');
    const mine = anAddress();
    (await admin.client.patch(`/api/v1/users/${other.id}`, { email: mine })).expect(200);
    (await admin.client.post(INVITATIONS, { email: mine, role: 'member' })).expect(403);
  });

  test('waits sealed while the mail server is away, and goes once it is back', async () => {
    await smtp.close();
    const email = anAddress();
    await invite(email);
    await eventually(async () => {
      const [row] = await waiting();
      expect(row!.attempts).toBeGreaterThanOrEqual(1);
    }, PATIENT);
    expect(JSON.stringify(await waiting())).not.toMatch(/mailed|invitations|@/);
    (await asRoot(server).get('/health/ready')).expect(200);
    smtp = await startSmtp({ port, login: LOGIN, knowsNot: GONE });
    await mailTo(email);
    await eventually(async () => expect(await waiting()).toEqual([]), PATIENT);
    expect(server.output()).toContain('has to wait');
    expect(server.output()).not.toContain(email);
  });

  test('is given up after a day', async () => {
    await smtp.close();
    await invite(anAddress());
    await eventually(async () => expect(await waiting()).toHaveLength(1), PATIENT);
    await server.sql(`update outbox set created_at = clock_timestamp() - interval '25 hours', available_at = clock_timestamp()`);
    await eventually(async () => expect(await waiting()).toEqual([]), PATIENT);
    expect(server.output()).toContain('is not tried again');
    smtp = await startSmtp({ port, login: LOGIN, knowsNot: GONE });
  });

  test('to somebody whom the mail server does not know is not tried again', async () => {
    await invite(GONE);
    await eventually(() => expect(smtp.refused).toBe(1), PATIENT);
    await eventually(async () => expect(await waiting()).toEqual([]), PATIENT);
  });

  test('waits for a server that takes our password', async () => {
    await smtp.close();
    smtp = await startSmtp({ port, login: { ...LOGIN, pass: 'another' } });
    const email = anAddress();
    await invite(email);
    await eventually(async () => expect((await waiting())[0]!.attempts).toBeGreaterThanOrEqual(1), PATIENT);
    await smtp.close();
    smtp = await startSmtp({ port, login: LOGIN });
    await mailTo(email);
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability, executionOf } from '../../support/builders/gate.js';
import { startSmtp, type SmtpTerms, type TestSmtp } from '../../support/http/smtp-server.js';
import { auditOf } from '../../support/log/entries.js';
import { freePort } from '../../support/servers/server-process.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const GONE = 'gone@example.test';
const CONNECTOR = { type: 'email', to: '{input.to}', subject: 'Order {input.id}', text: 'Dear {input.name}', timeoutSeconds: 5 };

let port: number;
let server: TestServer;
let smtp: TestSmtp | undefined;
let names = 0;

beforeAll(async () => {
  port = await freePort();
  server = await startServer({
    env: { SMTP_HOST: '127.0.0.1', SMTP_PORT: String(port), SMTP_FROM: 'Countersign <countersign@example.test>' },
  });
});
afterAll(() => server.stop());
afterEach(async () => {
  await smtp?.close();
  smtp = undefined;
});

const mailServer = async (terms: SmtpTerms = {}) => (smtp = await startSmtp({ port, knowsNot: GONE, ...terms }));

async function holderOf(parts: object = {}, hitlMode = 'auto'): Promise<BuiltAgent & { capability: string }> {
  const capability = `mail.order-${++names}`;
  await defineCapability(server, capability, { connector: { ...CONNECTOR, ...parts } });
  return { ...(await anAgent(server).granted(capability, { hitlMode }).create()), capability };
}

/** A header of encoded words as mail programs show it (RFC 2047): blanks between them are none of its. */
const decoded = (header: string) => header.replace(/\?=\s+=\?/g, '?==?')
  .replace(/=\?utf-8\?B\?([A-Za-z0-9+/=]*)\?=/gi, (_word, base64: string) => Buffer.from(base64, 'base64').toString('utf8'));

const INPUT = { to: 'ada@example.test', id: 7, name: '<Ada>' };
const call = ({ client, capability }: BuiltAgent & { capability: string }, input: object = {}) =>
  client.post('/api/v1/execute', { capability, input: { ...INPUT, ...input } });

describe('the email connector', () => {
  test('sends a mail once, with the id of its execution, from the service\'s own address', async () => {
    const { mails } = await mailServer();
    const copies = { cc: ['{input.copies}'], bcc: 'hidden@example.test' };
    const agent = await holderOf({ ...copies, html: '<p>{input.name}</p>', replyTo: 'desk@example.test' });
    const reply = (await call(agent, { copies: ['b@example.test', 'c@example.test'] })).expect(200);
    const messageId = `<${reply.text('executionId')}@example.test>`;
    const all = ['ada@example.test', 'b@example.test', 'c@example.test', 'hidden@example.test'];
    expect(reply.body).toMatchObject({ status: 'executed', output: { messageId, accepted: all, rejected: [] } });
    expect(mails).toHaveLength(1);
    const [mail] = mails;
    expect(mail).toMatchObject({ from: 'countersign@example.test', to: all });
    expect(mail!.header('Message-ID')).toBe(messageId);
    expect(mail!.header('From')).toBe('Countersign <countersign@example.test>');
    expect(['To', 'Subject', 'Reply-To'].map((name) => mail!.header(name))).toEqual(['ada@example.test', 'Order 7', 'desk@example.test']);
    expect(mail!.source).toContain('Dear <Ada>');
    expect(mail!.source).toContain('<p>&lt;Ada&gt;</p>');
    expect(mail!.source).not.toContain('hidden@example.test');
  });

  test('what was asked about is what a person approves, and what is sent', async () => {
    const { mails } = await mailServer();
    const agent = await holderOf({}, 'propose');
    const asked = (await call(agent)).expect(202);
    expect(mails).toHaveLength(0);
    const approved = await asRoot(server).post(`/api/v1/hitl/${asked.text('hitlRequestId')}/approve`, {}, { query: { wait: 10 } });
    expect(approved.expect(200).at('request.execution')).toMatchObject({ status: 'executed' });
    expect(mails.map((mail) => mail.header('Message-ID'))).toEqual([`<${asked.text('executionId')}@example.test>`]);
  });

  test.each([
    ['an encoded word', '=?utf-8?B?UGF5IG5vdw==?='],
    ['several, and more', `ü =?utf-8?Q?Pay_now?= =?utf-8?B?UGF5?= ${'=?iso-8859-1?q?=50ay?= 😀'.repeat(10)}`],
    ['the beginning of one', 'is 1=?'],
  ])('%s in a subject is shown as it was judged', async (_name, id) => {
    const { mails } = await mailServer();
    (await call(await holderOf(), { id })).expect(200);
    const subject = mails[0]!.header('Subject')!;
    expect(decoded(subject)).toBe(`Order ${id}`);
    expect(subject.split(' ').every((word) => word.length <= 75)).toBe(true);
  });

  test.each<[string, object]>([
    ['a line break in a recipient', { to: 'ada@example.test\r\nBcc: x@example.test' }],
    ['a recipient with a name', { to: 'Ada <ada@example.test>' }],
    ['a line break in the subject', { id: '7\r\nBcc: x@example.test' }],
    ['51 recipients', { to: Array.from({ length: 51 }, (_, n) => `a${n}@example.test`) }],
    ['no recipient', { to: [] }],
  ])('%s is refused before a person is asked', async (_name, input) => {
    const agent = await holderOf({}, 'propose');
    (await call(agent, input)).expect(422, 'INVALID_INPUT');
    expect(await server.sql('select 1 from hitl_requests where agent_id = $1', [agent.id])).toEqual([]);
  });

  test('a recipient whom the server does not know is told of; where it knows none, it failed', async () => {
    const { mails } = await mailServer();
    const agent = await holderOf();
    const some = (await call(agent, { to: ['ada@example.test', GONE] })).expect(200);
    expect(some.body).toMatchObject({ status: 'executed', output: { accepted: ['ada@example.test'], rejected: [GONE] } });
    const none = (await call(agent, { to: GONE })).expect(200);
    expect(none.body).toMatchObject({ status: 'failed', error: { code: 'CONNECTOR_STATUS' } });
    expect(JSON.stringify(none.at('error'))).not.toContain(GONE);
    expect(mails).toHaveLength(1);
  });

  test('before its text went out it failed; after, nobody can say', async () => {
    const agent = await holderOf({ timeoutSeconds: 2 });
    const outcome = async () => {
      const reply = (await call(agent)).expect(200);
      const { status, error } = await executionOf(server, reply.text('executionId'));
      return [status, error?.code];
    };
    expect(await outcome()).toEqual(['failed', 'CONNECTOR_UNREACHABLE']);
    await mailServer({ cuts: 'before the text' });
    expect(await outcome()).toEqual(['failed', 'CONNECTOR_UNREACHABLE']);
    await smtp!.close();
    const { mails } = await mailServer({ cuts: 'after the text' });
    expect(await outcome()).toEqual(['indeterminate', 'CONNECTOR_CONNECTION_LOST']);
    expect(mails).toHaveLength(1);
    await smtp!.close();
    const slow = await mailServer({ slowMs: 4_000 });
    expect(await outcome()).toEqual(['indeterminate', 'CONNECTOR_CONNECTION_LOST']);
    expect(slow.mails).toHaveLength(1);
    const closing = (await auditOf(server, agent.id)).at(-1);
    expect(closing).toMatchObject({ event: 'execution.failed', metadata: { outcome: 'indeterminate' } });
  });

  test('without a mail server nothing is sent, and the execution says so', async () => {
    const bare = await startServer({ replicaOf: server });
    try {
      const agent = await holderOf();
      const reply = await asRoot(bare).post('/api/v1/execute', { capability: agent.capability, agentId: agent.id, input: INPUT });
      expect(reply.expect(200).body).toMatchObject({
        status: 'failed', error: { code: 'CONNECTOR_UNREACHABLE', message: expect.stringContaining('SMTP_HOST') },
      });
    } finally {
      await bare.stop();
    }
  });
});

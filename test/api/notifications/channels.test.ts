import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { aPerson, anOrganization, aTeam, type BuiltPerson } from '../../support/builders/people.js';
import { asRoot } from '../../support/http/actors.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startSmtp, type TestSmtp } from '../../support/http/smtp-server.js';
import { type SlackWorkspace, startSlack } from '../../support/notifications/slack.js';
import { back, startServer, type TestServer } from '../../support/servers/server.js';

const CONFIG = '/api/v1/notifications/config';
const SECRETS = {
  webhook: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', next: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD', path: 'path-of-the-webhook-4711',
  bot: 'xoxb-0815-of-the-api', signing: 'signing-secret-of-the-api-0815',
};

let server: TestServer;
let receiver: Receiver;
let admin: BuiltPerson;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startServer();
  admin = await aPerson(server, 'admin');
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const hook = () => ({ url: `${receiver.url}/${SECRETS.path}`, secret: SECRETS.webhook });
const put = (channel: string, body: object, by = admin) => by.client.put(`${CONFIG}/${channel}`, body);
const entries = () => server.sql<{ metadata: Record<string, unknown>; actor_id: string }>(
  `select payload::json->'metadata' as metadata, payload::json->>'actorId' as actor_id from audit_entries
   where event = 'admin.channel_configured' order by seq`);

describe('a channel', () => {
  afterEach(() => Promise.all(['webhook', 'slack', 'teams', 'in_app'].map((channel) => admin.client.delete(`${CONFIG}/${channel}`))));

  test('is set, shown without its secrets, changed and forgotten, each with an entry', async () => {
    (await admin.client.get(`${CONFIG}/webhook`)).expect(404);
    const before = (await entries()).length;
    const team = await aTeam(server, admin.organizationId, [{ userId: admin.id }]);
    const recipients = [{ userId: admin.id }, { teamId: team }, { role: 'owner' }];
    const set = (await put('webhook', { enabled: true, settings: hook(), recipients, events: ['hitl.request.created'] })).expect(200);
    const config = {
      channel: 'webhook', enabled: true, settings: { url: `${receiver.url}/********`, secret: '********' }, recipients,
      events: ['hitl.request.created'], source: 'api',
    };
    expect(set.body).toEqual({ config });
    expect((await admin.client.get(`${CONFIG}/webhook`)).expect(200).body).toEqual({ config });
    expect((await put('webhook', { enabled: false })).expect(200).body)
      .toEqual({ config: { ...config, enabled: false, recipients: [], events: null } });
    (await admin.client.delete(`${CONFIG}/webhook`)).expect(204);
    (await admin.client.delete(`${CONFIG}/webhook`)).expect(204);
    (await admin.client.get(`${CONFIG}/webhook`)).expect(404);
    const recorded = (await entries()).slice(before);
    expect(recorded.map(({ metadata }) => metadata['change'])).toEqual(['set', 'set', 'removed']);
    expect(recorded.every(({ actor_id }) => actor_id === admin.id)).toBe(true);
  });

  test('keeps its secrets when they are left out, or come back as they were shown', async () => {
    await put('webhook', { enabled: true, settings: hook() });
    const shown = (await admin.client.get(`${CONFIG}/webhook`)).at('config.settings');
    for (const settings of [undefined, {}, shown]) (await put('webhook', { enabled: true, settings })).expect(200);
    const sent = receiver.requests.length;
    expect((await admin.client.post(`${CONFIG}/webhook/test`)).expect(200).body).toEqual({ outcome: 'delivered' });
    const { path, body, headers } = receiver.requests[sent]!;
    expect(path).toBe(`/${SECRETS.path}`);
    expect(new Webhook(SECRETS.webhook).verify(body, headers as Record<string, string>)).toMatchObject({
      event: 'channel.test', organization_id: admin.organizationId,
    });
    const without = (await put('webhook', { enabled: true, settings: { secret: null } })).expect(400, 'VALIDATION_FAILED');
    expect(without.at('errors.0.pointer')).toBe('/settings/secret');
  });

  test('of a webhook signs by the former secret too, for a day', async () => {
    await put('webhook', { enabled: true, settings: hook() });
    await put('webhook', { enabled: true, settings: { secret: SECRETS.next } });
    (await admin.client.post(`${CONFIG}/webhook/test`)).expect(200);
    const { body, headers } = receiver.requests.at(-1)!;
    for (const secret of [SECRETS.webhook, SECRETS.next]) new Webhook(secret).verify(body, headers as Record<string, string>);
    const shown = (await admin.client.get(`${CONFIG}/webhook`)).at('config.settings') as object;
    expect(Object.keys(shown)).toEqual(['url', 'secret']);
  });

  test('says what came of a trial by codes, also when it is off', async () => {
    await put('webhook', { enabled: false, settings: hook() });
    receiver.script({ status: 500, body: 'words of the receiver' }, { status: 410 });
    expect((await admin.client.post(`${CONFIG}/webhook/test`)).body).toEqual({ outcome: 'retry', code: 'HTTP_500' });
    expect((await admin.client.post(`${CONFIG}/webhook/test`)).body).toEqual({ outcome: 'gone', code: 'HTTP_410' });
    (await admin.client.post(`${CONFIG}/teams/test`)).expect(404);
    (await admin.client.post(`${CONFIG}/in_app/test`)).expect(409, 'CONFLICT');
  });

  test('of one organization is nobody else’s', async () => {
    const elsewhere = await aPerson(server, 'owner', { organizationId: await anOrganization(server) });
    await put('webhook', { enabled: true, settings: hook() });
    (await elsewhere.client.get(`${CONFIG}/webhook`)).expect(404);
    (await elsewhere.client.get(`${CONFIG}/webhook`, { query: { organizationId: admin.organizationId } })).expect(404);
    const root = asRoot(server);
    (await root.get(`${CONFIG}/webhook`, { query: { organizationId: elsewhere.organizationId } })).expect(404);
    (await root.get(`${CONFIG}/webhook`)).expect(200);
    for (const role of ['member', 'viewer'] as const) {
      const person = await aPerson(server, role);
      (await person.client.get(`${CONFIG}/webhook`)).expect(403);
      (await put('webhook', { enabled: false }, person)).expect(403);
    }
  });

  test('that is unknown is 404, and the inbox is always on', async () => {
    for (const name of ['pager', 'EMAIL', '__proto__', 'toString']) {
      (await admin.client.get(`${CONFIG}/${name}`)).expect(404);
      (await put(name, { enabled: true })).expect(404);
      (await admin.client.post(`${CONFIG}/${name}/test`)).expect(404);
    }
    (await put('in_app', { enabled: false })).expect(422, 'CHANNEL_ALWAYS_ON');
    expect((await admin.client.get(`${CONFIG}/in_app`)).expect(200).at('config')).toMatchObject({ enabled: true, source: 'environment' });
    (await put('in_app', { enabled: true, events: ['hitl.request.escalated'], recipients: [{ role: 'admin' }] })).expect(200);
    expect((await admin.client.get(`${CONFIG}/in_app`)).at('config')).toMatchObject({
      source: 'api', recipients: [{ role: 'admin' }], events: ['hitl.request.escalated'],
    });
  });

  const refused: [string, string, object, number, string, string][] = [
    ['an address of a cloud’s secrets', 'webhook', { enabled: true, settings: { url: 'http://169.254.169.254/', secret: SECRETS.next } },
      422, 'UNSAFE_URL', '/settings/url'],
    ['an address with credentials', 'slack', { enabled: true, settings: { webhookUrl: 'https://u:p@a.example.org/' } }, 422, 'UNSAFE_URL',
      '/settings/webhookUrl'],
    ['an address that is none', 'teams', { enabled: true, settings: { webhookUrl: 'teams' } }, 422, 'UNSAFE_URL', '/settings/webhookUrl'],
    ['no address', 'teams', { enabled: true }, 400, 'VALIDATION_FAILED', '/settings/webhookUrl'],
    ['no secret', 'webhook', { enabled: true, settings: { url: 'https://a.example.org/' } }, 400, 'VALIDATION_FAILED', '/settings/secret'],
    ['a weak secret', 'webhook', { enabled: false, settings: { secret: 'short' } }, 400, 'VALIDATION_FAILED', '/settings/secret'],
    ['a bot without a channel', 'slack', { enabled: true, settings: { botToken: 'xoxb-1' } }, 400, 'VALIDATION_FAILED',
      '/settings/channel'],
    ['another channel’s setting', 'teams', { enabled: false, settings: { secret: SECRETS.webhook } }, 400, 'VALIDATION_FAILED',
      '/settings/secret'],
    ['a setting that is unknown', 'slack', { enabled: false, settings: { token: 'x' } }, 400, 'VALIDATION_FAILED', '/settings/token'],
    ['an unknown event', 'in_app', { enabled: true, events: ['hitl.created'] }, 400, 'VALIDATION_FAILED', '/events'],
    ['a free address', 'in_app', { enabled: true, recipients: [{ email: 'a@example.org' }] }, 400, 'VALIDATION_FAILED',
      '/recipients/0/email'],
    ['an address as a user', 'in_app', { enabled: true, recipients: [{ userId: 'a@example.org' }] }, 400, 'VALIDATION_FAILED',
      '/recipients/0/userId'],
    ['a team that is not there', 'in_app', { enabled: true, recipients: [{ role: 'owner' }, { teamId: 'team_1' }] },
      400, 'VALIDATION_FAILED', '/recipients/1/teamId'],
    ['two in one', 'in_app', { enabled: true, recipients: [{ role: 'owner', userId: 'usr_1' }] }, 400, 'VALIDATION_FAILED',
      '/recipients/0'],
    ['mail without a server', 'email', { enabled: true }, 400, 'VALIDATION_FAILED', '/enabled'],
    ['nothing', 'webhook', {}, 400, 'VALIDATION_FAILED', '/enabled'],
  ];
  test.each(refused)('is not set with %s', async (_, channel, body, status, code, pointer) => {
    const answer = (await put(channel, body)).expect(status, code);
    expect(answer.at('errors.0.pointer')).toBe(pointer);
    expect(await server.sql('select 1 from notification_channels')).toEqual([]);
  });
});

describe('sealed settings', () => {
  afterAll(() => Promise.all(['webhook', 'slack'].map((channel) => admin.client.delete(`${CONFIG}/${channel}`))));

  test('stand in no dump and no log', async () => {
    await put('webhook', { enabled: true, settings: hook() });
    await put('webhook', { enabled: true, settings: { secret: SECRETS.next } });
    await put('slack', { enabled: true, settings: { botToken: SECRETS.bot, channel: 'C1', signingSecret: SECRETS.signing } });
    (await admin.client.post(`${CONFIG}/webhook/test`)).expect(200);
    (await admin.client.get(`${CONFIG}/webhook`)).expect(200);
    const tables = await server.sql<{ name: string }>(`select tablename as name from pg_tables where schemaname = 'public'`);
    let rows = 0;
    for (const { name } of tables) {
      for (const { text } of await server.sql<{ text: string }>(`select t::text as text from "${name}" t`)) {
        rows++;
        // A column of bytes is written in hexadecimal digits.
        for (const secret of Object.values(SECRETS)) {
          expect(text).not.toContain(secret);
          expect(text).not.toContain(Buffer.from(secret).toString('hex'));
        }
      }
    }
    expect(rows).toBeGreaterThan(50);
    for (const secret of Object.values(SECRETS)) expect(server.output()).not.toContain(secret);
  });

  test.each([
    ['another channel', `update notification_channels set settings = (select settings from notification_channels where channel = 'webhook')
      where channel = 'slack'`, 'slack'],
    ['another organization', `update notification_channels set organization_id = $1 where channel = 'webhook'`, 'webhook'],
  ])('that are moved to %s do not open: the channel is off, and readiness says so', async (_, move, channel) => {
    const elsewhere = await anOrganization(server);
    await put('webhook', { enabled: true, settings: hook() });
    await put('slack', { enabled: true, settings: { webhookUrl: `${receiver.url}/slack` } });
    await server.sql(move, move.includes('$1') ? [elsewhere] : []);
    await server.restart();
    const { organization_id: organizationId } = (await server.sql<{ organization_id: string }>(
      'select organization_id from notification_channels where channel = $1', [channel]))[0]!;
    const shown = (await asRoot(server).get(`${CONFIG}/${channel}`, { query: { organizationId } })).expect(200);
    expect(shown.at('config')).toMatchObject({ enabled: false, settings: {}, offBecause: 'UNREADABLE' });
    expect((await asRoot(server).get('/health/ready')).expect(200).number('unreadableChannels')).toBe(1);
    const sent = receiver.requests.length;
    (await asRoot(server).post(`${CONFIG}/${channel}/test`, undefined, { query: { organizationId } })).expect(409, 'CONFLICT');
    expect(receiver.requests.length).toBe(sent);
    await server.sql('delete from notification_channels');
  });
});

describe('the environment', () => {
  let smtp: TestSmtp;
  let slack: SlackWorkspace;
  beforeAll(async () => {
    smtp = await startSmtp();
    slack = await startSlack();
    await back(server, {
      SMTP_HOST: '127.0.0.1', SMTP_PORT: String(smtp.port), SMTP_FROM: 'cs@example.org', SLACK_BOT_TOKEN: slack.botToken,
      SLACK_CHANNEL: slack.channel, SLACK_API_URL: slack.apiUrl, TEAMS_WEBHOOK_URL: `${receiver.url}/teams`,
      HITL_WEBHOOK_URL: `${receiver.url}/operators`, WEBHOOK_SECRET: SECRETS.webhook,
    });
  });
  afterAll(async () => {
    await smtp.close();
    await slack.close();
  });

  test('switches channels on for every organization, and shows none of its secrets', async () => {
    const elsewhere = await aPerson(server, 'admin', { organizationId: await anOrganization(server) });
    for (const person of [admin, elsewhere]) {
      const shown = await Promise.all(['email', 'slack', 'teams', 'webhook'].map(async (channel) =>
        (await person.client.get(`${CONFIG}/${channel}`)).expect(200).at('config.settings')));
      expect(shown).toEqual([
        {}, { botToken: '********', channel: slack.channel }, { webhookUrl: `${receiver.url}/********` },
        { url: `${receiver.url}/********`, secret: '********' },
      ]);
    }
  });

  test('sends through each', async () => {
    for (const channel of ['email', 'slack', 'teams', 'webhook']) {
      const tried = (await admin.client.post(`${CONFIG}/${channel}/test`)).expect(200);
      expect([channel, tried.body]).toEqual([channel, { outcome: 'delivered' }]);
    }
    expect([smtp.mails.at(-1)!.to, smtp.mails.at(-1)!.header('Subject')]).toEqual([[admin.email], 'Test of this channel']);
    expect([slack.messages.length, slack.findings]).toEqual([1, []]);
    expect(receiver.requests.slice(-2).map(({ path }) => path)).toEqual(['/teams', '/operators']);
    (await asRoot(server).post(`${CONFIG}/email/test`)).expect(409, 'CONFLICT');
  });

  test('gives way to what the API sets, in that organization alone', async () => {
    const elsewhere = await aPerson(server, 'admin', { organizationId: await anOrganization(server) });
    (await put('email', { enabled: false })).expect(200);
    (await put('webhook', { enabled: true, settings: hook() })).expect(200);
    expect((await admin.client.get(`${CONFIG}/email`)).at('config')).toMatchObject({ enabled: false, source: 'api' });
    expect((await elsewhere.client.get(`${CONFIG}/email`)).at('config')).toMatchObject({ enabled: true, source: 'environment' });
    (await admin.client.post(`${CONFIG}/webhook/test`)).expect(200);
    expect(receiver.requests.at(-1)!.path).toBe(`/${SECRETS.path}`);
    (await put('email', { enabled: true })).expect(200);
    (await admin.client.delete(`${CONFIG}/email`)).expect(204);
    expect((await admin.client.get(`${CONFIG}/email`)).at('config.source')).toBe('environment');
  });
});

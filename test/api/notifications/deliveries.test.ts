import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { anOrganization, aPerson, aTeam, firstOrganization, type BuiltPerson } from '../../support/builders/people.js';
import { asRoot, type Client } from '../../support/http/actors.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startSmtp, type TestSmtp } from '../../support/http/smtp-server.js';
import { withHeldDeliveries } from '../../support/notifications/held-deliveries.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

// From an event to what reaches people and other systems: real mail, a real receiver, and the inbox.
const SECRET = `whsec_${Buffer.from('a secret of thirty-two characters').toString('base64')}`;

let receiver: Receiver;
let smtp: TestSmtp;
let server: TestServer;
let root: Client;
let organizationId: string;
let admin: BuiltPerson;
let owner: BuiltPerson;
let lead: BuiltPerson;
let member: BuiltPerson;
let agent: BuiltAgent;

beforeAll(async () => {
  [receiver, smtp] = await Promise.all([startReceiver(), startSmtp({ defers: /^later/ })]);
  server = await startServer({
    env: {
      HITL_WEBHOOK_URL: `${receiver.url}/hook`, WEBHOOK_SECRET: SECRET, SMTP_HOST: '127.0.0.1', SMTP_PORT: String(smtp.port),
      SMTP_FROM: 'countersign@example.test',
    },
  });
  root = asRoot(server);
  organizationId = await firstOrganization(server);
  [admin, owner, lead, member] = await Promise.all([
    aPerson(server, 'admin'), aPerson(server, 'member'), aPerson(server, 'member'), aPerson(server, 'member'),
  ]);
  const teamId = await aTeam(server, organizationId, [{ userId: lead.id, role: 'lead' }, { userId: member.id }]);
  agent = await anAgent(server).having({ ownerId: owner.id, teamId })
    .granted('email.send', { hitlMode: 'propose' }).granted('calendar.write', { hitlMode: 'notify' })
    .granted('finance.payment').create();
});

afterAll(async () => {
  await server.stop();
  await Promise.all([receiver.close(), smtp.close()]);
});

interface Hook {
  readonly event: string;
  readonly hitl_request_id?: string;
  readonly [member: string]: unknown;
}

const asked = async (capability = 'email.send', by: BuiltAgent = agent, headers: Record<string, string> = {}) => {
  const reply = await by.client.post('/api/v1/execute', { capability, input: { to: 'ada@example.test' } }, { headers });
  return reply.expect(202).text('hitlRequestId');
};

/** The webhooks about a request, once there are so many. */
const hooksAbout = (id: string, count: number) => eventually(() => {
  const found = receiver.requests.filter(({ body }) => body.includes(id));
  expect(found.length).toBeGreaterThanOrEqual(count);
  return found.map((request) => ({ ...request, hook: JSON.parse(request.body) as Hook }));
});

const inbox = async (person: BuiltPerson, about: string) =>
  ((await person.client.get('/api/v1/notifications')).expect(200).at('notifications') as Record<string, unknown>[])
    .filter((one) => one['hitlRequestId'] === about || one['executionId'] === about);

const mailsTo = (person: BuiltPerson, about: string) =>
  smtp.mails.filter(({ to, source }) => to.includes(person.email) && source.includes(about));

describe('a question', () => {
  test('reaches the owner and the team once each, by inbox and mail, and the webhook signed', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const id = await asked('email.send', agent, { traceparent });
    const [received] = await hooksAbout(id, 1);
    expect(received!.hook).toMatchObject({
      event: 'hitl.request.created', hitl_request_id: id, agent_id: agent.id, capability: 'email.send', hitl_mode: 'propose',
      approve_url: expect.stringMatching(`/hitl/${id}/approve$`), reject_url: expect.stringMatching(`/hitl/${id}/reject$`),
    });
    expect(new Webhook(SECRET).verify(received!.body, received!.headers as Record<string, string>)).toBeTruthy();
    expect(received!.headers['traceparent']).toContain('4bf92f3577b34da6a3ce929d0e0e4736');
    expect(received!.headers['webhook-id']).toMatch(/^dlv_/);
    for (const person of [owner, lead, member]) {
      await eventually(() => expect(mailsTo(person, id)).toHaveLength(1));
      const wanted = { event: 'hitl.request.created', status: 'pending', readAt: null, agentId: agent.id };
      expect(await inbox(person, id)).toMatchObject([wanted]);
    }
    expect(await inbox(admin, id)).toEqual([]);
    expect(mailsTo(admin, id)).toEqual([]);
  });

  test('of a hardcoded capability goes to administrators at high priority, alone', async () => {
    const id = await asked('finance.payment');
    const [received] = await hooksAbout(id, 1);
    expect(received!.hook).toMatchObject({ event: 'hitl.request.created', hitl_mode: 'escalate' });
    await eventually(async () => expect(await inbox(admin, id)).toMatchObject([{ priority: 'high', status: 'escalated' }]));
    expect(await inbox(owner, id)).toEqual([]);
  });

  test('that is handed on reaches the next level, and not who handed it on', async () => {
    const id = await asked();
    (await member.client.post(`/api/v1/hitl/${id}/escalate`, { reason: 'above me' })).expect(200);
    await eventually(async () => expect((await inbox(lead, id)).map(({ event }) => event)).toContain('hitl.request.escalated'));
    expect((await inbox(member, id)).map(({ event }) => event)).toEqual(['hitl.request.created']);
    const hooks = await hooksAbout(id, 2);
    expect(hooks.map(({ hook }) => hook.event)).toEqual(['hitl.request.created', 'hitl.request.escalated']);
  });

  test('that nobody near the agent can answer goes to administrators', async () => {
    const lonely = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
    const id = await asked('email.send', lonely);
    await eventually(async () => expect(await inbox(admin, id)).toHaveLength(1));
  });
});

describe('an end', () => {
  test('reaches who was asked and the owner, and not who decided', async () => {
    const id = await asked();
    await eventually(async () => expect(await inbox(lead, id)).toHaveLength(1));
    (await member.client.post(`/api/v1/hitl/${id}/reject`, { note: 'not today' })).expect(200);
    const hooks = await hooksAbout(id, 2);
    expect(hooks.at(-1)!.hook).toMatchObject({ event: 'hitl.request.rejected', occurred_at: expect.any(String) });
    for (const person of [owner, lead]) {
      await eventually(async () => expect((await inbox(person, id)).map(({ event }) => event))
        .toEqual(['hitl.request.rejected', 'hitl.request.created']));
    }
    expect((await inbox(member, id)).map(({ event }) => event)).toEqual(['hitl.request.created']);
  });

  test('by a broken glass reaches every administrator at high priority', async () => {
    const boss = await aPerson(server, 'owner');
    const lonely = await anAgent(server).having({ ownerId: boss.id })
      .granted('email.send', { hitlMode: 'propose', quorum: { approvals: 2 } }).create();
    const id = await asked('email.send', lonely);
    (await boss.client.post(`/api/v1/hitl/${id}/approve`, { breakGlass: true, note: 'the house is on fire' })).expect(200);
    await eventually(async () => expect(await inbox(admin, id)).toContainEqual(
      expect.objectContaining({ event: 'hitl.request.approved', priority: 'high' })));
    expect((await inbox(boss, id)).map(({ event }) => event)).not.toContain('hitl.request.approved');
  });
});

describe('what is only reported', () => {
  test('goes to the owner and the leads of the team', async () => {
    const id = (await agent.client.post('/api/v1/execute', { capability: 'calendar.write' })).expect(200).text('executionId');
    const [received] = await hooksAbout(id, 1);
    expect(received!.hook.event).toBe('execution.notified');
    for (const person of [owner, lead]) await eventually(async () => expect(await inbox(person, id)).toHaveLength(1));
    for (const person of [member, admin]) expect(await inbox(person, id)).toEqual([]);
  });

  test('goes to administrators where nobody is near the agent', async () => {
    const lonely = await anAgent(server).granted('calendar.write', { hitlMode: 'notify' }).create();
    const id = (await lonely.client.post('/api/v1/execute', { capability: 'calendar.write' })).expect(200).text('executionId');
    await eventually(async () => expect(await inbox(admin, id)).toHaveLength(1));
  });
});

describe('the inbox', () => {
  test('is waited for, marked as read, and nobody else\'s', async () => {
    const reader = await aPerson(server, 'member');
    const own = await anAgent(server).having({ ownerId: reader.id }).granted('email.send', { hitlMode: 'propose' }).create();
    const empty = (await reader.client.get('/api/v1/notifications')).expect(200);
    expect(empty.body).toEqual({ notifications: [], total: 0, unread: 0 });
    const waiting = reader.client.get('/api/v1/notifications', { query: { unread: 'true', wait: '20' } });
    const id = await asked('email.send', own);
    const first = (await waiting).expect(200);
    expect(first.number('unread')).toBe(1);
    expect(first.at('notifications')).toMatchObject([{ hitlRequestId: id, capability: 'email.send', url: expect.stringMatching(id) }]);
    const notification = first.text('notifications.0.id');
    (await member.client.post(`/api/v1/notifications/${notification}/read`)).expect(404, 'NOT_FOUND');
    const read = (await reader.client.post(`/api/v1/notifications/${notification}/read`)).expect(200);
    expect((await reader.client.post(`/api/v1/notifications/${notification}/read`)).expect(200).body).toEqual(read.body);
    expect((await reader.client.get('/api/v1/notifications', { query: { unread: 'true' } })).expect(200).number('total')).toBe(0);
    (await root.get('/api/v1/notifications')).expect(403, 'FORBIDDEN');
    (await agent.client.get('/api/v1/notifications')).expect(403, 'FORBIDDEN');
  });

  test('gets what waited for a day, and no other channel does', async () => {
    const id = await asked();
    await hooksAbout(id, 1);
    await server.sql(
      `insert into outbox (organization_id, kind, payload, created_at)
       values ($1, 'notification.send', json_build_object('event', 'hitl.request.reminder', 'hitlRequestId', $2::text),
         clock_timestamp() - interval '25 hours')`, [organizationId, id]);
    await eventually(async () => expect((await inbox(owner, id)).map(({ event }) => event)).toContain('hitl.request.reminder'));
    expect((await root.get('/api/v1/notifications/deliveries', { query: { hitlRequestId: id } })).expect(200).at('deliveries'))
      .not.toContainEqual(expect.objectContaining({ event: 'hitl.request.reminder' }));
  });
});

describe('deliveries', () => {
  const deliveriesOf = async (id: string, query: Record<string, string> = {}) =>
    (await admin.client.get('/api/v1/notifications/deliveries', { query: { hitlRequestId: id, ...query } })).expect(200)
      .at('deliveries') as Record<string, unknown>[];

  test('a receiver that fails gets it again, under the same id, and nobody waits for it', async () => {
    receiver.script({ status: 503 });
    const id = await asked();
    const hooks = await hooksAbout(id, 2);
    expect(new Set(hooks.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const delivered = { state: 'delivered', attempts: 2 };
    await eventually(async () => expect(await deliveriesOf(id, { channel: 'webhook' })).toMatchObject([delivered]));
    expect(await deliveriesOf(id, { channel: 'email' })).toHaveLength(3);
  });

  test('a receiver that is gone switches its channel off; what was given up is tried again when somebody says so', async () => {
    const elsewhere = await anOrganization(server);
    const boss = await aPerson(server, 'owner', { organizationId: elsewhere });
    const set = (enabled: boolean) => boss.client.put('/api/v1/notifications/config/webhook', {
      enabled, settings: { url: `${receiver.url}/theirs`, secret: SECRET },
    });
    (await set(true)).expect(200);
    const theirs = await anAgent(server).inOrganization(elsewhere).granted('email.send', { hitlMode: 'propose' }).create();
    receiver.script({ status: 410 });
    const id = await asked('email.send', theirs);
    const given = await eventually(async () => {
      const reply = (await boss.client.get('/api/v1/notifications/deliveries', { query: { state: 'dead' } })).expect(200);
      expect(reply.at('deliveries')).toMatchObject([{ hitlRequestId: id, channel: 'webhook' }]);
      return reply.text('deliveries.0.id');
    });
    expect((await boss.client.get('/api/v1/notifications/config/webhook')).expect(200).at('config.enabled')).toBe(false);
    await eventually(async () => {
      const inbox = (await boss.client.get('/api/v1/notifications')).expect(200).at('notifications') as Record<string, unknown>[];
      expect(inbox.filter(({ event }) => event === 'channel.switched_off')).toMatchObject([{ channel: 'webhook', priority: 'high' }]);
    });
    (await admin.client.post(`/api/v1/notifications/deliveries/${given}/retry`)).expect(404, 'NOT_FOUND');
    (await set(true)).expect(200);
    (await boss.client.post(`/api/v1/notifications/deliveries/${given}/retry`)).expect(200);
    await hooksAbout(id, 2);
    await eventually(async () =>
      (await boss.client.post(`/api/v1/notifications/deliveries/${given}/retry`)).expect(409, 'CONFLICT'));
  });

  test('a pause that an address asked for ends with the address', async () => {
    const elsewhere = await anOrganization(server);
    const boss = await aPerson(server, 'owner', { organizationId: elsewhere });
    const set = (path: string) => boss.client.put('/api/v1/notifications/config/webhook', {
      enabled: true, settings: { url: `${receiver.url}/${path}`, secret: SECRET },
    });
    (await set('old')).expect(200);
    const theirs = await anAgent(server).inOrganization(elsewhere).granted('email.send', { hitlMode: 'propose' }).create();
    receiver.script({ status: 429, headers: { 'retry-after': '3600' } });
    await hooksAbout(await asked('email.send', theirs), 1);
    (await set('new')).expect(200);
    const [received] = await hooksAbout(await asked('email.send', theirs), 1);
    expect(received!.path).toBe('/new');
  });

  test('a recipient whom the mail server defers keeps nobody else waiting', async () => {
    const elsewhere = await anOrganization(server);
    const bosses = await Promise.all(Array.from({ length: 6 }, (_, n) =>
      aPerson(server, 'owner', { organizationId: elsewhere, ...(n < 5 ? { email: `later${n}@example.test` } : {}) })));
    const theirs = await anAgent(server).inOrganization(elsewhere).granted('email.send', { hitlMode: 'propose' }).create();
    const id = await asked('email.send', theirs);
    await eventually(() => expect(mailsTo(bosses[5]!, id)).toHaveLength(1));
    expect(await deliveriesWaiting(bosses[5]!, id)).toBe(5);
    const here = await asked();
    await eventually(() => expect(mailsTo(owner, here)).toHaveLength(1));
  });

  const deliveriesWaiting = async (boss: BuiltPerson, id: string) => (await boss.client.get('/api/v1/notifications/deliveries', {
    query: { hitlRequestId: id, channel: 'email', state: 'waiting' },
  })).expect(200).number('total');

  test('a question that is answered meanwhile is put to nobody any more; the webhook hears of it', async () => {
    const elsewhere = await anOrganization(server);
    const boss = await aPerson(server, 'owner', { organizationId: elsewhere });
    const theirs = await anAgent(server).inOrganization(elsewhere).granted('email.send', { hitlMode: 'propose' }).create();
    // Nobody delivers for this organization while the request is decided.
    const id = await withHeldDeliveries(server, elsewhere, async () => {
      const asking = await asked('email.send', theirs);
      (await boss.client.post(`/api/v1/hitl/${asking}/reject`)).expect(200);
      return asking;
    });
    await eventually(async () => {
      const reply = (await boss.client.get('/api/v1/notifications/deliveries')).expect(200).at('deliveries') as Record<string, unknown>[];
      const of = (channel: string, event: string) => reply.find((one) => one['channel'] === channel && one['event'] === event);
      expect(of('email', 'hitl.request.created')).toMatchObject({ state: 'superseded', code: 'ANSWERED' });
      expect(of('webhook', 'hitl.request.created')).toMatchObject({ state: 'delivered' });
      expect(of('webhook', 'hitl.request.rejected')).toMatchObject({ state: 'delivered' });
    });
    expect(mailsTo(boss, id)).toEqual([]);
  });
});

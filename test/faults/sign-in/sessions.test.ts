import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, asRoot, type Client } from '../../support/http/actors.js';
import { whileCaught } from '../../support/running/captured-output.js';
import { openEvents } from '../../support/http/event-stream.js';
import { eventually } from '../../support/running/eventually.js';
import { aPerson, anOrganization } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { aSessionMaker, entriesOfSessions, type SessionMaker } from '../../support/sign-in/sessions.js';
import { asSession } from '../../support/builders/tenants.js';

const ME = '/api/v1/auth/me';
const PATIENT = { every: 100 };

let one: TestServer;
let two: TestServer;
let maker: SessionMaker;

beforeAll(async () => {
  one = await startServer();
  two = await startServer({ replicaOf: one });
  maker = await aSessionMaker(one.database);
});
afterAll(async () => {
  await maker.close();
  await two.stop();
  await one.stop();
});

const on = (server: TestServer, cookie: string): Client =>
  anonymous(server).with({ cookie: cookie.split(';')[0]!, 'sec-fetch-site': 'same-origin' });

/** Resolves once so many statements on this database wait for somebody else's lock. */
const waiting = (count: number) => eventually(async () => {
  expect(await one.sql(
    `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)).toHaveLength(count);
}, PATIENT);

describe('two servers', () => {
  test('let the same session in, and none of them one that ended on the other', async () => {
    const person = await aPerson(one, 'member');
    const { cookie } = await asSession(one, person);
    (await on(one, cookie).get(ME)).expect(200);
    (await on(two, cookie).get(ME)).expect(200);
    (await on(one, cookie).post('/api/v1/auth/logout')).expect(200);
    (await on(two, cookie).get(ME)).expect(401, 'UNAUTHENTICATED');
  });

  test('end what is over once', async () => {
    const organizationId = await anOrganization(one);
    const person = await aPerson(one, 'member', { organizationId });
    const sessions = await Promise.all(Array.from({ length: 30 }, (_, n) => asSession(one, person, { idle: -1, left: n % 2 ? 60 : -1 })));
    await eventually(async () => {
      const open = await one.sql('select 1 from sessions where user_id = $1 and ended_at is null', [person.id]);
      expect(open).toEqual([]);
    }, PATIENT);
    const entries = await entriesOfSessions(two, organizationId);
    expect(sessions.map(({ id }) => entries.get(id)?.length)).toEqual(sessions.map(() => 1));
  });
});

describe('whoever comes in while the account is being closed', () => {
  async function race(first: 'close' | 'begin') {
    const organizationId = await anOrganization(one);
    const person = await aPerson(one, 'member', { organizationId });
    const caught = `select from audit_heads where organization_id = '${organizationId}' and chain = 'sys_${organizationId}' for update`;
    const close = () => asRoot(one).delete(`/api/v1/users/${person.id}`);
    const begin = () => maker.begin(person, { method: 'password' }).then(({ cookie }) => cookie, (error: Error) => error);
    const both = await whileCaught(one.database, caught, async () => {
      if (first === 'close') {
        const closing = close();
        await waiting(1);
        const beginning = begin();
        await waiting(2);
        return { closing, beginning };
      }
      const beginning = begin();
      await waiting(1);
      const closing = close();
      await waiting(2);
      return { closing, beginning };
    });
    (await both.closing).expect(204);
    const open = await one.sql('select 1 from sessions where user_id = $1 and ended_at is null', [person.id]);
    return { begun: await both.beginning, open, entries: await entriesOfSessions(one, organizationId) };
  }

  test('comes too late where the account was closed first', async () => {
    const { begun, open, entries } = await race('close');
    expect(String(begun)).toMatch(/The account is closed/);
    expect([open, entries.size]).toEqual([[], 0]);
  });

  test('is out again where they came first', async () => {
    const { begun, open, entries } = await race('begin');
    expect(open).toEqual([]);
    expect([...entries.values()]).toMatchObject([[{ event: 'auth.login' }, { event: 'auth.logout', metadata: { reason: 'closed' } }]]);
    for (const server of [one, two]) (await on(server, begun as string).get(ME)).expect(401, 'UNAUTHENTICATED');
  });
});

test('what a session had begun does not commit behind the answer that it was ended', async () => {
  const organizationId = await anOrganization(one);
  const person = await aPerson(one, 'admin', { organizationId });
  const { cookie, id } = await asSession(one, person);
  const caught = `select from audit_heads where organization_id = '${organizationId}' and chain = 'sys_${organizationId}' for update`;
  const both = await whileCaught(one.database, caught, async () => {
    const ending = person.client.delete(`/api/v1/auth/sessions/${id}`);
    await waiting(1);
    const made = on(two, cookie).post('/api/v1/users', { email: 'late@example.org' });
    await waiting(2);
    return { ending, made };
  });
  (await both.ending).expect(204);
  (await both.made).expect(401, 'UNAUTHENTICATED');
  expect(await one.sql(`select 1 from users where email = 'late@example.org'`)).toEqual([]);
});

describe('a stream by session', () => {
  test('ends with its session, and keeps none from ending by itself', async () => {
    const person = await aPerson(one, 'admin');
    const [ended, idle, left] = await Promise.all([asSession(one, person), asSession(one, person), asSession(one, person)]);
    const open = ({ cookie }: { cookie: string }) => openEvents(one, '', { cookie });
    const [ofEnded, ofIdle, ofLeft] = await Promise.all([open(ended), open(idle), open(left)]);
    expect([ofEnded.status, ofIdle.status, ofLeft.status]).toEqual([200, 200, 200]);
    // As if the last other use of the third had been long ago; opening a stream is one.
    await eventually(async () => expect(await one.sql(
      `select 1 from sessions where id = $1 and last_used_at > created_at`, [left.id])).toHaveLength(1), PATIENT);
    await one.sql(`update sessions set last_used_at = created_at, idle_until = now() + interval '50 minutes' where id = $1`, [left.id]);
    const [before] = await one.sql('select * from sessions where id = $1', [left.id]);
    await one.sql(`update sessions set idle_until = now() - interval '1 second' where id = $1`, [idle.id]);
    (await person.client.delete(`/api/v1/auth/sessions/${ended.id}`)).expect(204);
    await eventually(() => expect([ofEnded.isOver(), ofIdle.isOver()]).toEqual([true, true]), PATIENT);
    expect(ofLeft.isOver()).toBe(false);
    expect((await one.sql('select * from sessions where id = $1', [left.id]))[0]).toEqual(before);
    ofLeft.close();
  });
});

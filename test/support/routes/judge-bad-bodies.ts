import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Client } from '../http/actors.js';
import { badInputScenario, type BadInputScenario, type Refusal } from './bad-input-scenario.js';
import { bodyBytesMaxOf, goodBody, NO_JSON_TYPES, NO_OBJECT, UNREADABLE, wrongValuesFor } from './bad-bodies.js';
import type { BuiltAgent } from '../builders/agents.js';
import { closeRawConnections } from '../http/raw-http.js';
import { isPublic, pathOf, type Route } from './routes.js';
import type { TestServer } from '../servers/server.js';
import { storedState, type StoredState } from '../log/stored-state.js';
import { isOfPages } from './strongest-caller.js';

let server: TestServer;
let root: Client;
let agent: BuiltAgent;
let routes: readonly Route[];
let ids: BadInputScenario['ids'];
let send: BadInputScenario['send'];
let callerOf: BadInputScenario['callerOf'];
let before: StoredState;

/** What a mail or a chat leads to: the token or signature in the message is the credential. */
const isOfMessages = ({ template }: Route) => /^\/hitl\/|\/callbacks\//.test(template);

const named = ({ method, template }: Route) => `${method} ${template}`;
/** One reader reads the bodies of all routes: each route is sent one of so many that it cannot read. */
const READER_ONE_IN = 4;
const short = (value: unknown) => JSON.stringify(value)?.slice(0, 60);
/** What browsers send as forms is tried by the tests of the pages. */
const writing = () => routes.filter((route) => route.method !== 'GET' && route.method !== 'DELETE' && !route.takesForm);
const reading = () => writing().filter(({ takesBody }) => takesBody);
const wrongly = (route: Route, what: string,
  { status, code, pointers }: Refusal) => `${named(route)}, ${what}: ${status} ${code ?? ''} ${pointers.join(' ')}`;

/**
 * Bodies that no route may take, to every route that reads one, as the strongest caller whom it admits: each is refused at its place, and
 * nothing of it is kept.
 * @param oneIn each route is sent one of so many bodies of a kind
 */
export function judgeBadBodies({ oneIn }: { readonly oneIn: number }): void {
  beforeAll(async () => {
    ({ server, root, agent, routes, ids, send, callerOf } = await badInputScenario());
  });

  beforeEach(async () => {
    before = await storedState(server);
  });

  afterAll(async () => {
    closeRawConnections();
    await server.stop();
  });

  /** Each route has its part of them, at least one, and each of them its part of the routes. */
  const partFor = <Item>(n: number, all: readonly Item[]) => {
    const part = all.filter((_, m) => (n + m) % oneIn === 0);
    return part.length > 0 ? part : all.slice(n % all.length).slice(0, 1);
  };

  describe('on every route that reads a body', () => {
    test('there are such routes', () => {
      expect(reading().length).toBeGreaterThanOrEqual(18);
    });

    test('what cannot be read is 400, with the place', async () => {
      const wrong: string[] = [];
      for (const [n, route] of reading().entries()) {
        await Promise.all(Object.entries(UNREADABLE).filter((_, m) => (n + m) % READER_ONE_IN === 0).map(async ([what, body]) => {
          const answer = await send(route, { body });
          const right = answer.status === 400 && answer.code === 'VALIDATION_FAILED' && answer.pointers.length === 1;
          if (!right || !/^(\/.*)?$/.test(answer.pointers[0] ?? '-')) wrong.push(wrongly(route, what, answer));
        }));
      }
      expect(wrong).toEqual([]);
      expect(await storedState(server)).toEqual(before);
    });

    test('the place is the member, wherever it stands', async () => {
      const [route] = routes.filter((one) => named(one) === 'POST /api/v1/agents');
      for (const [body, pointer] of [
        ['{"metadata":{"a":[0,{"b":1,"b":1}]}}', '/metadata/a/1/b'], ['{"metadata":{"__proto__":1}}', '/metadata/__proto__'],
        ['{"tags":["\\u0000"]}', '/tags/0'],
        ['{"metadata":{"a/b~c":9007199254740993}}', '/metadata/a~1b~0c'], ['{', ''],
      ] as const) {
        expect((await send(route as Route, { body })).pointers).toEqual([pointer]);
      }
    });

    test('what is JSON but no object is 400', async () => {
      const wrong: string[] = [];
      for (const [n, route] of reading().entries()) {
        for (const body of partFor(n, NO_OBJECT)) {
          const answer = await send(route, { body });
          if (answer.status !== 400 || answer.pointers.join() !== '') wrong.push(wrongly(route, body, answer));
        }
      }
      expect(wrong).toEqual([]);
      expect(await storedState(server)).toEqual(before);
    });

    test('another media type is 415, and so is a compressed body', async () => {
      const wrong: string[] = [];
      for (const [n, route] of reading().entries()) {
        const body = JSON.stringify(goodBody(route, { agentId: agent.id }));
        for (const type of partFor(n, NO_JSON_TYPES)) {
          const answer = await send(route, { body, type });
          const isJson = /^application\/json;/.test(type);
          const [status, code] = isOfPages(route) && !isJson ? [403, 'FORBIDDEN'] : [415, 'UNSUPPORTED_MEDIA_TYPE'];
          if (answer.status !== status || answer.code !== code) wrong.push(wrongly(route, type, answer));
        }
        for (const encoding of partFor(n, ['gzip', 'br', 'deflate', 'gzip, identity'])) {
          const answer = await send(route, { body, headers: ['content-encoding', encoding] });
          if (answer.status !== 415) wrong.push(wrongly(route, encoding, answer));
        }
      }
      expect(wrong).toEqual([]);
      expect(await storedState(server)).toEqual(before);
    });

    test('routes that read no member refuse the same bodies, and do not act on them', async () => {
      const wrong: string[] = [];
      for (const [n, route] of writing().filter(({ takesBody }) => !takesBody).entries()) {
        for (const [status, sent] of [
          ...Object.values(UNREADABLE).filter((_, m) => (n + m) % READER_ONE_IN === 0).map((body) => [400, { body }] as const),
          [isOfPages(route) ? 403 : 415, { body: '{}', type: 'text/plain' }] as const,
          [415, { body: '{}', headers: ['content-encoding', 'gzip'] }] as const,
          [413, { body: `{"padding":"${'x'.repeat(300_000)}"}` }] as const,
          ...partFor(n, NO_OBJECT.filter((body) => body !== 'null')).map((body) => [400, { body }] as const),
        ]) {
          const answer = await send(route, sent);
          if (answer.status !== status) wrong.push(wrongly(route, String(sent.body).slice(0, 30), answer));
        }
      }
      expect(await storedState(server)).toEqual(before);
      expect(wrong).toEqual([]);
    });

    test('one byte more than 256 KiB, for models than 4 MiB, is 413, told by its length or not', async () => {
      const wrong: string[] = [];
      for (const [n, route] of reading().entries()) {
        for (const size of [bodyBytesMaxOf(route) + 1, ...partFor(n, [2 * bodyBytesMaxOf(route)])]) {
          const body = `{"padding":"${'x'.repeat(size - 14)}"}`;
          const answers = [await send(route, { body }), await sendChunked(route, body)];
          for (const answer of answers) if (answer.status !== 413 || answer.code !== 'BODY_TOO_LARGE') wrong.push(wrongly(route,
            `${size} bytes`, answer));
        }
      }
      expect(wrong).toEqual([]);
      expect(await storedState(server)).toEqual(before);
    });

    async function sendChunked(route: Route, body: string): Promise<Refusal> {
      const [, authorization = '', , origin = ''] = callerOf(route);
      const stream = new ReadableStream({
        start: (controller) => {
          for (let at = 0; at < body.length; at += 65_536) controller.enqueue(Buffer.from(body.slice(at, at + 65_536)));
          controller.close();
        },
      });
      const answer = await fetch(new URL(pathOf(route, ids), server.url), {
        method: route.method, body: stream, duplex: 'half',
        headers: { authorization, origin, 'content-type': 'application/json' },
      } as RequestInit);
      const { code, error } = (await answer.json()) as { code?: string; error?: { code: string } };
      return { status: answer.status, code: code ?? error?.code ?? '', pointers: [], errors: [], headers: {} };
    }

    test('each documented member of a wrong type or size is 400 at its place, in either spelling', async () => {
      const wrong: string[] = [];
      let tried = 0;
      let members = 0;
      for (const route of reading()) {
        const good = goodBody(route, { agentId: agent.id });
        for (const [member, schema] of Object.entries(route.members)) {
          const snake = member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
          for (const name of new Set([member, snake])) {
            await Promise.all(partFor(members++, wrongValuesFor(schema)).map(async (value) => {
              const { [member]: _, ...rest } = good;
              const answer = await send(route, { body: JSON.stringify({ ...rest, [name]: value }) });
              tried++;
              const there = answer.pointers.some((pointer) => pointer === `/${name}` || pointer.startsWith(`/${name}/`));
              if (answer.status !== 400 || !there) wrong.push(wrongly(route, `${name} ${short(value)}`, answer));
            }));
          }
        }
      }
      expect(wrong).toEqual([]);
      expect(tried).toBeGreaterThan(1_200 / oneIn);
      expect(await storedState(server)).toEqual(before);
    });

    test('skipHitl is nobody\'s to ask for', async () => {
      for (const path of ['execute', 'executions', 'hitl']) {
        for (const body of [{ skipHitl: true }, { skip_hitl: true }, { skipHitl: true, skip_hitl: true }]) {
          (await root.post(`/api/v1/${path}`, { capability: 'email.send', agentId: agent.id, ...body })).expect(403, 'FORBIDDEN');
          (await agent.client.post(`/api/v1/${path}`, { capability: 'email.send', ...body })).expect(403, 'FORBIDDEN');
        }
      }
      expect(await storedState(server)).toEqual(before);
    });
  });

  describe('afterwards', () => {
    test('the log verifies, and no call was an error of ours', async () => {
      expect((await root.get('/api/v1/audit/verify')).expect(200).body).toMatchObject({ valid: true, breaks: [] });
      await server.assertAlive();
      expect(server.output()).not.toMatch(/a request failed|unhandled|"level":(50|60)/i);
    });

    test('public routes change nothing, but for those whose body is a credential', () => {
      const changing = routes.filter((route) => isPublic(route) && route.method !== 'GET' && !isOfMessages(route));
      expect(changing.map(({ template }) => template).sort()).toEqual([
        '/api/v1/auth/backchannel-logout', '/api/v1/auth/invitations/{token}/passkey', '/api/v1/auth/invitations/{token}/passkey/options',
        '/api/v1/auth/passkey', '/api/v1/auth/passkey/options', '/api/v1/node/activate', '/invitations/{token}', '/sign-in',
      ]);
    });
  });
}

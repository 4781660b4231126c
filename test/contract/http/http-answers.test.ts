import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PROBLEMS } from '../../../src/domain/problems.js';
import { startThings } from './http-platform-app.js';

process.env['COUNTERSIGN_STRICT_REPLIES'] = '1';

type Server = Awaited<ReturnType<typeof startThings>>;
let server: Server;
beforeAll(async () => {
  server = await startThings();
});
afterAll(() => server.stop());

/** Checks the form that every refusal has, and gives its body. */
async function problem(response: Response, code: keyof typeof PROBLEMS) {
  const body = (await response.json()) as Record<string, unknown> & { errors?: { pointer: string; message: string }[] };
  expect(body).toMatchObject({ code, status: PROBLEMS[code].status, title: PROBLEMS[code].title });
  expect(response.status).toBe(PROBLEMS[code].status);
  expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(response.headers.get('x-request-id')).toBe(body['requestId']);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(body['type']).toBe(`/docs/errors#${code.toLowerCase().replaceAll('_', '-')}`);
  return body;
}

describe('answers', () => {
  const get = (path: string) => fetch(server.url + path);

  it('carry no tag, no trace of the framework, and strict headers', async () => {
    const { headers } = await get('/open/context');
    expect(headers.get('etag')).toBeNull();
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('have the status and headers of a Reply', async () => {
    const response = await get('/open/reply');
    expect([response.status, response.headers.get('location')]).toEqual([202, '/elsewhere']);
    const nothing = await get('/open/nothing');
    expect([nothing.status, await nothing.text()]).toEqual([204, '']);
  });

  it('carry members and headers of a problem, none in the place of a standard one', async () => {
    const response = await get('/open/declared-code');
    expect(response.headers.get('x-extra')).toBe('1');
    const refused = await problem(response, 'HITL_EXPIRED');
    expect(refused).toMatchObject({ request: { id: 'hitl_1' }, detail: 'Too late.' });
  });

  it('that a route does not declare become a 500 that names it', async () => {
    const status = await problem(await get('/open/undeclared-status'), 'INTERNAL');
    expect(status['detail']).toBe('undeclaredStatus answered 418, which its @Replies does not declare.');
    const code = await problem(await get('/open/undeclared-code'), 'INTERNAL');
    expect(code['detail']).toBe('undeclaredCode answered CONFLICT, which its @Replies does not declare.');
  });

  it('to bugs say nothing, while the log says it with the same id', async () => {
    for (const path of ['/open/bug', '/open/sql']) {
      const refused = await problem(await get(path), 'INTERNAL');
      expect(JSON.stringify(refused)).not.toContain('canary');
      expect(Object.keys(refused).toSorted()).toEqual(['code', 'detail', 'instance', 'requestId', 'status', 'title', 'type']);
      const logged = server.log().find((line) => line['requestId'] === refused['requestId'] && 'err' in line);
      expect(JSON.stringify(logged)).toContain('canary');
    }
  });

  it('while the database is away ask for patience', async () => {
    const response = await get('/open/away');
    expect(response.headers.get('retry-after')).toBe('1');
    await problem(response, 'UNAVAILABLE');
  });
});

describe('the context of a request', () => {
  const context = async (headers: Record<string, string>, at: Server = server) => {
    const response = await fetch(`${at.url}/open/context`, { headers });
    const body = (await response.json()) as { requestId: string; address: string; traceId?: string };
    expect(response.headers.get('x-request-id')).toBe(body.requestId);
    return body;
  };

  it('takes the caller’s id when it can be one, and makes one when not', async () => {
    expect((await context({ 'X-Request-Id': 'my-request_01' })).requestId).toBe('my-request_01');
    for (const bad of ['short', 'x'.repeat(65), 'with space', 'a"b"c"d"e']) {
      const { requestId } = await context({ 'X-Request-Id': bad });
      expect(requestId).not.toBe(bad);
      expect(requestId).toMatch(/^[A-Za-z0-9_-]{8,64}$/);
    }
  });

  it('believes nobody about addresses but the proxies that it was told of', async () => {
    const forged = { 'X-Forwarded-For': '198.51.100.1' };
    expect((await context(forged)).address).toBe('127.0.0.1');
    const behind = await startThings({ trustedProxies: ['127.0.0.0/8'] });
    expect((await context(forged, behind)).address).toBe('198.51.100.1');
    expect((await context({ 'X-Forwarded-For': '9.9.9.9, 198.51.100.1' }, behind)).address).toBe('198.51.100.1');
    // Said once of whoever is not believed, with its address, and never of a proxy that is.
    const said = (at: Server) => at.log().filter(({ msg }) => String(msg).includes('not in TRUSTED_PROXIES'));
    for (let call = 0; call < 5; call++) await context(forged);
    expect(said(server)).toEqual([expect.objectContaining({ level: 'warn', peer: '127.0.0.1', count: 1 })]);
    expect(said(behind)).toEqual([]);
    await behind.stop();
  });

  it('is one line of the log, without secrets', async () => {
    const secrets = { Authorization: 'Bearer canary-token', 'X-API-Key': 'canary-key', Cookie: 'a=canary-cookie' };
    const headers = { ...secrets, 'X-Request-Id': 'one-line-of-log' };
    await fetch(`${server.url}/open/bytes?token=canary-query%0aforged`, { method: 'POST', headers, body: 'canary-body' });
    await delay(20);
    const lines = server.log().filter((line) => line['requestId'] === 'one-line-of-log');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ method: 'POST', path: '/open/bytes', status: 200, address: '127.0.0.1', level: 'info' });
    expect(lines[0]?.['ms']).toEqual(expect.any(Number));
    expect(JSON.stringify(server.log())).not.toMatch(/canary-(token|key|cookie|query|body)/);
  });
});

describe('other origins', () => {
  it('may call only where they are listed', async () => {
    const open = await startThings({ corsOrigins: ['https://console.example'] });
    const ask = (origin: string) =>
      fetch(`${open.url}/things`, { method: 'OPTIONS', headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' } });
    const listed = await ask('https://console.example');
    expect([listed.status, listed.headers.get('access-control-allow-origin')]).toEqual([204, 'https://console.example']);
    expect((await ask('https://evil.example')).headers.get('access-control-allow-origin')).not.toBe('https://evil.example');
    await open.stop();
  });
});

describe('the documentation', () => {
  it('has a place for each problem’s type', async () => {
    const response = await fetch(`${server.url}/docs/errors`);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const html = await response.text();
    for (const code of Object.keys(PROBLEMS)) expect(html).toContain(`id="${code.toLowerCase().replaceAll('_', '-')}"`);
  });

  it('needs nothing from elsewhere, and nothing inline', async () => {
    const pages = [
      '/docs', '/docs/', '/docs/errors', '/docs/how-to', '/docs/how-to/connector', '/docs/glossary', '/docs/search?q=thing',
    ];
    const asked = new Set<string>();
    for (const path of pages) {
      const html = await (await fetch(server.url + path)).text();
      const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
      expect(links.length).toBeGreaterThan(3);
      for (const link of links) expect(link).toMatch(/^(?:\/|#|data:,$)/);
      const own = links.filter((href) => href.startsWith('/'));
      for (const link of own.filter((one) => !asked.has(one))) {
        expect((await fetch(server.url + link)).status).toBe(200);
        asked.add(link);
      }
      expect(html).not.toMatch(/<script>|<style|\sstyle=|\son[a-z]+=/);
    }
  });

  it('is searched without a script: routes by path, word and member, and how-to pages', async () => {
    const foundBy = async (query: string) => {
      const page = await (await fetch(`${server.url}/docs/search?q=${encodeURIComponent(query)}`)).text();
      return [...page.matchAll(/<li><a href="([^"]+)">/g)].map(([, href]) => href);
    };
    expect((await foundBy('post /things')).filter((href) => href!.startsWith('/docs#/'))).not.toEqual([]);
    expect((await foundBy('quorum'))[0]).toBe('/docs/how-to/quorum');
    expect(await foundBy('never ask')).toContain('/docs/glossary');
    expect(await foundBy('no-such-word')).toEqual([]);
  });

  it('shows what was searched for as text, and takes whatever is asked', async () => {
    const odd = [
      '?q=<script>alert("1")</script>', '?q=%', '?q=a&q=b', '?q[]=1', '', '?q=', `?q=${'a'.repeat(5_000)}`, '?%zz&=;', '?q=%00%ff',
    ];
    for (const query of odd) {
      const answer = await fetch(`${server.url}/docs/search${query}`);
      expect([query.slice(0, 40), answer.status]).toEqual([query.slice(0, 40), 200]);
      expect(await answer.text()).not.toContain('<script>alert');
    }
    expect((await fetch(`${server.url}/docs/search`, { method: 'POST' })).status).toBe(404);
  });

  it('holds an OpenAPI 3.1 document of the routes', async () => {
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
      openapi: string;
      paths: Record<string, Record<string, { operationId: string; responses: object; parameters: { name?: string; $ref?: string }[] }>>;
      components: { schemas: Record<string, { properties: Record<string, unknown>; required?: string[] }> };
    };
    expect(document.openapi).toBe('3.1.0');
    expect(document.paths['/things']?.['post']?.operationId).toBe('things.make');
    expect(document.paths['/api/v1/llm/things']?.['post']?.operationId).toBe('things.make2');
    const statuses = Object.keys(document.paths['/things']!['post']!.responses);
    expect(statuses).toEqual(['201', '400', '401', '403', '404', '413', '415', '429', '500', '503']);
    const parameters = document.paths['/things']?.['get']?.parameters;
    expect(parameters?.flatMap(({ name }) => name ?? [])).toEqual(['limit', 'offset', 'cursor']);
    expect(parameters?.flatMap(({ $ref }) => $ref?.split('/').at(-1) ?? [])).toEqual(['Prefer', 'Traceparent']);
    expect(document.components.schemas['ThingDto']?.required).toEqual(['name']);
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(['ThingDto', 'LimitsDto', 'Problem']));
    expect(Object.keys(document.paths['/open/declared-code']!['get']!.responses)).toContain('409');
  });
});

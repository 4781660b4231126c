import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { freePort } from '../servers/server-process.js';
import { eventually } from '../running/eventually.js';

/** An MCP server, and what it has been asked. */
export interface McpUpstream {
  readonly url: string;
  /** Method and headers of each request. */
  readonly requests: readonly { readonly method: string; readonly headers: Headers }[];
  /** How often each of its tools was run. */
  readonly ran: ReadonlyMap<string, number>;
  /** From now on the tool is told of in other words. */
  describe(description: string): void;
  close(): Promise<void>;
}

/** A server of the revision 2026-07-28, by that protocol's own package, which takes no earlier one. */
export async function startModernMcp({ ttlMs = 0 }: { readonly ttlMs?: number } = {}): Promise<McpUpstream> {
  const requests: { method: string; headers: Headers }[] = [];
  const ran = new Map<string, number>();
  let description = 'Makes an order.';
  const counted = (name: string) => ran.set(name, (ran.get(name) ?? 0) + 1);
  const handler = createMcpHandler(() => {
    const options = { capabilities: { tools: {} }, cacheHints: { 'tools/list': { ttlMs } } };
    const server = new McpServer({ name: 'orders', version: '1' }, options);
    const schema = { type: 'object', properties: { item: { type: 'string', 'x-mcp-header': 'Item' } }, required: ['item'] };
    server.registerTool('order', { description, inputSchema: fromJsonSchema<{ item: string }>(schema) }, ({ item }, { http }) => {
      counted('order');
      const shown = http?.req?.headers.get('authorization') ?? '';
      return { content: [{ type: 'text', text: `ordered ${item} ${shown}` }], structuredContent: { item } };
    });
    server.registerTool('refuse', { description: 'Fails.' }, () => {
      counted('refuse');
      return { content: [{ type: 'text', text: 'no' }], isError: true };
    });
    return server;
  }, { legacy: 'reject' });
  const http = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const headers = new Headers(incoming.headers as Record<string, string>);
      requests.push({ method: (JSON.parse(body) as { method: string }).method, headers });
      const request = new Request(`http://${headers.get('host')}${incoming.url}`, { method: incoming.method!, headers, body });
      void handler.fetch(request).then(async (response) => {
        outgoing.writeHead(response.status, Object.fromEntries(response.headers));
        for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) outgoing.write(chunk);
        outgoing.end();
      });
    });
  });
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, requests, ran,
    describe: (next) => void (description = next),
    close: async () => {
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
      await handler.close?.();
    },
  };
}

/** `@modelcontextprotocol/server-everything`, in a process of its own: a server that begins with `initialize`. */
export async function startEverything(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const port = await freePort();
  const entry = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json');
  const child = spawn(process.execPath, [join(dirname(entry), 'dist/index.js'), 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) }, stdio: 'ignore',
  });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = `http://127.0.0.1:${port}/mcp`;
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`server-everything ended with ${child.exitCode}`);
    await fetch(url);
  }, { every: 100 });
  return {
    url,
    close: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** Something in front of an MCP server that may change what it says. */
export interface Rewriter {
  readonly url: string;
  /** Of all requests. */
  readonly methods: readonly string[];
  /** From now on answers are changed so. */
  rewrite(change: (text: string) => string): void;
  /** The next call of a tool is answered as by a server that knows nothing of its session. */
  forgetOnce(): void;
  close(): Promise<void>;
}

export async function startRewriter(target: string): Promise<Rewriter> {
  const methods: string[] = [];
  let change = (text: string) => text;
  let forgets = false;
  const http = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const { method } = JSON.parse(body) as { method: string };
      methods.push(method);
      if (forgets && method === 'tools/call') {
        forgets = false;
        return void outgoing.writeHead(404).end();
      }
      const { host: _host, connection: _connection, 'content-length': _length, ...headers } = incoming.headers;
      void fetch(target, { method: 'POST', headers: headers as Record<string, string>, body }).then(async (response) => {
        const text = change(await response.text());
        const { 'content-type': type, 'mcp-session-id': session } = Object.fromEntries(response.headers) as Record<string, string>;
        const kept = { ...(type ? { 'content-type': type } : {}), ...(session ? { 'mcp-session-id': session } : {}) };
        outgoing.writeHead(response.status, kept);
        outgoing.end(text);
      });
    });
  });
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, methods,
    rewrite: (next) => void (change = next),
    forgetOnce: () => void (forgets = true),
    close: async () => {
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
    },
  };
}

// The other end of connectors: answers every call at once, in a process of its own. `/mcp` is an MCP server of the revision 2026-07-28
// with one tool, and as little behind it; `/v1/chat/completions` a model.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerAsModel, leftAt } from './model-answers.js';

const ANSWER = JSON.stringify({ ok: true, reference: 'PO-48213' });
const TOOL = { name: 'order', description: 'Orders what is asked for.', inputSchema: { type: 'object' } };
/** What each method results in, as JSON. */
const RESULTS: Readonly<Record<string, string>> = {
  'server/discover': JSON.stringify({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, serverInfo: { name: 'orders' } }),
  'tools/list': JSON.stringify({ tools: [TOOL], ttlMs: 300_000 }),
  'tools/call': JSON.stringify({ content: [{ type: 'text', text: 'PO-48213' }], structuredContent: { ok: true } }),
};

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk)).once('end', () => {
    const text = Buffer.concat(chunks).toString('utf8');
    if (request.url === '/v1/chat/completions') return void answerAsModel(text, response);
    const answer = request.url === '/mcp' ? answerTo(text) : request.url === '/left' ? JSON.stringify(leftAt) : ANSWER;
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer) }).end(answer);
  });
});
process.once('SIGTERM', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

function answerTo(text: string): string {
  const { id, method } = JSON.parse(text) as { id: number; method: string };
  return `{"jsonrpc":"2.0","id":${id},"result":${RESULTS[method] ?? '{}'}}`;
}

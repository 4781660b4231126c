import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json.js';
import { parseStrictJson } from '../../http/request/strict-json.js';
import type { OutboundGuard, OutboundOutcome } from '../outbound-guard.js';

/** Where requests go, by what credentials, and within what bounds. */
export interface McpTarget {
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The most bytes of an answer that are read. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Whose requests share connections; without it each has its own. */
  readonly keptFor?: string;
}

/** The answer to a JSON-RPC request, or the exchange that brought none. */
export type McpReply =
  | { readonly kind: 'result'; readonly result: JsonObject; readonly sessionId?: string }
  | { readonly kind: 'error'; readonly code: number; readonly error: JsonObject; readonly exchange: OutboundOutcome }
  | { readonly kind: 'none'; readonly exchange: OutboundOutcome };

const STREAM = 'text/event-stream';
let lastId = 0;

/** Makes one request by MCP's streamable HTTP: answered as JSON, or by a stream of events that may go on after the answer. */
export async function ask(
  guard: OutboundGuard, target: McpTarget, method: string, params: JsonObject, headers: Readonly<Record<string, string>>,
): Promise<McpReply> {
  const id = ++lastId;
  const events = new EventReader(id);
  const exchange = await post(guard, target, { jsonrpc: '2.0', id, method, params }, headers, (part, received) =>
    typeOf(received) === STREAM && events.push(part));
  if (exchange.kind !== 'answered') return { kind: 'none', exchange };
  const { status, headers: received, body } = exchange;
  const isGood = status >= 200 && status <= 299;
  // A server that refuses a request before it reads one need not know its id.
  const answer = events.answer ?? (typeOf(received) === STREAM ? undefined : answerIn(body, isGood ? id : undefined));
  if (!answer) return { kind: 'none', exchange };
  if (isJsonObject(answer.error)) return { kind: 'error', code: Number(answer.error['code']), error: answer.error, exchange };
  if (!isGood || !isJsonObject(answer.result)) return { kind: 'none', exchange };
  const { 'mcp-session-id': sessionId } = received;
  return { kind: 'result', result: answer.result, ...(sessionId === undefined ? {} : { sessionId }) };
}

/** Sends a message that is not answered. */
export async function tell(
  guard: OutboundGuard, target: McpTarget, method: string, headers: Readonly<Record<string, string>>,
): Promise<void> {
  await post(guard, target, { jsonrpc: '2.0', method }, headers);
}

function post(
  guard: OutboundGuard, { headers: own, url, ...bounds }: McpTarget, message: JsonObject,
  headers: Readonly<Record<string, string>>, isWhole?: (part: Buffer, received: Readonly<Record<string, string>>) => boolean,
): Promise<OutboundOutcome> {
  return guard.fetch(url, {
    method: 'POST',
    headers: { ...own, ...headers, 'content-type': 'application/json', accept: `application/json, ${STREAM}` },
    body: JSON.stringify(message),
    ...bounds,
    ...(isWhole === undefined ? {} : { isWhole }),
  });
}

function typeOf(headers: Readonly<Record<string, string>>): string {
  return (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
}

interface Answer {
  readonly result?: JsonValue;
  readonly error?: JsonValue;
}

/** The answer to the request with this id, or without one to any. What is no I-JSON is no answer. */
function answerIn(body: Buffer, id: number | undefined): Answer | undefined {
  const parsed = parseStrictJson(body);
  if (!parsed.ok || !isJsonObject(parsed.value) || (id !== undefined && parsed.value['id'] !== id)) return undefined;
  const { result, error } = parsed.value;
  return result === undefined && error === undefined ? undefined : parsed.value;
}

/** Reads server-sent events (WHATWG HTML, section 9.2) until one of them is the answer; others, such as of progress, pass by. */
class EventReader {
  answer: Answer | undefined;
  private readonly decoder = new TextDecoder('utf-8');
  private rest = '';
  private data: string[] = [];

  constructor(private readonly id: number) {}

  /** @returns whether the answer has come */
  push(part: Buffer): boolean {
    this.rest += this.decoder.decode(part, { stream: true });
    // A line may end by CR and LF, which may come in two parts.
    const lines = this.rest.split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop()!;
    for (const line of lines) this.line(line);
    return this.answer !== undefined;
  }

  private line(line: string): void {
    if (line !== '') {
      const [, value] = /^data:? ?(.*)$/.exec(line) ?? [];
      if (value !== undefined) this.data.push(value);
      return;
    }
    const data = this.data.join('\n');
    this.data = [];
    if (data !== '') this.answer ??= answerIn(Buffer.from(data, 'utf8'), this.id);
  }
}

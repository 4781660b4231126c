import { Injectable } from '@nestjs/common';
import { BoundedCache } from '../../../domain/gate/bounded-cache.js';
import { headerValue, type McpTool, mirroredArguments, readTool, toolDigest } from '../../../domain/gate/connectors/mcp-tool.js';
import type { JsonObject } from '../../../domain/json.js';
import { OutboundGuard } from '../outbound-guard.js';
import { ask, type McpReply, type McpTarget, tell } from './mcp-exchange.js';

const REVISION = '2026-07-28';
/** Of the time when connections began with `initialize`, newest first. */
const FORMER_REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26'];
const CLIENT = { name: 'countersign', version: '1' };
/** A look-up is good for the time that the server gives it, and no longer than this. */
const KNOWN_MS = 5 * 60_000;
/** Further ones make room by forgetting the oldest: schemas may be large. */
const KNOWN_AT_MOST = 500;
/** A tool that is known to be another one than is wanted is looked up again once in so long: it may have been that for a moment alone. */
const AGAIN_MS = 1_000;
const PAGES_MAX = 20;
const LIST_BYTES_MAX = 1024 * 1024;
const LOOK_UP_MS = 15_000;

/** Which of the two ways of speaking a server takes. */
interface Speech {
  readonly revision: string;
  readonly isFormer: boolean;
  readonly sessionId?: string;
}

/** A tool as its server told of it, if it did, and how to speak to that server. */
export interface KnownTool {
  readonly tool?: McpTool;
  readonly digest?: string;
  readonly speech: Speech;
  /** By a clock that never steps back. */
  readonly until: number;
}

/** `unreachable`: no connection, or no answer. `refused`: an answer that is of no use. The message quotes nothing of it. */
export interface LookUpFailure {
  readonly failed: 'unreachable' | 'refused';
  readonly message: string;
}

/**
 * Speaks to MCP servers as far as a connector needs it: looks tools up, and calls them. Each server is asked by the revision of 2026-07-28
 * first, without any state, and by `initialize` where it does not know that. What a server asks of its client is never answered.
 */
@Injectable()
export class McpClient {
  private readonly known = new Map<string, KnownTool>();
  /** By second and key, also while it goes on: calls that come meanwhile share it. */
  private readonly again = new BoundedCache<string, Promise<KnownTool | LookUpFailure>>(KNOWN_AT_MOST);

  constructor(private readonly guard: OutboundGuard) {}

  /**
   * A tool, as it was told of lately.
   *
   * @param key whose look-up it is, by which connector: what a server shows depends on who asks
   * @param digest of the tool that is wanted: before another one is given, it is looked up again, at most once in a second
   */
  async tool(key: string, target: McpTarget, name: string, digest?: string): Promise<KnownTool | LookUpFailure> {
    const known = this.known.get(key);
    if (!known || performance.now() >= known.until) return this.freshTool(key, target, name);
    if (known.digest !== undefined && known.digest === digest) return known;
    const second = Math.floor(performance.now() / AGAIN_MS);
    const found = await this.again.get(`${second} ${key}`, () => this.freshTool(key, target, name));
    // One that failed may have been by another call, whose time was over.
    return 'failed' in found ? this.freshTool(key, target, name) : found;
  }

  /** The same as it is told of now, whatever is known. */
  async freshTool(key: string, target: McpTarget, name: string): Promise<KnownTool | LookUpFailure> {
    const bounded = { ...target, maxBytes: LIST_BYTES_MAX, timeoutMs: Math.min(target.timeoutMs, LOOK_UP_MS) };
    const found = await this.lookUp(bounded, name, this.known.get(key)?.speech);
    if ('failed' in found) return found;
    this.known.delete(key);
    if (this.known.size >= KNOWN_AT_MOST) this.known.delete(this.known.keys().next().value!);
    this.known.set(key, found);
    return found;
  }

  /** Calls a tool with an input. A session that the server has forgotten has not acted, and is begun anew once. */
  async call(
    key: string, target: McpTarget, known: KnownTool, input: JsonObject, headers: Readonly<Record<string, string>>,
  ): Promise<McpReply> {
    const tool = known.tool!;
    const once = ({ speech }: KnownTool) => ask(this.guard, target, 'tools/call', within(speech, { name: tool.name, arguments: input }), {
      ...headers, ...headersOf(speech, 'tools/call', tool.name), ...(speech.isFormer ? {} : mirroredArguments(tool, input)),
    });
    const reply = await once(known);
    if (!isForgotten(known.speech, reply)) return reply;
    const again = await this.freshTool(key, target, tool.name);
    return 'failed' in again || again.digest !== known.digest ? reply : once(again);
  }

  private async lookUp(target: McpTarget, name: string, former?: Speech): Promise<KnownTool | LookUpFailure> {
    const speech = former ?? (await this.greet(target));
    if ('failed' in speech) return speech;
    let cursor: string | undefined;
    for (let page = 0; page < PAGES_MAX; page++) {
      const asked = within(speech, cursor === undefined ? {} : { cursor });
      const reply = await ask(this.guard, target, 'tools/list', asked, headersOf(speech, 'tools/list'));
      if (former && isForgotten(former, reply)) return this.lookUp(target, name);
      if (reply.kind !== 'result') return failure(reply, 'tools/list');
      const { tools, nextCursor, ttlMs } = reply.result;
      const until = performance.now() + (typeof ttlMs === 'number' && ttlMs >= 0 ? Math.min(ttlMs, KNOWN_MS) : KNOWN_MS);
      const tool = (Array.isArray(tools) ? tools : []).map(readTool).find((one) => one?.name === name);
      if (tool) return { tool, digest: toolDigest(tool), speech, until };
      if (typeof nextCursor !== 'string') return { speech, until };
      cursor = nextCursor;
    }
    return { failed: 'refused', message: `The server has more than ${PAGES_MAX} pages of tools.` };
  }

  private async greet(target: McpTarget): Promise<Speech | LookUpFailure> {
    const speech: Speech = { revision: REVISION, isFormer: false };
    const reply = await ask(this.guard, target, 'server/discover', within(speech, {}), headersOf(speech, 'server/discover'));
    if (reply.kind === 'result') {
      const { supportedVersions } = reply.result;
      if (Array.isArray(supportedVersions) && supportedVersions.includes(REVISION)) return speech;
    } else if (reply.exchange.kind !== 'answered' || [401, 403].includes(reply.exchange.status) || reply.exchange.status >= 500) {
      return failure(reply, 'server/discover');
    }
    return this.initialize(target);
  }

  private async initialize(target: McpTarget): Promise<Speech | LookUpFailure> {
    const params = { protocolVersion: FORMER_REVISIONS[0]!, capabilities: {}, clientInfo: CLIENT };
    const reply = await ask(this.guard, target, 'initialize', params, {});
    if (reply.kind !== 'result') return failure(reply, 'initialize');
    const { protocolVersion: revision } = reply.result;
    if (typeof revision !== 'string' || !FORMER_REVISIONS.includes(revision)) {
      return { failed: 'refused', message: 'The server speaks no revision of MCP that is known here.' };
    }
    const { sessionId } = reply;
    const isUsable = sessionId === undefined || /^[\x21-\x7e]{1,1000}$/.test(sessionId);
    if (!isUsable) return { failed: 'refused', message: 'The server gives its session a name that cannot stand in a header.' };
    const speech: Speech = { revision, isFormer: true, ...(sessionId === undefined ? {} : { sessionId }) };
    await tell(this.guard, target, 'notifications/initialized', headersOf(speech, 'notifications/initialized'));
    return speech;
  }
}

/** What each request says of itself, since there is no connection that could know it. */
function within({ isFormer, revision }: Speech, params: JsonObject): JsonObject {
  if (isFormer) return params;
  return {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientInfo': CLIENT,
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  };
}

function headersOf({ revision, isFormer, sessionId }: Speech, method: string, name?: string): Readonly<Record<string, string>> {
  return {
    'mcp-protocol-version': revision,
    ...(isFormer ? {} : { 'mcp-method': method, ...(name === undefined ? {} : { 'mcp-name': headerValue(name) }) }),
    ...(sessionId === undefined ? {} : { 'mcp-session-id': sessionId }),
  };
}

/** By the protocol, 404 says of a session that there is none, before anything is done in it. */
function isForgotten({ sessionId }: Speech, reply: McpReply): boolean {
  return sessionId !== undefined && reply.kind !== 'result' && reply.exchange.kind === 'answered' && reply.exchange.status === 404;
}

function failure(reply: Exclude<McpReply, { kind: 'result' }>, method: string): LookUpFailure {
  const { exchange } = reply;
  if (exchange.kind !== 'answered') return { failed: 'unreachable', message: exchange.message };
  if (reply.kind === 'error') return { failed: 'refused', message: `The server answered ${method} by error ${reply.code}.` };
  const isGood = exchange.status >= 200 && exchange.status <= 299;
  const how = isGood ? 'by nothing that MCP knows' : `by ${exchange.status}`;
  return { failed: 'refused', message: `The server answered ${method} ${how}.` };
}


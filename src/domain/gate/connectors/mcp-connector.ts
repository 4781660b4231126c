import type { JsonObject } from '../../json.js';
import { placeholderProblem, placeholders } from '../connector-template.js';
import { checkAddress, checkHeaders, checkHttpBounds, type HttpBounds, present, secretProblem, type Wrong } from './connector-fields.js';

/** A tool on an upstream MCP server (streamable HTTP). The input is the tool's arguments, as it stands. */
export interface McpConnector extends HttpBounds {
  readonly type: 'mcp';
  /** Literal: the tool is looked up there before there is any input. */
  readonly url: string;
  /** The tool's name, exact. */
  readonly tool: string;
  /** Values may hold `{secrets.name}`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Digest of the tool as it was when it was defined (`toolDigest`): a tool that has another one is not called. */
  readonly toolDigest?: string;
}

export const MCP_MEMBERS = ['type', 'url', 'tool', 'headers', 'timeoutSeconds', 'maxBytes', 'idempotent', 'toolDigest'] as const;
const TOOL_NAME_MAX = 200;
/** What the protocol itself sets. */
const OF_THE_PROTOCOL = /^(mcp-.*|accept|content-type|last-event-id)$/;

export function checkMcpConnector(definition: JsonObject, wrong: Wrong): McpConnector {
  const { url, tool, headers, toolDigest } = definition;
  if (typeof url !== 'string') wrong('/url', 'is required');
  else checkUrl(url, wrong);
  if (typeof tool !== 'string' || tool === '' || tool.length > TOOL_NAME_MAX || /[\u0000-\u001f\u007f]/.test(tool)) {
    wrong('/tool', `must be the name of a tool, 1 to ${TOOL_NAME_MAX} characters`);
  }
  if (headers !== undefined) checkHeaders(headers, wrong, headerProblem);
  if (toolDigest !== undefined && (typeof toolDigest !== 'string' || !/^[A-Za-z0-9_-]{43}$/.test(toolDigest))) {
    wrong('/toolDigest', 'must be as the service answers it; leave it out for the tool as it is now');
  }
  return { type: 'mcp', url, tool, ...present({ headers, toolDigest }), ...checkHttpBounds(definition, wrong) } as McpConnector;
}

function checkUrl(url: string, wrong: Wrong): void {
  if (checkAddress(url, wrong) === undefined) return;
  const problem = placeholderProblem(url) ?? secretProblem(url);
  if (problem) wrong('/url', problem);
  else if (/[{}]/.test(url)) wrong('/url', 'must be literal: the input goes to the tool as its arguments');
  else if (!URL.canParse(url)) wrong('/url', 'is not a valid address');
}

function headerProblem(name: string, value: string): string | undefined {
  if (OF_THE_PROTOCOL.test(name)) return 'is set by the service';
  const takesInput = placeholders(value).some(({ secret }) => secret === undefined);
  return takesInput ? 'must not hold {input…}: the input goes to the tool as its arguments' : undefined;
}

/** By what a look-up of the tool is known: a server may show another tool to another organization, or by other credentials. */
export function mcpKey(organizationId: string, { url, tool, headers }: McpConnector): string {
  return JSON.stringify([organizationId, url, tool, headers ?? null]);
}

import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { nearestName } from '../nearest-name.js';
import { placeholders, secretsIn } from './connector-template.js';
import { CONNECTOR_DEFAULTS, type Wrong } from './connectors/connector-fields.js';
import { checkEmailConnector, EMAIL_MEMBERS, type EmailConnector } from './connectors/email-connector.js';
import { checkHttpConnector, HTTP_MEMBERS, type HttpConnector } from './connectors/http-connector.js';
import { checkMcpConnector, MCP_MEMBERS, type McpConnector } from './connectors/mcp-connector.js';
import type { InputError } from './input-schema.js';

/** A capability's connector: what the service does itself, in one of these ways. */
export type Connector = HttpConnector | McpConnector | EmailConnector;

export type ConnectorCheck =
  | { readonly ok: true; readonly connector: Connector }
  | { readonly ok: false; readonly errors: readonly InputError[] };

interface Kind {
  readonly members: readonly string[];
  readonly check: (definition: JsonObject, wrong: Wrong) => Connector;
}

const KINDS: { readonly [Type in Connector['type']]: Kind } = {
  http: { members: HTTP_MEMBERS, check: checkHttpConnector },
  mcp: { members: MCP_MEMBERS, check: checkMcpConnector },
  email: { members: EMAIL_MEMBERS, check: checkEmailConnector },
};

export const CONNECTOR_TYPES = Object.keys(KINDS) as readonly Connector['type'][];
export const CONNECTOR_BYTES_MAX = 16 * 1024;
const PLACEHOLDERS_MAX = 100;

/** Reads a connector's definition: known members only, defaults filled in, so that equal connectors digest equally. */
export function checkConnector(definition: JsonValue): ConnectorCheck {
  const errors: InputError[] = [];
  const wrong: Wrong = (pointer, message) => void errors.push({ pointer: `/connector${pointer}`, message });
  if (!isJsonObject(definition)) return { ok: false, errors: [{ pointer: '/connector', message: 'must be an object' }] };
  const { type } = definition;
  if (typeof type !== 'string' || !Object.hasOwn(KINDS, type)) {
    wrong('/type', `must be one of ${CONNECTOR_TYPES.join(', ')}`);
    return { ok: false, errors };
  }
  const { members, check } = KINDS[type as Connector['type']];
  // A tool's digest is added after this check, and what is stored has to pass it, too.
  const given = JSON.stringify({ ...definition, toolDigest: undefined });
  if (Buffer.byteLength(given) > CONNECTOR_BYTES_MAX) wrong('', 'must have at most 16 KiB');
  for (const member of Object.keys(definition)) {
    if (members.includes(member)) continue;
    const meant = nearestName(member, members);
    wrong(`/${member}`, `is not known here; ${meant === undefined ? `known are ${members.join(', ')}` : `did you mean ${meant}?`}`);
  }
  const connector = check(definition, wrong);
  if (placeholders(given).length > PLACEHOLDERS_MAX) wrong('', `must have at most ${PLACEHOLDERS_MAX} placeholders`);
  return errors.length > 0 ? { ok: false, errors } : { ok: true, connector };
}

/** A connector as it may have been given: the bounds of its size are those of what is given. */
export function withoutDefaults(connector: JsonObject): JsonObject {
  const defaults = new Map<string, JsonValue>(Object.entries(CONNECTOR_DEFAULTS));
  return Object.fromEntries(Object.entries(connector).filter(([name, value]) => !defaults.has(name) || defaults.get(name) !== value));
}

/** The names of the secrets that a connector refers to, sorted: they stand in values of `headers` and `body` alone. */
export function secretNames(connector: Connector): readonly string[] {
  if (connector.type === 'email') return [];
  const body = connector.type === 'http' ? connector.body : undefined;
  return secretsIn(JSON.stringify([connector.headers ?? null, body ?? null]));
}

/** Where a connector's call goes; undefined for a mail, which goes to the service's own mail server. */
export function originOf(connector: Connector): string | undefined {
  return connector.type === 'email' ? undefined : new URL(connector.url.replace(/\{[^}]*\}/g, 'x')).origin;
}

/** Whether what a call may have done can be done again with the same key. */
export function bearsRepetition(connector: Connector): boolean {
  return connector.type !== 'email' && connector.idempotent;
}

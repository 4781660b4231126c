import { randomBytes } from 'node:crypto';
import type { MemberSchema, Route } from './routes.js';

const bytes = (...parts: readonly (string | readonly number[])[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Buffer.concat(parts.map((part) => Buffer.from(part as string))));

const nested = (levels: number, open: string, close: string,
  inner = '') => `${open.repeat(levels)}${inner}${close.repeat(levels)}`;

/** Bodies that no route may take, by what is wrong with them: they are no I-JSON, or pass a bound of ours. */
export const UNREADABLE: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>> = {
  'half an object': '{"name":"x"',
  'a brace alone': '{',
  'a bracket alone': '[',
  'a comma too many': '{"name":"x",}',
  'two values': '{"name":"x"}{"name":"y"}',
  'something after the value': '{"name":"x"} x',
  'single quotes': `{'name':'x'}`,
  'a name without quotes': '{name:"x"}',
  'a comment': '{"name":"x"/* */}',
  'a form': 'name=x&capability=web.search',
  'XML': '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
  'undefined': 'undefined',
  'NaN': '{"name":"x","riskScore":NaN}',
  'infinity': '{"name":"x","riskScore":-Infinity}',
  'a number with a plus': '{"riskScore":+1}',
  'a number with a leading zero': '{"riskScore":01}',
  'a hexadecimal number': '{"riskScore":0x10}',
  'a number that ends in a point': '{"riskScore":1.}',
  'a number beyond the doubles': '{"metadata":{"n":1e999}}',
  'a number beyond what is exact': '{"metadata":{"n":9007199254740992}}',
  'a number below what is exact': '{"metadata":{"n":-9007199254740992}}',
  'a very long number': `{"metadata":{"n":${'9'.repeat(10_000)}}}`,
  'NUL, escaped': '{"name":"a\\u0000b"}',
  'NUL, escaped, in a name': '{"metadata":{"a\\u0000b":1}}',
  'NUL, raw': bytes('{"name":"a', [0], 'b"}'),
  'a lone high surrogate': '{"name":"\\ud800"}',
  'a lone low surrogate': '{"name":"\\udc00x"}',
  'surrogates the wrong way round': '{"name":"\\udc00\\ud800"}',
  'a surrogate in a name': '{"metadata":{"\\ud83d":1}}',
  'a surrogate in UTF-8': bytes('{"name":"', [0xed, 0xa0, 0x80], '"}'),
  'Latin-1': bytes('{"name":"', [0xe9], '"}'),
  'UTF-8 that is too long': bytes('{"name":"', [0xc0, 0xae], '"}'),
  'UTF-8 that breaks off': bytes('{"name":"', [0xf0, 0x9f, 0x98], '"}'),
  'UTF-16': Uint8Array.from(Buffer.from('\ufeff{"name":"x"}', 'utf16le')),
  'a byte order mark': '\ufeff{"name":"x"}',
  'a raw line break in a text': '{"name":"a\nb"}',
  'an unknown escape': '{"name":"\\x41"}',
  'half an escape': '{"name":"\\u00"}',
  'a text without end': '{"name":"x',
  'a member twice': '{"name":"x","name":"x"}',
  'a member twice, once by an escape': '{"name":"x","n\\u0061me":"y"}',
  'a member twice, deep inside': '{"metadata":{"a":[{"b":1,"b":1}]}}',
  '__proto__': '{"__proto__":{"isAdmin":true}}',
  '__proto__, deep inside': '{"metadata":{"a":[{"__proto__":null}]},"input":{"b":{"__proto__":1}}}',
  '__proto__ by an escape': '{"metadata":{"__pr\\u006fto__":{}}}',
  '65 levels of objects': nested(65, '{"a":', '}', '1'),
  '65 levels of lists inside': `{"input":${nested(64, '[', ']')},"metadata":${nested(64, '[', ']')}}`,
  '100,000 levels': nested(100_000, '[', ']'),
  '50,000 levels that do not end': '{"a":'.repeat(50_000),
  'bytes of nothing': bytes([0xff, 0xfe, 0xfd, 0x00, 0x01]),
};

/** JSON, but no object. */
export const NO_OBJECT: readonly string[] = ['null', '[]', '"text"', '5', 'true', '[{"name":"x"}]', '0', '""'];

export const NO_JSON_TYPES: readonly string[] = [
  'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml',
  'application/octet-stream', 'text/json',
  'application/jsonx', 'application/javascript', 'application/json; charset=utf-16', 'application/json; charset=latin1', 'json',
  '*/*', '',
];

export const BODY_BYTES_MAX = 262_144;

/** Conversations with models are longer than all else. */
export const bodyBytesMaxOf = ({ template }: Route): number => (template.startsWith('/api/v1/llm/') ? 4 * 1024 * 1024 : BODY_BYTES_MAX);

/** Values that a member of this schema may not have. None for a member that takes anything. */
export function wrongValuesFor(schema: MemberSchema): unknown[] {
  const values: Readonly<Record<string, unknown[]>> = {
    string: [5, 0, true, [], ['x'], {}, { length: 5 },
      ...(schema.maxLength === undefined ? [] : ['x'.repeat(schema.maxLength + 1)])],
    integer: ['1', '', 1.5, true, [], [1], {}, -1e15, 9_007_199_254_740_991],
    boolean: ['true', 'yes', 1, 0, [], {}],
    object: ['x', 5, true, [], [{}]],
    array: ['x', 5, true, {}, { length: 1 }, [null], [[]],
      ...(schema.maxItems === undefined ? [] : [Array.from({ length: schema.maxItems + 1 }, () => 'x')])],
  };
  const kind = schema.$ref !== undefined ||
    schema.allOf !== undefined ? 'object' : typeof schema.type === 'string' ? schema.type : undefined;
  if (kind === undefined) return [];
  const some = [...(values[kind] ?? []), ...(schema.nullable === true ? [] : [null])];
  if (schema.enum !== undefined) some.push('', 'none of them', ` ${schema.enum[0] ?? ''}`, (schema.enum[0] ?? '').toUpperCase());
  if (schema.format === 'date-time') some.push('', 'tomorrow', '2027-02-30T00:00:00Z', '2027-13-01T00:00:00Z',
    '2027-01-01T25:00:00Z', '0000-00-00T00:00:00Z');
  return some;
}

/** What a good body names, of things that there are. */
export interface GoodNames {
  readonly agentId: string;
  readonly userId?: string;
  readonly organizationId?: string;
  readonly setupToken?: string;
}

/** A body that the route takes when nothing is wrong with it. */
export function goodBody(route: Route, names: GoodNames): Record<string, unknown> {
  const fresh = randomBytes(4).toString('hex');
  const bodies: Readonly<Record<string, Record<string, unknown>>> = {
    'POST /api/v1/agents': { name: 'good' },
    'PATCH /api/v1/agents/{id}/risk-level': { riskLevel: 'limited' },
    'POST /api/v1/agents/{id}/capabilities': { capability: 'file.read' },
    'POST /api/v1/agents/{id}/keys': { name: 'good' },
    'POST /api/v1/agents/{id}/transfer': { organizationId: names.organizationId ?? 'org_nowhere' },
    'POST /api/v1/capabilities/grant': { agentId: names.agentId, capability: 'file.read' },
    'POST /api/v1/capabilities': { name: `good.x${fresh}`, description: 'good' },
    'POST /api/v1/execute': { capability: 'web.search', agentId: names.agentId },
    'POST /api/v1/executions': { capability: 'web.search', agentId: names.agentId },
    'POST /api/v1/hitl': { capability: 'email.send', agentId: names.agentId },
    'POST /api/v1/hitl/batch': { items: [{ id: 'hitl_nobody' }], decision: 'reject' },
    'POST /api/v1/hitl/{id}/escalate': { reason: 'good' },
    'POST /api/v1/node/activate': { token: names.setupToken ?? 'svc_setup_', nodeId: 'good' },
    'POST /api/v1/node/tasks/{executionId}/start': { fence: 1 },
    'POST /api/v1/node/tasks/{executionId}/result': { fence: 1, status: 'executed' },
    'POST /api/v1/executions/{id}/report': { outcome: 'success' },
    'POST /api/v1/executions/{id}/settle': { outcome: 'success', note: 'seen' },
    'POST /api/v1/organizations': { name: 'good' },
    'POST /api/v1/users': { email: `good-${fresh}@example.test`, role: 'viewer' },
    'POST /api/v1/users/invitations': { email: `invited-${fresh}@example.test`, role: 'viewer' },
    'POST /api/v1/users/{id}/keys': { name: 'good' },
    'POST /api/v1/auth/passkey': { response: {} },
    'POST /api/v1/auth/passkeys': { response: {} },
    'POST /api/v1/auth/invitations/{token}/passkey': { response: {} },
    'POST /api/v1/teams': { name: `good ${fresh}` },
    'POST /api/v1/teams/{id}/members': { userId: names.userId ?? 'usr_nobody', role: 'member' },
    'POST /api/v1/audit/erasures': { values: [`nobody ${fresh}`], reason: 'good' },
    'POST /internal/v1/tenants': { name: 'good' },
    'PUT /internal/v1/tenants/{id}/subscription': { tier: 'teams', active: true },
    'POST /internal/v1/auth/verify': { token: 'good' },
    'POST /api/v1/routing/resolve': { capability: 'web.search' },
    'POST /api/v1/routing/delegate': { task: { capability: 'web.search' }, toAgentId: names.agentId },
    'PUT /api/v1/notifications/config/{channel}': { enabled: true },
    'PUT /api/v1/secrets/{secret}': { value: 'a good value', origins: ['https://api.example.com'] },
    'POST /api/v1/llm/chat': { model: 'gpt-good', messages: [{ role: 'user', content: 'good' }] },
    'POST /api/v1/llm/chat/completions': { model: 'gpt-good', messages: [{ role: 'user', content: 'good' }] },
    'POST /api/v1/llm/messages': { model: 'claude-good', max_tokens: 1, messages: [{ role: 'user', content: 'good' }] },
    'POST /api/v1/llm/v1/messages': { model: 'claude-good', max_tokens: 1, messages: [{ role: 'user', content: 'good' }] },
    'POST /api/v1/llm/v1/messages/count_tokens': { model: 'claude-good', messages: [{ role: 'user', content: 'good' }] },
    'POST /api/v1/llm/scan': { text: 'good' },
    'POST /api/v1/stops': { scope: 'agent', id: names.agentId, reason: 'good' },
  };
  return bodies[`${route.method} ${route.template}`] ?? {};
}

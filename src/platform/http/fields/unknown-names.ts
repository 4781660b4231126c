import type { JsonObject } from '../../../domain/json.js';
import { nearestName } from '../../../domain/nearest-name.js';
import { childPointer, truncatedName } from '../request/json-pointer.js';
import type { FieldError } from '../reply/problem.js';
import { type DtoClass, fieldsByName, type FieldSpec, fieldsOf } from './field-spec.js';

/** Words of other interfaces, without case and separators, for names of ours that no misspelling leads to. */
const OTHER_WORDS: ReadonlyMap<string, readonly string[]> = new Map(Object.entries({
  args: ['input'], arguments: ['input'], body: ['input'], data: ['input', 'output', 'metadata'], parameters: ['input'], params: ['input'],
  function: ['capability'], tool: ['capability'], name: ['capability'], permission: ['capability'],
  user: ['userId', 'assignedTo'], team: ['teamId'], owner: ['ownerId'], org: ['organizationId'], orgid: ['organizationId'],
  risk: ['riskLevel', 'riskScore'], policy: ['hitlMode'], ttl: ['expiresAt'], validuntil: ['expiresAt'], expiry: ['expiresAt'],
  preview: ['dryRun'], simulate: ['dryRun'], force: ['breakGlass'], override: ['breakGlass'], hash: ['expectedDigest'],
  actiondigest: ['expectedDigest'], digest: ['expectedDigest'], payload: ['editedInput'], agent: ['agentId', 'id'], agentid: ['id'],
  organisation: ['organizationId'], capabilities: ['grants'], timeoutms: ['timeoutSeconds'], timeout: ['timeoutSeconds'],
  message: ['note', 'reason'], text: ['note', 'reason'], why: ['note', 'reason'], justification: ['note', 'reason'],
  expr: ['when'], expression: ['when'], if: ['when'], cel: ['when'], count: ['limit', 'max'], pagesize: ['limit'], perpage: ['limit'],
  size: ['limit'], skip: ['offset'], page: ['cursor', 'offset'], since: ['from'], after: ['from', 'cursor'], start: ['from'],
  until: ['to', 'expiresAt'], before: ['to', 'dueBefore'], end: ['to'], type: ['event', 'scope'], state: ['status'],
  schema: ['inputSchema'], webhook: ['connector'], approvers: ['quorum', 'approvals'], rules: ['conditions'], quota: ['limits'],
}));

/** Known names that one message lists. */
const LISTED_MAX = 20;
/** Unknown names that one answer reports. More would be noise, and comparing each with every known name would be work. */
const ERRORS_MAX = 50;

/** What the other part of the same call takes: the query's parameters beside a body, the body's members beside a query. */
export interface OtherPart {
  readonly is: 'body' | 'query';
  readonly dto: DtoClass | undefined;
}

/**
 * Adds an error for each member that the DTO does not know, with the name that was probably meant.
 * @param also names that are known besides
 * @returns properties that were meant: that these are missing need not be said too
 */
export function refuseUnknown(
  dto: DtoClass, from: JsonObject, pointer: string, errors: FieldError[], other?: OtherPart, also?: ReadonlySet<string>,
): ReadonlySet<string> {
  const known = fieldsByName(dto);
  let meant: Set<string> | undefined;
  for (const name of Object.keys(from)) {
    if (known.has(name) || also?.has(name)) continue;
    const field = fieldMeant(name, dto);
    meant ??= new Set();
    if (field !== undefined) meant.add(field.property);
    errors.push({ pointer: childPointer(pointer, truncatedName(name)), message: unknown(name, field, dto, other) });
    if (errors.length >= ERRORS_MAX) break;
  }
  return meant ?? NOTHING;
}

const NOTHING: ReadonlySet<string> = new Set();

const ELSEWHERE = {
  query: 'is a parameter of the query, not a member of the body',
  body: 'is a member of the body, not a parameter of the query',
} as const;

function unknown(name: string, field: FieldSpec | undefined, dto: DtoClass, other: OtherPart | undefined): string {
  if (other?.dto !== undefined && fieldsByName(other.dto).has(name)) return ELSEWHERE[other.is];
  if (field !== undefined) return `is not known here; did you mean ${field.names[0]}?`;
  const names = offered(dto).map(({ names: [documented] }) => documented);
  const list = names.length > LISTED_MAX ? [...names.slice(0, LISTED_MAX), '…'] : names;
  return list.length === 0 ? 'is not known here: leave it out' : `is not known here; known are ${list.join(', ')}`;
}

function fieldMeant(name: string, dto: DtoClass): FieldSpec | undefined {
  const byName = fieldsByName(dto);
  const inOtherWords = OTHER_WORDS.get(name.toLowerCase().replace(/[_-]/g, ''))?.find((word) => byName.has(word));
  const meant = inOtherWords ?? nearestName(name, offered(dto).flatMap(({ names }) => names));
  return meant === undefined ? undefined : byName.get(meant);
}

const offered = (dto: DtoClass) => fieldsOf(dto).filter(({ notYet }) => notYet === undefined);

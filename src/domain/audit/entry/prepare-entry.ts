import { isId } from '../../ids.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { type AuditEvent, EVENTS, type AuditEventType, type Outcome } from '../catalogue/audit-events.js';
import { PLATFORM_ORGANIZATION, isAgentChain, type ChainRef } from './chain.js';
import { commitMembers, commitValue, disclosuresText, type Disclosure } from './commitments.js';
import type { EventDefinition, Member } from '../catalogue/event-definition.js';
import { jcs, jcsString } from './jcs.js';
import type { Payload } from './payload.js';

/** Through which door something came. */
export type Via = 'rest' | 'mcp' | 'page' | 'chat' | 'mail' | 'cli' | 'worker' | 'sweeper';

export interface Origin {
  readonly requestId?: string | undefined;
  readonly via: Via;
  /** 32 hex characters. */
  readonly traceId?: string | undefined;
  /** RFC 5952 form; committed, so that it can be erased. */
  readonly address?: string | undefined;
}

/** An event on its way to a chain. `agentId` is given exactly when the chain is an agent's. */
export type RecordedEvent = AuditEvent & { readonly chain: ChainRef; readonly agentId?: string | undefined };

export interface Stamp {
  readonly id: string;
  /** User id, agent id, `root`, `internal`, `system` or `anonymous`: the verified credential. */
  readonly actorId: string;
  readonly timestamp: Date;
  readonly origin?: Origin | undefined;
}

/** A user (or another actor) whom an entry is about, and the pointer to the name or data of theirs in the payload (RFC 6901). */
export interface Subject {
  readonly userId: string;
  readonly pointer: string;
}

/** Everything about an entry that is known before its chain is locked; the database adds seq, prevHash and hash. */
export interface PreparedEntry {
  readonly id: string;
  readonly organizationId: string;
  readonly chain: string;
  readonly event: AuditEventType;
  readonly agentId?: string | undefined;
  readonly actorId: string;
  readonly capability?: string | undefined;
  readonly outcome?: Outcome | undefined;
  /** `YYYY-MM-DDTHH:mm:ss.sssZ`, 24 characters. */
  readonly timestamp: string;
  /** RFC 8785 text. */
  readonly payload: string;
  /** JSON text of the array of disclosures, sorted by pointer. */
  readonly disclosures: string;
  readonly subjects: Subject[];
}

/** A mistake in the calling code: an event that does not fit the catalogue. The type system catches nearly all of them. */
function misrecorded(type: string, what: string): TypeError {
  return new TypeError(`${type}: ${what}`);
}

type Plan = ReturnType<typeof planOf>;

function planOf(definition: EventDefinition) {
  // Canonical order: RFC 8785 sorts by UTF-16 code unit, as `sort` does.
  const members = Object.entries<Member>(definition.members).sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => ({ name, member, lead: `"${name}":`, pointer: `/metadata/${name}` }));
  const naming = members.flatMap(({ name, member: { subjectKeys: keys } }) => (keys ? [{ name, keys }] : []));
  return { definition, members, naming };
}

const PLANS = new Map(Object.entries(EVENTS as Record<string, EventDefinition>).map(([type, one]) => [type, planOf(one)]));

/** Writes payload, commitments and disclosures, the text directly in canonical order, for speed; a property test compares it with JCS. */
export function prepareEntry(event: RecordedEvent, stamp: Stamp): PreparedEntry {
  const { chain, agentId, capability, type } = event;
  const plan = PLANS.get(type);
  if (!plan) throw misrecorded(type, 'not in the catalogue');
  assertFitsChain(event, plan.definition);
  const { outcome } = plan.definition;
  const timestamp = stamp.timestamp.toISOString();
  if (timestamp.length !== 24) throw misrecorded(type, 'a year that does not fit four digits');

  const disclosures: Disclosure[] = [];
  const metadata = metadataText(type, event.metadata as Record<string, unknown>, plan, disclosures);
  const origin = stamp.origin ? `"origin":${originText(stamp.origin, disclosures)},` : '';
  const payload =
    `{"actorId":${jcsString(stamp.actorId)},"event":"${type}","id":${jcsString(stamp.id)},"metadata":${metadata},` +
    `"organizationId":${jcsString(chain.organizationId)},${origin}${outcome === undefined ? '' : `"outcome":"${outcome}",`}` +
    `"timestamp":"${timestamp}","v":1}`;

  const { id, actorId } = stamp;
  return {
    id, organizationId: chain.organizationId, chain: chain.chain, event: type, agentId, actorId, capability, outcome, timestamp, payload,
    disclosures: disclosuresText(disclosures), subjects: subjectsOf(event.metadata as Record<string, unknown>, plan, stamp, agentId),
  };
}

function assertFitsChain({ chain, agentId, capability, type }: RecordedEvent, definition: EventDefinition): void {
  const inAgentChain = isAgentChain(chain.chain);
  if (agentId !== (inAgentChain ? chain.chain : undefined)) {
    throw misrecorded(type, "agentId is given exactly when the chain is that agent's");
  }
  if ((capability !== undefined) !== definition.capability) {
    throw misrecorded(type, definition.capability ? 'capability is missing' : 'takes no capability');
  }
  const wanted = definition.chain;
  const fits =
    wanted === 'agent' ? inAgentChain
    : wanted === 'organization' ? !inAgentChain
    : wanted === 'platform' ? chain.organizationId === PLATFORM_ORGANIZATION && !inAgentChain
    : true;
  if (!fits) throw misrecorded(type, `belongs in the chain of the ${wanted}, not in ${chain.chain}`);
}

function metadataText(type: string, metadata: Record<string, unknown>, plan: Plan, disclosures: Disclosure[]): string {
  let text = '';
  let taken = 0;
  for (const { name, member, lead, pointer } of plan.members) {
    const given = metadata[name];
    if (given === undefined) {
      if (Object.hasOwn(metadata, name)) taken++;
      if (!member.optional) throw misrecorded(type, `${name} is missing`);
      continue;
    }
    taken++;
    if (member.flag && given === false) continue;
    if (member.kind === 'plain' && !isPlain(given)) throw misrecorded(type, `${name} cannot stand in clear: null, or a reserved name`);
    text += (text === '' ? '' : ',') + lead + TEXT_OF[member.kind](given, pointer, disclosures);
  }
  // Counting is enough: each name of the catalogue was looked up once.
  if (taken !== Object.keys(metadata).length) throw misrecorded(type, 'a member that the catalogue does not name');
  return `{${text}}`;
}

const TEXT_OF = { plain: jcs, value: commitValue, members: commitMembers } as const;

/** null stands only inside committed values; `~` and `~members` mark commitments and nothing else. */
function isPlain(given: unknown): boolean {
  if (typeof given !== 'object') return true;
  if (given === null) return false;
  if (Array.isArray(given)) return given.every(isPlain);
  return Object.entries(given).every(([key, inner]) => key !== '~' && key !== '~members' && isPlain(inner));
}

function originText({ address, requestId, traceId, via }: Origin, disclosures: Disclosure[]): string {
  return (
    (address === undefined ? '{' : `{"address":${commitValue(address, '/origin/address', disclosures)},`) +
    (requestId === undefined ? '' : `"requestId":${jcsString(requestId)},`) +
    (traceId === undefined ? '' : `"traceId":${jcsString(traceId)},`) +
    `"via":"${via}"}`
  );
}

/** The people of an entry, by the catalogue, and its actor, unless that is the chain's own agent. */
function subjectsOf(
  metadata: Readonly<Record<string, unknown>>, plan: Plan,
  stamp: { readonly actorId: string; readonly origin?: { readonly address?: unknown } | undefined }, agentId?: string,
): Subject[] {
  const subjects: Subject[] = [];
  if (stamp.actorId !== agentId) {
    const isPerson = isId('usr', stamp.actorId) && stamp.origin?.address !== undefined;
    subjects.push({ userId: stamp.actorId, pointer: isPerson ? '/origin/address' : '/actorId' });
  }
  let about: string | undefined;
  for (const { name, member, pointer } of plan.members) {
    const given = metadata[name];
    if (member.subject && isId('usr', given)) {
      about = given;
      subjects.push({ userId: given, pointer });
    }
    if (!member.subjectKeys || !isJsonObject(given)) continue;
    for (const key of member.subjectKeys) {
      const named = Object.hasOwn(given, key) ? given[key] : undefined;
      if (isId('usr', named)) subjects.push({ userId: named, pointer: `${pointer}/${key}` });
    }
  }
  if (about === undefined) return subjects;
  for (const { name, member, pointer } of plan.members) {
    if (member.personal && metadata[name] !== undefined) subjects.push({ userId: about, pointer });
  }
  return subjects;
}

/** Types whose entries may name somebody else than who acted, and, of these, those that do so within committed members. */
export const NAMING_EVENTS: ReadonlySet<string> = eventsWith(({ members }) =>
  members.some(({ member: { subject, personal, subjectKeys } }) => subject ?? personal ?? subjectKeys));
export const NAMING_IN_VALUES: ReadonlySet<string> = eventsWith(({ naming }) => naming.length > 0);

function eventsWith(isWanted: (plan: Plan) => boolean): ReadonlySet<string> {
  return new Set([...PLANS].flatMap(([type, plan]) => (isWanted(plan) ? type : [])));
}

/** Members of such an event within which a user may be named, with the keys there: what was committed may be erased. */
export function namingMembers(event: string): Plan['naming'] {
  return PLANS.get(event)?.naming ?? [];
}

/** The members of an entry by which a person is known; committed values are put back into `metadata`. */
interface NamingParts {
  readonly event: string;
  readonly actorId: string;
  readonly agentId?: string | null;
  readonly origin?: JsonObject | undefined;
  readonly metadata: JsonObject;
}

/** The people whom an entry concerns, and where, as when it was appended. */
export function subjectsIn({ event, actorId, agentId, origin, metadata }: NamingParts): Subject[] {
  const plan = PLANS.get(event);
  return plan ? subjectsOf(metadata, plan, { actorId, ...(origin ? { origin } : {}) }, agentId ?? undefined) : [];
}

/** Where an entry holds data of a user whose subjects are forgotten: by its payload, but for ids within committed members. */
export function pointersTo(userId: string, payload: Payload): string[] {
  return subjectsIn(payload).flatMap((subject) => (subject.userId === userId ? subject.pointer : []));
}

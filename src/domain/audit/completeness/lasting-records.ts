import type { JsonValue } from '../../json.js';
import { canonical } from '../entry/jcs.js';
import { number, type OpenEntry, text } from '../entry/open-entry.js';
import type { ClaimValue, RecordedFact } from './record-claim.js';
import type { RecordedText } from './record-text.js';

/** A record of which no entry need be the last, after an entry. */
export type LastingRecord = Pick<RecordedFact, 'status' | 'members' | 'texts'>;

/** What the entries say of a record after one more: nothing where it has gone; a text, the end of a sentence, where they do not fit. */
export type LastingAfter = LastingRecord | string | undefined;

const GRANT_TERMS = [
  'version', 'teamId', 'hitlMode', 'expiresAt', 'timeoutSeconds', 'timeoutAction', 'conditions', 'limits', 'quorum', 'reminders',
  'grantedBy',
];
const TASK_TERMS = [
  'capability', 'parentId', 'ancestors', 'fromAgentId', 'chain', 'delegatedBy', 'initiator', 'decisionId', 'executionId', 'reason',
];
const unknown = (names: readonly string[]): Readonly<Record<string, ClaimValue>> =>
  Object.fromEntries(names.map((name) => [name, undefined]));
/** The terms of a grant and of a task whose first entries a retention run took. */
const [UNKNOWN, UNKNOWN_TASK] = [unknown(GRANT_TERMS), unknown(TASK_TERMS)];

/** @param isCut a retention run took the beginning of the chain */
export function grantAfter(
  known: LastingRecord | undefined, id: string, { stored, metadata, erased }: OpenEntry, isCut: boolean,
): LastingRecord | string {
  if (stored.event === 'capability.revoked') {
    if (!known && !isCut) return `revokes grant ${id}, which was never given`;
    if (known?.status === 'revoked') return `revokes grant ${id} a second time`;
    return { status: 'revoked', members: { ...(known?.members ?? UNKNOWN), revokedBy: stored.actorId }, texts: {} };
  }
  const json = (name: string, none: JsonValue): ClaimValue => {
    const value = metadata[name] ?? none;
    return erased.has(name) ? undefined : typeof value === 'object' && value !== null ? canonical(value) : value;
  };
  const members = {
    version: number(metadata, 'version') ?? null, teamId: text(metadata, 'teamId') ?? null, hitlMode: text(metadata, 'hitlMode') ?? null,
    expiresAt: text(metadata, 'expiresAt') ?? null, timeoutSeconds: number(metadata, 'timeoutSeconds') ?? null,
    timeoutAction: text(metadata, 'timeoutAction') ?? null, conditions: json('conditions', []), limits: json('limits', []),
    quorum: json('quorum', null), reminders: json('reminders', []), revokedBy: null,
    grantedBy: stored.event === 'capability.granted' ? stored.actorId : known?.members['grantedBy'],
  };
  return { status: 'granted', members, texts: {} };
}

/** The same for an erasure. Its confirmation names who asked: where the request's entry was swept, nothing else of it is known. */
export function erasureAfter(
  known: LastingRecord | undefined, id: string, { stored, metadata }: OpenEntry, isCut: boolean, texts: Record<string, RecordedText>,
): LastingRecord | string {
  if (stored.event === 'gdpr.erasure_requested') {
    if (known) return `asks for erasure ${id} a second time`;
    const userId = text(metadata, 'userId') ?? null;
    const kind = userId === null ? 'values' : 'user';
    return { status: 'asked', members: { kind, userId, askedBy: stored.actorId, confirmedBy: null }, texts };
  }
  const confirmedBy = stored.actorId;
  if (known) return { ...known, members: { ...known.members, confirmedBy } };
  if (!isCut) return `confirms erasure ${id}, for which nobody asked`;
  const members = { kind: undefined, userId: undefined, askedBy: text(metadata, 'askedBy') ?? null, confirmedBy };
  return { status: 'asked', members, texts: { reason: undefined } };
}

/** The same for a task: it is given, and taken by the execution that does it, or ended before that. */
export function taskAfter(
  known: LastingRecord | undefined, id: string, { stored, metadata }: OpenEntry, isCut: boolean, texts: () => Record<string, RecordedText>,
): LastingAfter {
  const named = (name: string): ClaimValue => text(metadata, name) ?? null;
  if (stored.event === 'task.delegated') {
    if (known) return `gives task ${id} a second time`;
    const members = {
      capability: named('capability'), parentId: named('parentId'), ancestors: listed(metadata['ancestors']),
      fromAgentId: named('fromAgentId'), chain: listed(metadata['chain']), delegatedBy: stored.actorId, initiator: named('initiatorId'),
      decisionId: named('decisionId'), executionId: null, reason: null,
    };
    return { status: 'assigned', members, texts: texts() };
  }
  if (!known && !isCut) return `is about task ${id}, which nobody gave`;
  const { status, members, texts: given } = known ?? { status: 'assigned', members: UNKNOWN_TASK, texts: UNKNOWN_TEXTS };
  if (stored.event === 'task.ended') {
    if (status !== 'assigned') return `ends task ${id}, which was ${status}`;
    return { status: text(metadata, 'status') ?? '', members: { ...members, executionId: null, reason: named('reason') }, texts: given };
  }
  const executionId = named('executionId');
  if (status === 'assigned') return { status: 'taken', members: { ...members, executionId, reason: null }, texts: given };
  return members['executionId'] === executionId ? known : `does task ${id}, which was ${status}`;
}

const UNKNOWN_TEXTS = { input: undefined, description: undefined };

/** The same for a secret, whose value no entry has: what is compared is a digest of it as it is sealed. */
export function secretAfter({ metadata, erased }: OpenEntry): LastingAfter {
  if (metadata['change'] === 'removed') return undefined;
  const origins = erased.has('origins') ? undefined : listed(metadata['origins']);
  return { status: 'set', members: { origins, sealed: text(metadata, 'sealedDigest') }, texts: {} };
}

/** As rows have a list: an array is one text. */
function listed(value: JsonValue | undefined): ClaimValue {
  return canonical(value ?? []);
}

import type { JsonValue } from '../../json.js';
import { canonical } from '../entry/jcs.js';
import { number, type OpenEntry, text } from '../entry/open-entry.js';
import type { ClaimValue, RecordedFact } from './record-claim.js';
import type { RecordedText } from './record-text.js';

/** A grant or an erasure after an entry; no entry ends either. */
export type LastingRecord = Pick<RecordedFact, 'status' | 'members' | 'texts'>;

const GRANT_TERMS = [
  'version', 'teamId', 'hitlMode', 'expiresAt', 'timeoutSeconds', 'timeoutAction', 'conditions', 'limits', 'quorum', 'reminders',
  'grantedBy',
];
/** The terms of a grant whose first entries a retention run took. */
const UNKNOWN: Readonly<Record<string, ClaimValue>> = Object.fromEntries(GRANT_TERMS.map((name) => [name, undefined]));

/**
 * @param isCut a retention run took the beginning of the chain
 * @returns a text, the end of a sentence about the entry, where the entry does not fit those before it
 */
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

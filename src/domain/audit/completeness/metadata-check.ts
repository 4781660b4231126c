import { ROLES } from '../../access/access.js';
import { isGrantWord, isRiskLevel, TIMEOUT_ACTIONS } from '../../gate/vocabulary.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import { EVENTS } from '../catalogue/audit-events.js';
import type { EventDefinition } from '../catalogue/event-definition.js';
import { delegatorsIn } from '../replay/recorded-basis.js';
import { connectorIn, schemaIn } from '../replay/state/definition-state.js';
import { conditionsIn, limitsIn, quorumIn } from '../replay/state/grant-terms.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { isTexts, type OpenEntry, openEntry, timeIn } from '../entry/open-entry.js';

/** Whether a server writes such a value. */
type Form = (value: JsonValue) => boolean;

/** Characters of a plain text: names, digests and times have some tens, reasons that people write some thousands. */
const LONGEST = 16 * 1024;

const text: Form = (value) => typeof value === 'string' && !isTooLong(value);
const texts: Form = (value) => isTexts(value) && !isTooLong(value);
const count: Form = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const number: Form = (value) => Number.isFinite(value);
const flag: Form = (value) => value === true;
const time: Form = (value) => timeIn(value) !== undefined;
const oneOf = (...words: readonly string[]): Form => (value) => (words as readonly unknown[]).includes(value);

/** Plain members that completeness and replay read, by name: they mean the same in all events. */
const PLAIN: Readonly<Record<string, Form>> = {
  executionId: text, hitlId: text, grantId: text, stopId: text, erasureId: text, userId: text, askedBy: text, teamId: text, ownerId: text,
  tenantId: text, keyId: text, taskId: text, parentId: text, fromAgentId: text, initiatorId: text, secretName: text, sealedDigest: text,
  taskOwnerId: text, taskInitiatorId: text,
  ancestors: texts, chain: texts, delegators: (value) => delegatorsIn({ delegators: value }) !== undefined,
  decisionId: text, digest: text, definition: text, capability: text, escalatedTo: text, reason: text, outcome: text, status: text,
  change: text, action: text, direction: oneOf('in', 'out'), version: count, grantVersion: count, level: count, durationMs: number,
  timeoutSeconds: number, timeoutAction: oneOf(...TIMEOUT_ACTIONS), hitlMode: isGrantWord, riskLevel: isRiskLevel,
  role: oneOf(...ROLES, 'lead'), expiresAt: time, flagged: flag, late: flag, breakGlass: flag, capabilities: texts, cleared: texts,
};

/** The same for committed members. */
const COMMITTED: Readonly<Record<string, Form>> = {
  input: isJsonObject, context: isJsonObject, tags: isTexts, origins: isTexts,
  conditions: (value) => conditionsIn(value) !== undefined, limits: (value) => limitsIn(value) !== undefined,
  quorum: (value) => quorumIn(value) !== undefined, inputSchema: (value) => schemaIn(value) !== undefined,
  connector: (value) => connectorIn(value) !== undefined,
};

interface ReadMember {
  readonly name: string;
  readonly form: Form;
  readonly isOptional: boolean;
  readonly isCommitted: boolean;
}

const READ = new Map(Object.entries(EVENTS as Readonly<Record<string, EventDefinition>>).map(([type, { members }]) =>
  [type, Object.entries(members).flatMap(([name, { kind, optional }]): ReadMember[] => {
    const isCommitted = kind !== 'plain';
    const forms = isCommitted ? COMMITTED : PLAIN;
    return Object.hasOwn(forms, name) ? [{ name, form: forms[name]!, isOptional: optional, isCommitted }] : [];
  })] as const));

/** Whether committed members of such an event are checked. */
export function readsValues(event: string): boolean {
  return READ.get(event)?.some(({ isCommitted }) => isCommitted) ?? false;
}

/** Opens an entry for completeness and replay: a plain member longer than any server writes reads as null, which is a finding. */
export function openCheckedEntry(stored: StoredEntry, withValues: boolean): OpenEntry | undefined {
  const opened = openEntry(stored, withValues);
  // No member is longer than the payload, and most payloads are short.
  if (!opened || stored.payload.length <= LONGEST) return opened;
  const plain = (READ.get(stored.event) ?? []).filter(({ name, isCommitted }) => !isCommitted && Object.hasOwn(opened.metadata, name));
  const unread = plain.filter(({ name }) => isTooLong(opened.metadata[name]!)).map(({ name }) => [name, null]);
  return unread.length === 0 ? opened : { ...opened, metadata: { ...opened.metadata, ...Object.fromEntries(unread) as JsonObject } };
}

function isTooLong(value: JsonValue): boolean {
  return (typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : '').length > LONGEST;
}

/** Members with values that no server writes, and missing ones that every server writes, by name. Erased members are not checked. */
export function metadataFindings({ stored, metadata, erased }: OpenEntry): string[] {
  return (READ.get(stored.event) ?? []).filter(({ name, form, isOptional }) => {
    const value = Object.hasOwn(metadata, name) ? metadata[name] : undefined;
    return value === undefined ? !isOptional : !erased.has(name) && !form(value);
  }).map(({ name }) => name);
}

import type { GrantFacts } from '../../../gate/decide.js';
import { isGrantWord, TIMEOUT_ACTIONS, type TimeoutAction } from '../../../gate/vocabulary.js';
import { DEFAULT_WINDOW_SECONDS } from '../../../hitl/window.js';
import type { JsonValue } from '../../../json.js';
import { conditionsIn, limitsIn, quorumIn } from './grant-terms.js';
import { number, type OpenEntry, text, timeIn } from '../../entry/open-entry.js';

/** A grant by the last entry about it. */
export interface GrantState {
  readonly facts: GrantFacts;
  readonly capability: string;
  /** Its conditions, limits or quorum are erased or malformed, so it may be stricter than it looks. */
  readonly isErased: boolean;
  /** The entry that gave it is gone: it may be any grant. */
  readonly isUnknown?: boolean;
}

/** Any answer of the gate may come of it. */
export const ANY_GRANT: GrantState = {
  facts: {
    id: '', version: 0, hitlMode: 'auto', conditions: [], limits: [], reminders: [],
    timeoutSeconds: DEFAULT_WINDOW_SECONDS, timeoutAction: 'approve',
  },
  capability: '', isErased: true, isUnknown: true,
};

/** The same, past its time. */
export const ENDED_GRANT: GrantState = { ...ANY_GRANT, facts: { ...ANY_GRANT.facts, expiresAt: new Date(0) } };

/** All of a grant, from an entry that gave or changed it; undefined where the entry names none. Malformed terms count as erased. */
export function grantOf({ stored, metadata, erased }: OpenEntry): GrantState | undefined {
  const [id, version, word] = [text(metadata, 'grantId'), number(metadata, 'version'), metadata['hitlMode']];
  if (id === undefined || version === undefined || !isGrantWord(word)) return undefined;
  const term = <Term>(name: string, read: (value: JsonValue | undefined) => Term) => (erased.has(name) ? undefined : read(metadata[name]));
  const [conditions, limits, quorum] = [term('conditions', conditionsIn), term('limits', limitsIn), term('quorum', quorumIn)];
  const action = metadata['timeoutAction'];
  const expires = timeIn(metadata['expiresAt']);
  const teamId = text(metadata, 'teamId');
  const facts: GrantFacts = {
    id, version, hitlMode: word,
    conditions: conditions ?? [],
    limits: limits ?? [],
    timeoutSeconds: number(metadata, 'timeoutSeconds') ?? DEFAULT_WINDOW_SECONDS,
    timeoutAction: (TIMEOUT_ACTIONS as readonly unknown[]).includes(action) ? (action as TimeoutAction) : 'reject',
    reminders: [],
    ...(teamId === undefined ? {} : { teamId }),
    ...(expires === undefined ? {} : { expiresAt: new Date(expires) }),
    ...(quorum ? { quorum } : {}),
  };
  const isErased = conditions === undefined || limits === undefined || quorum === undefined;
  return { facts, capability: stored.capability ?? '', isErased };
}

import type { Condition } from '../../gate/conditions.js';
import type { GrantFacts } from '../../gate/decide.js';
import type { Limit } from '../../gate/limits.js';
import { isGrantWord, TIMEOUT_ACTIONS, type TimeoutAction } from '../../gate/vocabulary.js';
import type { Quorum } from '../../hitl/quorum.js';
import { DEFAULT_WINDOW_SECONDS } from '../../hitl/window.js';
import { number, type OpenEntry, text } from './open-entry.js';

/** A grant as the last entry about it tells it. */
export interface GrantView {
  readonly facts: GrantFacts;
  readonly capability: string;
  /** Its conditions, limits or quorum are erased, so it may be stricter than it looks. */
  readonly isErased: boolean;
  /** Nothing is left of what gave it: it may be any grant. */
  readonly isUnknown?: boolean;
}

/** Whatever decides it: it may ask for anything, block, or let it run. */
export const ANY_GRANT: GrantView = {
  facts: {
    id: '', version: 0, hitlMode: 'auto', conditions: [], limits: [], reminders: [],
    timeoutSeconds: DEFAULT_WINDOW_SECONDS, timeoutAction: 'approve',
  },
  capability: '', isErased: true, isUnknown: true,
};

/** All of a grant, from an entry that gave or changed it; undefined where the entry does not say one. */
export function grantOf({ stored, metadata, erased }: OpenEntry): GrantView | undefined {
  const [id, version, word] = [text(metadata, 'grantId'), number(metadata, 'version'), metadata['hitlMode']];
  if (id === undefined || version === undefined || !isGrantWord(word)) return undefined;
  const action = metadata['timeoutAction'];
  const expires = text(metadata, 'expiresAt');
  const teamId = text(metadata, 'teamId');
  const facts: GrantFacts = {
    id, version, hitlMode: word,
    conditions: erased.has('conditions') ? [] : listOf<Condition>(metadata['conditions']),
    limits: erased.has('limits') ? [] : listOf<Limit>(metadata['limits']),
    timeoutSeconds: number(metadata, 'timeoutSeconds') ?? DEFAULT_WINDOW_SECONDS,
    timeoutAction: (TIMEOUT_ACTIONS as readonly unknown[]).includes(action) ? (action as TimeoutAction) : 'reject',
    reminders: [],
    ...(teamId === undefined ? {} : { teamId }),
    ...(expires === undefined ? {} : { expiresAt: new Date(expires) }),
    ...(metadata['quorum'] === undefined || erased.has('quorum') ? {} : { quorum: metadata['quorum'] as unknown as Quorum }),
  };
  const isErased = ['conditions', 'limits', 'quorum'].some((name) => erased.has(name));
  return { facts, capability: stored.capability ?? '', isErased };
}

function listOf<Item>(value: unknown): readonly Item[] {
  return Array.isArray(value) ? (value as Item[]) : [];
}

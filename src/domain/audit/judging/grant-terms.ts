import type { Condition } from '../../gate/conditions.js';
import { type Limit, LIMIT_MODES, LIMIT_PERIODS } from '../../gate/limits.js';
import { HITL_MODES } from '../../gate/vocabulary.js';
import { APPROVALS_MIN, GROUP_ROLES, type Quorum } from '../../hitl/quorum.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';

// What a grant's entry says of its terms. Undefined where that is none: who owns the database, or may append, can write anything there.

type Said = JsonValue | undefined;

/** None where it says nothing of them. */
export function conditionsIn(value: Said): readonly Condition[] | undefined {
  return listOf(value, ({ when, hitlMode, reason }) => isText(when) && isOneOf(HITL_MODES, hitlMode) && isTextOrNone(reason));
}

/** None where it says nothing of them. */
export function limitsIn(value: Said): readonly Limit[] | undefined {
  return listOf(value, ({ max, per, sum, then }) =>
    isNumber(max) && isOneOf(LIMIT_PERIODS, per) && isTextOrNone(sum) && isOneOf(LIMIT_MODES, then));
}

/** Null where it says nothing of one. */
export function quorumIn(value: Said): Quorum | null | undefined {
  if (value === undefined) return null;
  if (!isJsonObject(value) || !isNumber(value['approvals']) || value['approvals'] < APPROVALS_MIN) return undefined;
  const groups = listOf(value['groups'], (group) => {
    const { teamId, role } = group;
    return Object.keys(group).length === 1 && (isText(teamId) || isOneOf(GROUP_ROLES, role));
  });
  return groups && (value as unknown as Quorum);
}

function listOf<Item>(value: Said, isItem: (item: JsonObject) => boolean): readonly Item[] | undefined {
  if (value === undefined) return [];
  return Array.isArray(value) && value.every((one) => isJsonObject(one) && isItem(one)) ? (value as Item[]) : undefined;
}

const isText = (value: Said): value is string => typeof value === 'string';
const isTextOrNone = (value: Said) => value === undefined || isText(value);
const isNumber = (value: Said): value is number => typeof value === 'number' && Number.isFinite(value);
const isOneOf = (words: readonly string[], value: Said) => isText(value) && words.includes(value);

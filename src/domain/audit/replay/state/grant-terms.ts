import { CONDITION_LENGTH_MAX, CONDITIONS_MAX, type Condition } from '../../../gate/conditions.js';
import { type Limit, LIMIT_MAX, LIMIT_MODES, LIMIT_PERIODS, LIMITS_MAX } from '../../../gate/limits.js';
import { HITL_MODES } from '../../../gate/vocabulary.js';
import { APPROVALS_MAX, APPROVALS_MIN, GROUP_ROLES, GROUPS_MAX, type Quorum } from '../../../hitl/quorum.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.js';

// The terms in a grant's entry; undefined for malformed ones. Somebody who owns the database, or may append, can write anything there, and
// more than can be evaluated. The bounds are those of the routes, which every server has kept.

type Said = JsonValue | undefined;

export function conditionsIn(value: Said): readonly Condition[] | undefined {
  return listOf(value, CONDITIONS_MAX, ({ when, hitlMode, reason }) =>
    isExpression(when) && isOneOf(HITL_MODES, hitlMode) && isTextOrNone(reason));
}

export function limitsIn(value: Said): readonly Limit[] | undefined {
  return listOf(value, LIMITS_MAX, ({ max, per, sum = '', then }) =>
    isWithin(0, max, LIMIT_MAX) && isOneOf(LIMIT_PERIODS, per) && isExpression(sum) && isOneOf(LIMIT_MODES, then));
}

/** Null where the entry has none. */
export function quorumIn(value: Said): Quorum | null | undefined {
  if (value === undefined) return null;
  if (!isJsonObject(value) || !isWithin(APPROVALS_MIN, value['approvals'], APPROVALS_MAX)) return undefined;
  const groups = listOf(value['groups'], GROUPS_MAX, (group) => {
    const { teamId, role } = group;
    return Object.keys(group).length === 1 && (isText(teamId) || isOneOf(GROUP_ROLES, role));
  });
  return groups && (value as unknown as Quorum);
}

function listOf<Item>(value: Said, most: number, isItem: (item: JsonObject) => boolean): readonly Item[] | undefined {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > most) return undefined;
  return value.every((one) => isJsonObject(one) && isItem(one)) ? (value as Item[]) : undefined;
}

const isText = (value: Said): value is string => typeof value === 'string';
const isTextOrNone = (value: Said) => value === undefined || isText(value);
const isExpression = (value: Said) => isText(value) && value.length <= CONDITION_LENGTH_MAX;
const isWithin = (least: number, value: Said, most: number) => typeof value === 'number' && value >= least && value <= most;
const isOneOf = (words: readonly string[], value: Said) => isText(value) && words.includes(value);

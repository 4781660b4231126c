import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import { eraseJson, eraseText } from './erase-texts.js';
import type { TextMatcher } from './text-matcher.js';

/** Erases from a JSON value whatever people wrote in it; the server's own words in it stay. @returns the same value where nothing goes */
export type Part = (value: JsonValue, holds: TextMatcher) => JsonValue;

/** What people wrote: names of members as well. */
export const words: Part = eraseJson;

/** A code, a time, a number or an id of the server's. Where something else stands, that is not its own. */
export const own: Part = (value, holds) => (typeof value === 'object' ? words(value, holds) : value);

/** An object of the server's: these names are its own. All other members are words. */
export function members(parts: Readonly<Record<string, Part>>): Part {
  return ofMembers((name) => (Object.hasOwn(parts, name) ? parts[name] : undefined));
}

/** A list of the server's. */
export function each(part: Part): Part {
  return (value, holds) => (Array.isArray(value) ? eachOf(value, (one) => part(one, holds)) : words(value, holds));
}

/** RFC 6902: names and values of an input's members. */
export const DIFF = each(members({ op: own, path: words, from: words, value: words }));

export const REPORT = members({ outcome: own, durationMs: own, at: own, output: words, error: words });
export const SETTLEMENT = members({ outcome: own, note: words, by: own, at: own });
export const EDIT = members({ by: own, at: own, diff: DIFF });
export const ERROR = members({ code: own, message: words });
export const REASONS = each(members({ rule: own, detail: words }));

/** What has to be known of an effect to carry it out. */
export const EFFECT = members({
  event: own, executionId: own, hitlRequestId: own, agentId: own, capability: own, priority: own, userId: own, sealed: own,
});

/** Members of answers whose content is not the server's, or is so in part. */
const WITHIN: Readonly<Record<string, Part>> = {
  input: words, payload: words, requestedInput: words, requested_input: words, context: words, output: words, metadata: words,
  connector: words, inputSchema: words,
  report: REPORT, settlement: SETTLEMENT, edit: EDIT, diff: DIFF, reasons: REASONS,
};
const CODES: ReadonlySet<string> = new Set([
  'because', 'capability', 'code', 'defaultHitlMode', 'delivery', 'effectiveMode', 'effective_mode', 'event', 'hitlMode', 'hitl_mode',
  'hitlTimeoutAction', 'hitl_timeout_action', 'identityProvider', 'kind', 'level', 'method', 'op', 'outcome', 'phase', 'riskLevel', 'role',
  'rule', 'runs', 'runtime', 'scope', 'separationOfDuties', 'state', 'status', 'tier', 'timeoutAction', 'timestamp', 'title', 'type',
  'verdict',
]);
/** Times, and who did it. */
const OWN_NAME = /(?:At|_at|By|_by)$/;
/** As a server names members; what people name stands in {@link WITHIN}. */
const NAME = /^[a-z][A-Za-z0-9_]*$/;
const ID = /^[a-z]{3,5}_[0-9a-z]{36}$/;

/** An answer of this API, whichever: its members, codes, times, numbers and ids are the server's. */
export const ANSWER: Part = (value, holds) => {
  if (Array.isArray(value)) return eachOf(value, (one) => ANSWER(one, holds));
  if (typeof value === 'string') return ID.test(value) ? value : eraseText(value, holds);
  return isJsonObject(value) ? IN_ANSWER(value, holds) : value;
};

const IN_ANSWER = ofMembers((name) => {
  if (Object.hasOwn(WITHIN, name)) return WITHIN[name];
  if (CODES.has(name) || OWN_NAME.test(name)) return own;
  return NAME.test(name) ? ANSWER : undefined;
});

function ofMembers(partOf: (name: string) => Part | undefined): Part {
  return (value, holds) => {
    if (!isJsonObject(value)) return words(value, holds);
    const all = Object.entries(value);
    const named = all.flatMap(([name, inner]): [string, JsonValue][] => {
      const part = partOf(name);
      return part ? [[name, part(inner, holds)]] : [];
    });
    const others: JsonObject = Object.fromEntries(all.filter(([name]) => !partOf(name)));
    const left = words(others, holds) as JsonObject;
    return left === others && named.every(([name, after]) => after === value[name]) ? value : { ...Object.fromEntries(named), ...left };
  };
}

function eachOf(list: readonly JsonValue[], erase: (one: JsonValue) => JsonValue): JsonValue {
  const after = list.map(erase);
  return after.every((one, i) => one === list[i]) ? (list as JsonValue) : after;
}

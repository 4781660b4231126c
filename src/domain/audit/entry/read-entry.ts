import { isJsonObject, type JsonObject, type JsonValue, readJson, shownJson } from '../../json.js';
import type { Disclosure } from './commitments.js';
import { pointerSteps } from './json-pointer.js';
import type { StoredEntry } from './stored-entry.js';

/** How a value, or a name, reads that was erased. A real "[erased]" is disclosed. */
export const ERASED = '[erased]';

/** Of a second name that was erased in the same object, and of those after it. A committed object has 64 members at most. */
const NUMBERED = /^\[erased\] \d{1,2}$/;

/** Whether a name is what an erasure leaves of one. */
export function isErasedName(name: string): boolean {
  return name === ERASED || NUMBERED.test(name);
}

export interface ReadableParts {
  readonly metadata: JsonObject;
  readonly origin?: JsonObject;
}

/**
 * Puts disclosed values back into metadata and origin, without verifying: an entry that was tampered with can still be looked at.
 *
 * @param absent how a value reads that has no disclosure at all
 */
export function readEntry({ payload, disclosures }: Pick<StoredEntry, 'payload' | 'disclosures'>, absent = ERASED): ReadableParts {
  const parsed = readJson(payload);
  const root = isJsonObject(parsed) ? parsed : {};
  const metadata = withoutCommitments(root['metadata'], absent) ?? {};
  const origin = withoutCommitments(root['origin'], absent);
  const listed = readJson(disclosures);
  for (const disclosure of Array.isArray(listed) ? listed : []) {
    if (!isJsonObject(disclosure)) continue;
    const { pointer, value } = disclosure as unknown as Disclosure;
    const steps = typeof pointer === 'string' ? pointerSteps(pointer) : undefined;
    const container = steps?.[0] === 'origin' ? origin : steps?.[0] === 'metadata' ? metadata : undefined;
    if (steps && container) put(container, steps.slice(1), typeof value === 'string' ? shownJson(value) : ERASED);
  }
  return origin ? { metadata, origin } : { metadata };
}

/** A committed value reads as absent until its disclosure is found, a committed object as empty. */
function withoutCommitments(container: JsonValue | undefined, absent: string): JsonObject | undefined {
  if (!isJsonObject(container)) return undefined;
  return Object.fromEntries(
    Object.entries(container).map(([name, member]): [string, JsonValue] => {
      if (!isJsonObject(member)) return [name, member];
      if (Object.hasOwn(member, '~')) return [name, absent];
      return [name, Object.hasOwn(member, '~members') ? {} : member];
    }),
  );
}

function put(container: JsonObject, steps: readonly string[], value: JsonValue): void {
  const [name, key] = steps;
  if (name === undefined || !Object.hasOwn(container, name)) return;
  if (key === undefined) {
    define(container, name, value);
    return;
  }
  const inner = container[name];
  if (isJsonObject(inner)) define(inner, key, value);
}

/** Assignment would call the setter of `__proto__`. */
function define(object: JsonObject, name: string, value: JsonValue): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

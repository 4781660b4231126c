import { randomBytes } from 'node:crypto';
import { entryHash, preimage } from '../../../src/domain/audit/entry/entry-hash.js';
import { jcs } from '../../../src/domain/audit/entry/jcs.js';
import type { StoredEntry } from '../../../src/domain/audit/entry/stored-entry.js';
import type { JsonObject, JsonValue } from '../../../src/domain/json.js';
import type { Random } from './random.js';

/** A text that differs in one character. */
export function spoilt(text: string, random: Random): string {
  if (text.length === 0) return 'x';
  const at = random.below(text.length);
  const other = [...'abc012'].filter((letter) => letter !== text[at]);
  return text.slice(0, at) + random.of(other) + text.slice(at + 1);
}

/** Another value in some place of one, at any depth; members may come, go, or change their type. */
export function mutated(value: JsonValue, random: Random): JsonValue {
  if (Array.isArray(value) && value.length > 0 && random.chance(0.7)) {
    const at = random.below(value.length);
    if (random.chance(0.3)) return value.filter((_, n) => n !== at);
    return value.map((one, n) => (n === at ? mutated(one, random) : one));
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0 && random.chance(0.8)) {
    const name = random.of(Object.keys(value));
    const { [name]: member, ...rest } = value;
    if (random.chance(0.15)) return rest;
    if (random.chance(0.15)) return { ...rest, [`${name}X`]: member! };
    return { ...value, [name]: mutated(member!, random) };
  }
  if (typeof value === 'string' && random.chance(0.6)) return spoilt(value, random);
  const others: JsonValue[] = [null, true, false, 0, -1, 1500, '', '[erased]', [], {}, [1], { '0': 1 }, JSON.stringify(value)];
  const different = others.filter((one) => jcs(one) !== jcs(value));
  return random.of(different);
}

/** The entry with another payload, its columns to fit, its hash not yet. What somebody made of it may be no object any more. */
export function withPayload(entry: StoredEntry, payload: JsonObject | null): StoredEntry {
  const text = (name: string) => (typeof payload?.[name] === 'string' ? payload[name] : undefined);
  return {
    ...entry, payload: jcs(payload), id: text('id') ?? entry.id, event: text('event') ?? entry.event,
    actorId: text('actorId') ?? entry.actorId, timestamp: (text('timestamp') ?? entry.timestamp).padEnd(24, '0').slice(0, 24),
    outcome: text('outcome') ?? null,
  };
}

/** Of members that anybody may change without its being seen at once that the text is none of ours. */
export function plausible(entry: StoredEntry, random: Random): StoredEntry {
  const payload = JSON.parse(entry.payload) as JsonObject;
  const tamperings: (() => JsonObject)[] = [
    () => ({ ...payload, actorId: `usr_${random.text(20)}` }),
    () => ({ ...payload, timestamp: `2020-01-${String(10 + random.below(19))}T00:00:00.000Z` }),
    () => ({ ...payload, metadata: { ...(payload['metadata'] as JsonObject), extra: random.below(1_000) } }),
  ];
  return hashed(withPayload(entry, random.of(tamperings)()));
}

/** Hashed as it stands. */
export function hashed(entry: StoredEntry): StoredEntry {
  const { agentId, capability, payload, prevHash } = entry;
  const text = preimage({ agentId: agentId ?? undefined, capability: capability ?? undefined, payload, prevHash: prevHash ?? undefined });
  return { ...entry, hash: entryHash(text) };
}

/** Each hashed anew behind the one before it; the first keeps its prevHash. */
export function resealed(entries: readonly StoredEntry[]): StoredEntry[] {
  const sealed: StoredEntry[] = [];
  for (const entry of entries) sealed.push(hashed({ ...entry, prevHash: sealed.at(-1)?.hash ?? (sealed.length > 0 ? null
    : entry.prevHash) }));
  return sealed;
}

/** In their order, side by side from the first position on, and hashed anew. */
export function renumbered(entries: readonly StoredEntry[], from:
  { readonly seq: number; readonly prevHash: string | null }): StoredEntry[] {
  return resealed(entries.map((entry, n) => ({ ...entry, seq: from.seq + n, ...(n === 0 ? { prevHash: from.prevHash } : {}) })));
}

/** A new entry that says what this one says, under an id of its own. */
export function forgedFrom(entry: StoredEntry, place:
  { readonly chain: string; readonly seq: number; readonly prevHash: string | null }): StoredEntry {
  const id = `audit_${randomBytes(19).toString('hex')}`;
  const payload = { ...(JSON.parse(entry.payload) as JsonObject), id };
  const isAgents = place.chain.startsWith('agt_');
  return hashed({ ...entry, ...place, id, payload: jcs(payload), agentId: isAgents ? place.chain : null });
}

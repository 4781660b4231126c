import type { FindingKind } from '../../../../src/domain/audit/integrity/findings.js';
import type { StoredEntry } from '../../../../src/domain/audit/entry/stored-entry.js';
import type { JsonObject } from '../../../../src/domain/json.js';
import { hashed, mutated, plausible, spoilt, withPayload } from '../altered-entry.js';
import type { Mark, TamperTarget, Tampering } from '../tampering.js';

/** Single entries: every column, every member of every type's payload. */

const HEX = '0'.repeat(64);

type Value = (entry: StoredEntry, place: TamperTarget) => unknown;

function column(name: string, kinds: readonly FindingKind[], value: Value, at: (changed: unknown) => string[] = () => []): Tampering {
  return {
    name: `column ${name}`, kinds,
    tamper: async (place) => {
      const entry = place.entry();
      if (!entry) return undefined;
      const changed = value(entry, place);
      if (changed === undefined) return undefined;
      await place.set(entry, name, changed);
      return { at: [entry.chain, entry.organizationId, ...at(changed)] };
    },
  };
}

const other = (name: keyof StoredEntry): Value => (entry, { entries, random }) => {
  const values = [...new Set(entries.map((one) => one[name]))].filter((one) => one !== entry[name]);
  return values.length === 0 ? undefined : random.of(values);
};

const eitherOf = (...values: readonly Value[]): Value => (entry, place) => place.random.of(values)(entry, place);
const spoiltOf = (name: keyof StoredEntry): Value => (entry, { random }) => {
  const text = entry[name];
  return typeof text === 'string' ? spoilt(text, random) : 'x';
};
const emptied = (name: keyof StoredEntry): Value => (entry) => (entry[name] === null ? undefined : null);

const MOVED = ['deleted', 'truncated', 'chain_removed', 'inserted', 'forked', 'reordered', 'tree_mismatch', 'column_mismatch'] as const;

const COLUMNS: readonly Tampering[] = [
  { ...column('organization_id', MOVED, (entry, { log, random }) =>
    random.chance(0.5) ? `${entry.organizationId}x` : random.of(log.organizations.filter((id) => id !== entry.organizationId)),
  (changed) => [String(changed)]), whole: 'the entry lies in another organization' },
  column('chain', MOVED, eitherOf(other('chain'), spoiltOf('chain')), (changed) => [String(changed)]),
  column('seq', [...MOVED, 'edited'], ({ seq }, { random, entries }) =>
    random.of([seq + 1_000, seq + 1, seq - 1, 0, -5, random.below(entries.length)].filter((one) => one !== seq))),
  column('id', ['column_mismatch'], spoiltOf('id')),
  column('event', ['column_mismatch'], eitherOf(other('event'), spoiltOf('event'))),
  column('agent_id', ['column_mismatch'], eitherOf(other('agentId'), spoiltOf('agentId'), emptied('agentId'))),
  column('actor_id', ['column_mismatch'], eitherOf(other('actorId'), spoiltOf('actorId'))),
  column('capability', ['column_mismatch', 'edited'], eitherOf(other('capability'), spoiltOf('capability'), emptied('capability'))),
  column('outcome', ['column_mismatch'], eitherOf(other('outcome'), spoiltOf('outcome'), emptied('outcome'))),
  column('timestamp', ['column_mismatch'], eitherOf(other('timestamp'), spoiltOf('timestamp'))),
  column('payload', ['edited'], eitherOf(other('payload'), spoiltOf('payload'))),
  // Where an erased value stood is known by its erasure alone: one that seems to have stood elsewhere was erased by nobody.
  column('disclosures', ['edited', 'unauthorised_erasure'], eitherOf(other('disclosures'), spoiltOf('disclosures'))),
  column('prev_hash', ['column_mismatch', 'edited'], eitherOf(other('prevHash'), spoiltOf('prevHash'), emptied('prevHash'), () => HEX)),
  column('hash', ['edited', 'column_mismatch'], eitherOf(other('hash'), spoiltOf('hash'), () => HEX)),
];

/** Other spellings of the same payload: nobody may read the hashed text in two ways. */
const SPELLINGS: readonly ((text: string) => string)[] = [
  (text) => text.replace('"v":1', '"v": 1'), (text) => text.replace('"v":1', '"v":1.0'), (text) => text.replace('"v":1', '"v":1e0'),
  (text) => text.replace('{', '{"v":1,'), (text) => text.replace('"v":1', '"v":1,"v":1'), (text) => `${text} `, (text) => `\n${text}`,
  (text) => text.replace('"event"', '"\\u0065vent"'), (text) => text.replace('"v":1}', '"v":1,"w":-0}'),
  (text) => text.replace('"v":1}', '"v":1,"w":1e400}'), (text) => text.replace('"v":1}', '"v":1,"__proto__":{}}'),
  (text) => text.replace('"v":1}', '"v":2}'),
];

async function rewritten(place: TamperTarget, change: (entry: StoredEntry) => StoredEntry | undefined): Promise<Mark | undefined> {
  const entry = place.entry();
  const changed = entry && change(entry);
  if (!changed || changed.payload === entry.payload) return undefined;
  await place.remove([entry]);
  await place.insert([changed]);
  return { at: [entry.chain, entry.organizationId] };
}

export const ENTRIES: readonly Tampering[] = [
  ...COLUMNS,
  {
    name: 'a member of the payload', kinds: ['edited', 'column_mismatch'],
    tamper: (place) => rewritten(place, (entry) => {
      const payload = JSON.parse(entry.payload) as JsonObject;
      return withPayload(entry, mutated(payload, place.random) as JsonObject);
    }),
  },
  {
    name: 'another spelling of the payload', kinds: ['edited'],
    tamper: (place) => rewritten(place, (entry) => {
      const changed = { ...entry, payload: place.random.of(SPELLINGS)(entry.payload) };
      return place.random.chance(0.5) ? hashed(changed) : changed;
    }),
  },
  {
    name: 'a payload, hashed anew', kinds: ['tree_mismatch', 'forked', 'edited'],
    tamper: (place) => rewritten(place, (entry) => plausible(entry, place.random)),
  },
];

import { blankOf, commitmentDigest } from '../../../../src/domain/audit/entry/commitments.js';
import type { StoredEntry } from '../../../../src/domain/audit/entry/stored-entry.js';
import { jcs } from '../../../../src/domain/audit/entry/jcs.js';
import type { JsonValue } from '../../../../src/domain/json.js';
import { mutated } from '../altered-entry.js';
import type { TamperTarget, Tampering } from '../tampering.js';

/** What entries disclose beside their hashed text. */

interface Disclosed {
  readonly d: string;
  readonly pointer: string;
  readonly salt?: string;
  readonly value?: string;
  readonly erased?: true;
}

const disclosed = ({ disclosures }: StoredEntry) => JSON.parse(disclosures) as Disclosed[];
const isOpen = (one: Disclosed): one is Disclosed & { salt: string; value: string } => one.value !== undefined;

const blanked = ({ d, pointer, salt }: Disclosed): Disclosed => blankOf({ d, salt: salt! }, pointer);

type Change = (all: readonly Disclosed[], at: number, place: TamperTarget) => readonly Disclosed[] | undefined;

/** @param suits of the disclosure that is changed */
function change(name: string, kinds: Tampering['kinds'], suits: (one: Disclosed) => boolean, tamper: Change): Tampering {
  return {
    name, kinds,
    tamper: async (place) => {
      const entry = place.entry((one) => disclosed(one).some(suits));
      if (!entry) return undefined;
      const all = disclosed(entry);
      const places = all.flatMap((one, n) => (suits(one) ? [n] : []));
      const changed = tamper(all, place.random.of(places), place);
      const text = changed && JSON.stringify(changed);
      if (text === undefined || text === entry.disclosures) return undefined;
      await place.set(entry, 'disclosures', text);
      return { at: [entry.chain] };
    },
  };
}

const put = (all: readonly Disclosed[], at: number, one: Disclosed) => all.map((old, n) => (n === at ? one : old));
const valueOf = (one: Disclosed) => JSON.parse(one.value!) as JsonValue;

/** The same bytes, cut apart elsewhere: they give the same digest. */
function recut(one: Disclosed, bytes: 15 | 17): Disclosed | undefined {
  const salt = Buffer.from(one.salt!, 'base64url');
  const text = Buffer.from(one.pointer.split('/').length > 3 ? 'x' : one.value!, 'utf8');
  if (one.pointer.split('/').length > 3) return undefined;
  const all = Buffer.concat([salt, text]);
  return { ...one, salt: all.subarray(0, bytes).toString('base64url'), value: all.subarray(bytes).toString('utf8') };
}

/** Of an array an object, of a text a number: what may read alike. */
function retyped(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) return { ...value } as JsonValue;
  if (typeof value === 'object' && value !== null) return Object.values(value);
  if (typeof value === 'string') return /^\d+$/.test(value) ? Number(value) : [value];
  return String(value);
}

export const VALUES: readonly Tampering[] = [
  change('a value', ['edited'], isOpen, (all, at, { random }) =>
    put(all, at, { ...all[at]!, value: jcs(mutated(valueOf(all[at]!), random)) })),
  change('an array turned into an object', ['edited'], (one) => isOpen(one) && one.value.startsWith('['), (all, at) =>
    put(all, at, { ...all[at]!, value: jcs(retyped(valueOf(all[at]!))!) })),
  change('a value of another type', ['edited'], isOpen, (all, at) => put(all, at, { ...all[at]!,
    value: jcs(retyped(valueOf(all[at]!))!) })),
  change('a value in another spelling', ['edited'], isOpen, (all, at, { random }) =>
    put(all, at, { ...all[at]!, value: random.of([` ${all[at]!.value!}`, `${all[at]!.value!} `]) })),
  change('another salt', ['edited'], isOpen, (all, at, { random }) => put(all, at, { ...all[at]!, salt: `${random.text(21)}A` })),
  change('another spelling of the salt', ['edited'], isOpen, (all, at) => {
    const salt = all[at]!.salt!;
    const next = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    return put(all, at, { ...all[at]!, salt: salt.slice(0, 21) + next[next.indexOf(salt[21]!) + 1]! });
  }),
  change('a salt of 15 bytes', ['edited'], isOpen, (all, at) => {
    const one = recut(all[at]!, 15);
    return one && put(all, at, one);
  }),
  change('a salt of 17 bytes', ['edited'], (one) => isOpen(one) && one.value.length > 1, (all, at) => {
    const one = recut(all[at]!, 17);
    return one && put(all, at, one);
  }),
  change('a digest', ['edited'], () => true, (all, at, { random }) =>
    put(all, at, { ...all[at]!, d: commitmentDigest(Buffer.alloc(16, random.below(255)), 'x') })),
  change('a pointer', ['edited'], isOpen, (all, at, { random }) =>
    put(all, at, { ...all[at]!, pointer: random.of([`${all[at]!.pointer}x`, '/metadata/input/x', '/origin/address', '/payload']) })),
  change('a disclosure taken away', ['edited'], () => true, (all, at) => all.filter((_, n) => n !== at)),
  change('a disclosure that stands twice', ['edited'], () => true, (all, at) => [...all.slice(0, at), all[at]!, ...all.slice(at)]),
  change('a disclosure of nothing', ['edited'], () => true, (all, at) => [...all.slice(0, at), { ...all[at]!, d: 'A'.repeat(43) },
    ...all.slice(at)]),
  change('disclosures out of order', ['edited'], () => true, (all) => (all.length > 1 ? [...all].reverse() : undefined)),
  change('two values of an entry swapped', ['edited'], isOpen, (all, at) => {
    const to = all.findIndex((one, n) => n !== at && isOpen(one) && one.value !== all[at]!.value);
    return to < 0 ? undefined : put(put(all, at, { ...all[at]!, value: all[to]!.value! }), to, { ...all[to]!, value: all[at]!.value! });
  }),
  change('two salts of an entry swapped', ['edited'], isOpen, (all, at) => {
    const to = all.findIndex((one, n) => n !== at && isOpen(one));
    return to < 0 ? undefined : put(put(all, at, { ...all[at]!, salt: all[to]!.salt! }), to, { ...all[to]!, salt: all[at]!.salt! });
  }),
  change('"[erased]" forged as a value', ['edited'], (one) => isOpen(one) && one.value !== '"[erased]"', (all, at) =>
    put(all, at, { ...all[at]!, value: '"[erased]"' })),
  change('a value blanked, and no erasure lists it', ['unauthorised_erasure'], isOpen, (all, at) =>
    put(all, at, blanked(all[at]!))),
  change('all values blanked', ['unauthorised_erasure'], isOpen, (all) => all.map((one) => (isOpen(one) ? blanked(one) : one))),
  change('erased, and still disclosed', ['edited'], isOpen, (all, at) => put(all, at, { ...all[at]!, erased: true })),
  change('half erased: salt or value alone is gone', ['edited'], isOpen, (all, at, { random }) => {
    const { salt, value, ...rest } = all[at]! as Disclosed & { salt: string; value: string };
    return put(all, at, random.chance(0.5) ? { ...rest, salt } : { ...rest, value });
  }),
  change('a value put where one was erased', ['edited'], (one) => one.erased === true, (all, at, { random }) =>
    put(all, at, { d: all[at]!.d, pointer: all[at]!.pointer, salt: `${random.text(21)}A`, value: jcs(random.text(6)) })),
  {
    name: 'values of two entries swapped', kinds: ['edited'],
    tamper: async (place) => {
      const one = place.entry(({ disclosures }) => disclosures.includes('"value"'));
      const others = place.entries.filter(({ event, id, disclosures }) =>
        event === one?.event && id !== one.id && disclosures !== '[]' && disclosures !== one.disclosures);
      if (!one || others.length === 0) return undefined;
      const other = place.random.of(others);
      await place.set(one, 'disclosures', other.disclosures);
      await place.set(other, 'disclosures', one.disclosures);
      return { at: [one.chain, other.chain] };
    },
  },
];

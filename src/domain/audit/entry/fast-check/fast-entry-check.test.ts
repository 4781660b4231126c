import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyText } from '../../../../../test/support/running/any-text.js';
import { append, type MemoryLog } from '../../../../../test/support/memory/memory-log.js';
import { agentChain, organizationChain } from '../chain.js';
import { checkAtLength, checkEntry } from '../check-entry.js';
import { blankOf, commitmentDigest, commitMembers, commitValue, disclosuresText, type Disclosure } from '../commitments.js';
import type { RecordedEvent } from '../prepare-entry.js';
import { entryHash, preimage } from '../entry-hash.js';
import type { JsonValue } from '../../../json.js';
import { jcs } from '../jcs.js';
import { parseCanonical } from '../payload.js';
import { passesFastCheck } from './fast-entry-check.js';
import { plainEnd } from './json-scanner.js';
import type { StoredEntry } from '../stored-entry.js';

const isPlain = (text: string) => plainEnd(Buffer.from(`${text}\0`), 0) === Buffer.byteLength(text);
/** By the long way: parsed, and written again. */
const isCanonical = (text: string) => parseCanonical(text) !== undefined;

/** Pieces that change what a text says, or only how. */
const PIECES = [
  '', ' ', '"', '\\', '\\"', '\\\\', '\\n', '\\u0041', ',', ':', '{', '}', '[', ']', '0', '-', '-0', '1.0', '1.5', '1e3',
  '.', 'null', 'true', '"a":1,', ',"a":1', '{}', '[]', '~', '"~":"x"', '/', '~0', '~1', '\u0000', '\n',
  'é', '\u2028', '\uffff', '\ud800', '😀', '_', 'A',
];

interface Cut {
  readonly at: number;
  readonly length: number;
  readonly piece: string;
}

const cut: fc.Arbitrary<Cut> = fc.record({ at: fc.nat(), length: fc.nat({ max: 3 }), piece: fc.constantFrom(...PIECES) });

function changed(text: string, { at, length, piece }: Cut): string {
  const where = at % (text.length + 1);
  return text.slice(0, where) + piece + text.slice(where + length);
}

describe('canonical by a glance', () => {
  it('is what is canonical after all', () => {
    const text = fc.json({ maxDepth: 4 }).map((json) => jcs(JSON.parse(json)));
    fc.assert(fc.property(text, fc.array(cut, { maxLength: 2 }), (canonical, cuts) => {
      const given = cuts.reduce(changed, canonical);
      if (isPlain(given)) expect([given, isCanonical(given)]).toEqual([given, true]);
    }), { numRuns: 2_000 });
  });

  it('of numbers, every short one', () => {
    const letters = ['0', '1', '9', '-', '.', 'e', '+'];
    let texts = [''];
    let plain = 0;
    for (let length = 1; length <= 5; length++) {
      texts = texts.flatMap((text) => letters.map((letter) => text + letter));
      for (const text of texts) {
        if (!isPlain(text)) continue;
        plain++;
        if (!isCanonical(text)) throw new Error(text);
      }
    }
    expect(plain).toBeGreaterThan(300);
  });

  it('of numbers, long ones', () => {
    const digits = (maxLength: number) => fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength });
    fc.assert(fc.property(fc.constantFrom('', '-'), digits(17), fc.constantFrom('', '.'), digits(9), (sign, whole, point, fraction) => {
      const text = `${sign}${whole}${point}${fraction}`;
      if (isPlain(text)) expect([text, isCanonical(text)]).toEqual([text, true]);
    }), { numRuns: 2_000 });
  });

  it.each([
    '"a"', '"é"', '12', '-7', '0', '0.5', '0.000001', '1249.5', '-99999999.25', 'true', 'false', 'null', '{}', '[]',
    '[1,"a",[{}]]', '{"10":1,"2":2}', '{"a":{"a":[]},"a!":1,"ab":null}',
  ])('is %s', (text) => {
    expect([isPlain(text), isCanonical(text)]).toEqual([true, true]);
  });

  it.each([
    '', ' 1', '1 ', '01', '-0', '-0.0', '1.0', '1.', '.5', '0.0000001', '1e3', '1234567890123456789', '"', '"\\u0041"', '"\n"',
    '"\ud800"', 'nul', 'nulll', '{"b":1,"a":2}', '{"a":1,"a":1}', '{"a":1,}', '{"a"}', '[1,]', '[', '[[', '{"a":[}',
    '{"a!":1,"a":1}', '{"2":2,"10":1}',
  ])('is not %j', (text) => {
    expect([isPlain(text), isCanonical(text)]).toEqual([false, false]);
  });

  it('reads no deeper than the stack bears', () => {
    expect(isPlain('['.repeat(100_000) + ']'.repeat(100_000))).toBe(false);
    expect(isPlain('[[[[[[[[]]]]]]]]')).toBe(true);
  });
});

const AGENT = { chain: agentChain('org_a', 'agt_1'), agentId: 'agt_1' };
const PLACE = { ...AGENT, capability: 'email.send' };
const INPUT = { to: 'Ada', amount: 1_249.5, lines: [{ sku: 'A-100', quantity: 12 }], urgent: false, none: null };

const started = (input: JsonValue, reasons: readonly JsonValue[] = []): RecordedEvent =>
  ({ ...PLACE, type: 'execution.started', metadata: { executionId: 'exec_1', definition: 'd', input, reasons } }) as RecordedEvent;

const usual: fc.Arbitrary<RecordedEvent> = fc.constantFrom<RecordedEvent>(
  { chain: organizationChain('org_a'), type: 'auth.login', metadata: { method: 'password' } },
  started(INPUT),
  started({}, [{ rule: 'grant' }]),
  { ...PLACE, type: 'hitl.rejected', metadata: { hitlId: 'hitl_1', comment: 'nein, größer' } },
  { ...AGENT, type: 'agent.updated', metadata: { name: 'Ada', metadata: INPUT } },
);
const seldom: fc.Arbitrary<RecordedEvent> = fc.tuple(anyText({ maxLength: 8 }), fc.jsonValue())
  .map(([key, value]) => started({ ...INPUT, [key]: value as JsonValue }));

function storedOf(event: RecordedEvent): StoredEntry {
  const log: MemoryLog = { entries: [], heads: [], leaves: [] };
  const origin = { via: 'rest', requestId: 'request-1', address: '203.0.113.7' } as const;
  for (const id of ['audit_1', 'audit_2']) append(log, event, { id, actorId: 'root', timestamp: new Date(1_795_000_000_000), origin });
  return log.entries[1]!;
}

function rehashed(entry: StoredEntry): StoredEntry {
  const { agentId, capability, payload, prevHash } = entry;
  const parts = { agentId: agentId ?? undefined, capability: capability ?? undefined, payload, prevHash: prevHash ?? undefined };
  try {
    return { ...entry, hash: entryHash(preimage(parts)) };
  } catch {
    return entry;
  }
}

/** That nothing speaks against it where it was called sound, and that both ways then say the same. */
function holds(entry: StoredEntry): boolean {
  if (!passesFastCheck(entry)) return false;
  const { findings, blanks, payload } = checkAtLength(entry);
  expect({ entry, findings, blanks }).toEqual({ entry, findings: [], blanks: [] });
  const short = checkEntry(entry).payload!;
  expect([short.event, short.metadata]).toEqual([payload!.event, payload!.metadata]);
  return true;
}

/** The chain is not hashed where it is no agent's. */
const COLUMNS = ['chain', 'id', 'event', 'agentId', 'actorId', 'organizationId', 'capability', 'outcome', 'timestamp', 'prevHash'] as const;

describe('sound by a glance', () => {
  it('are the entries that are usual', () => {
    fc.assert(fc.property(usual, (event) => expect(holds(storedOf(event))).toBe(true)));
    const entry = storedOf({ ...AGENT, type: 'agent.activated', metadata: { epoch: 1 } });
    expect(holds(entry)).toBe(true);
    expect(checkEntry(entry).payload).toMatchObject({ event: 'agent.activated', metadata: { epoch: 1 } });
  });

  it('is nothing that is not sound, of values that are seldom', () => {
    fc.assert(fc.property(seldom, (event) => void holds(storedOf(event))), { numRuns: 500 });
  });

  it('is nothing of which a text was changed, whether the hash was made to fit or not', () => {
    const cuts = fc.array(cut, { minLength: 1, maxLength: 3 });
    const given = fc.tuple(fc.oneof(usual, seldom), fc.constantFrom('payload', 'disclosures'), cuts);
    fc.assert(fc.property(given, fc.boolean(), ([event, text, some], isRehashed) => {
      const entry = storedOf(event);
      const other = { ...entry, [text]: some.reduce(changed, entry[text as 'payload']) };
      holds(isRehashed ? rehashed(other) : other);
    }), { numRuns: 2_000 });
  });

  it('is nothing of which a column was changed', () => {
    const given = fc.tuple(usual, fc.constantFrom(...COLUMNS), fc.option(fc.oneof(fc.string(), cut)));
    fc.assert(fc.property(given, fc.boolean(), ([event, column, change], isRehashed) => {
      const entry = storedOf(event);
      const isOptional = ['agentId', 'capability', 'outcome', 'prevHash'].includes(column);
      const none = isOptional ? null : '';
      const value = change === null ? none : typeof change === 'string' ? change : changed(entry[column] ?? '', change);
      const other = { ...entry, [column]: value } as StoredEntry;
      if (value !== entry[column] && column !== 'chain') expect(passesFastCheck(other)).toBe(false);
      holds(isRehashed ? rehashed(other) : other);
    }), { numRuns: 2_000 });
  });

  it('is nothing of which values were exchanged, dropped, doubled or cut elsewhere', () => {
    const shuffled = fc.array(fc.nat({ max: 12 }), { maxLength: 12 });
    fc.assert(fc.property(fc.oneof(usual, seldom), shuffled, (event, order) => {
      const entry = storedOf(event);
      const all = JSON.parse(entry.disclosures) as Disclosure[];
      const taken = order.flatMap((n) => all[n] ?? []);
      const disclosures = `[${taken.map((one) => JSON.stringify(one)).join(',')}]`;
      expect(holds({ ...entry, disclosures })).toBe(disclosures === entry.disclosures && holds(entry));
    }), { numRuns: 2_000 });
  });
});

describe('commitments that were made to fit', () => {
  const entryOf = (metadata: string, disclosures: string): StoredEntry => {
    const entry = storedOf({ ...AGENT, type: 'agent.activated', metadata: { epoch: 1 } });
    const payload = entry.payload.replace(/"metadata":\{.*?\},"org/, `"metadata":${metadata},"org`)
      .replace(/"origin":.*?"via":"rest"\},/, '');
    return rehashed({ ...entry, payload, disclosures });
  };
  const made = (write: (disclosures: Disclosure[]) => string) => {
    const disclosures: Disclosure[] = [];
    const metadata = write(disclosures);
    return { metadata, disclosures };
  };

  it('are sound where each stands in its place', () => {
    const { metadata, disclosures } = made((all) =>
      `{"a":${commitValue('x', '/metadata/a', all)},"b":${commitMembers({ c: 1 }, '/metadata/b', all)}}`);
    expect(holds(entryOf(metadata, disclosuresText(disclosures)))).toBe(true);
  });

  it.each<[string, (all: Disclosure[]) => string]>([
    ['one that stands in two places', (all) => {
      const text = commitValue('x', '/metadata/a', all);
      all.push({ ...all[0]!, pointer: '/metadata/b' });
      return `{"a":${text},"b":${text}}`;
    }],
    ['one that stands too deep', (all) => `{"a":{"b":${commitValue('x', '/metadata/a', all)}}}`],
    ['one that stands too deep, and has no value', () => `{"a":{"b":{"~":"${'A'.repeat(43)}"}}}`],
    ...['1.0', ' 1', '{"b":1,"a":2}', '"\\u0041"', '1 '].map((value): [string, (all: Disclosure[]) => string] => [
      `one of a text that is not canonical: ${value}`,
      (all) => {
        const salt = Buffer.alloc(16, 7);
        all.push({ d: commitmentDigest(salt, value), pointer: '/metadata/a', salt: salt.toString('base64url'), value });
        return `{"a":{"~":"${all[0]!.d}"}}`;
      },
    ]),
    ['one with another member beside it', (all) => `{"a":${commitValue('x', '/metadata/a', all).slice(0, -1)},"~x":1}}`],
    ['a value that stands for a member', (all) => `{"a":${commitValue('x', '/metadata/a/b', all)}}`],
    ['a member that stands for a value', (all) => {
      const text = commitMembers({ b: 1 }, '/metadata/a', all);
      all[0] = { ...all[0]!, pointer: '/metadata/a' };
      return `{"a":${text}}`;
    }],
    ['a member of another name', (all) => {
      const text = commitMembers({ b: 1 }, '/metadata/a', all);
      all[0] = { ...all[0]!, pointer: '/metadata/a/c' };
      return `{"a":${text}}`;
    }],
    ['a value of another place', (all) => `{"a":${commitValue('x', '/metadata/b', all)}}`],
    ['a value of the origin', (all) => `{"a":${commitValue('x', '/origin/a', all)}}`],
    ['digests out of order', (all) => {
      const text = commitMembers({ b: 1, c: 2 }, '/metadata/a', all);
      return `{"a":${text.replace(/\["(.*)","(.*)"\]/, '["$2","$1"]')}}`;
    }],
    ['a value that was erased, and no word of it', (all) => {
      const text = commitValue('x', '/metadata/a', all);
      all[0] = blankOf(all[0]!, '/metadata/a');
      return `{"a":${text}}`;
    }],
    ['a salt in another spelling', (all) => {
      const text = commitValue('x', '/metadata/a', all);
      const { salt, ...rest } = all[0]!;
      const last = salt!.at(-1) === 'A' ? 'B' : salt!.at(-1) === 'Q' ? 'R' : salt!.at(-1) === 'g' ? 'h' : 'x';
      all[0] = { ...rest, salt: salt!.slice(0, -1) + last };
      return `{"a":${text}}`;
    }],
  ])('not %s', (_what, write) => {
    const { metadata, disclosures } = made(write);
    const entry = entryOf(metadata, disclosuresText(disclosures));
    expect(holds(entry)).toBe(false);
    const { findings, blanks } = checkAtLength(entry);
    expect(findings.length + blanks.length).toBeGreaterThan(0);
  });
});

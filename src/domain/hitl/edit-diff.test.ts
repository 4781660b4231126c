import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { applyPatch, type Operation } from 'rfc6902';
import type { JsonObject } from '../json.js';
import { editDiff } from './edit-diff.js';

const applied = (from: JsonObject, diff: Operation[]): unknown => {
  // A patch of the whole replaces the value at the root.
  const holder = { root: structuredClone(from) };
  const failures = applyPatch(holder, diff.map((operation) => ({ ...operation, path: `/root${operation.path}` })));
  expect(failures.filter((failure) => failure !== null)).toEqual([]);
  return holder.root;
};

const name = fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom('a/b', '~', '~1', '', '-', '0', 'hasOwnProperty'));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, fc.integer({ min: 0, max: 3 }), fc.string({ maxLength: 2 }), fc.boolean(), fc.constant(null),
    fc.array(tie('value'), { maxLength: 5 }), fc.dictionary(name, tie('value'), { maxKeys: 4 })),
}));
const input = fc.dictionary(name, value, { maxKeys: 4 }) as fc.Arbitrary<JsonObject>;
const plain = (json: JsonObject) => JSON.parse(JSON.stringify(json)) as JsonObject;

describe('the diff of an edit', () => {
  it.each<[string, JsonObject, JsonObject, Operation[]]>([
    ['nothing', { a: 1 }, { a: 1 }, []],
    ['a value', { a: 10, b: 1 }, { a: 1_000_000, b: 1 }, [{ op: 'replace', path: '/a', value: 1_000_000 }]],
    ['a member added, one removed', { a: 1 }, { b: 2 }, [{ op: 'remove', path: '/a' }, { op: 'add', path: '/b', value: 2 }]],
    ['within', { to: [{ at: 'x' }, { at: 'y' }] }, { to: [{ at: 'x' }, { at: 'z' }] }, [{ op: 'replace', path: '/to/1/at', value: 'z' }]],
    ['an element less', { to: ['a', 'b', 'c'] }, { to: ['a', 'c'] }, [{ op: 'remove', path: '/to/1' }]],
    ['an element more', { to: ['a', 'c'] }, { to: ['a', 'b', 'c'] }, [{ op: 'add', path: '/to/1', value: 'b' }]],
    ['a name that applying libraries guard', { constructor: {} }, { constructor: { a: 1 } },
      [{ op: 'add', path: '/constructor/a', value: 1 }]],
    ['names with slashes', { 'a/b': { '~': 1 } }, { 'a/b': { '~': 2 } }, [{ op: 'replace', path: '/a~1b/~0', value: 2 }]],
  ])('%s', (_name, from, to, diff) => expect(editDiff(from, to)).toEqual(diff));

  it('leads from the one to the other, whatever they are, and is empty only where they are the same', () => {
    fc.assert(fc.property(input.map(plain), input.map(plain), (from, to) => {
      const diff = editDiff(from, to);
      expect(applied(from, diff)).toEqual(to);
      expect(editDiff(to, to)).toEqual([]);
    }), { numRuns: 1_000 });
  });

  it('stays within a bound for arrays and names that would make it large', () => {
    const many = (seed: number) => Array.from({ length: 60_000 }, (_, i) => (i * seed) % 7);
    const nested = (seed: number) => Array.from({ length: 300 }, (_, i) => Array.from({ length: 200 }, (_, j) => (i * j * seed) % 5));
    const long = 'n'.repeat(50_000);
    const pairs: [JsonObject, JsonObject][] = [
      [{ list: many(3) }, { list: many(5).slice(1) }],
      [{ table: nested(1) }, { table: nested(2).slice(1) }],
      [{ [long]: Object.fromEntries(many(1).slice(0, 20_000).map((v, i) => [`k${i}`, v])) },
        { [long]: Object.fromEntries(many(2).slice(0, 20_000).map((v, i) => [`k${i}`, v])) }],
    ];
    for (const [from, to] of pairs) {
      const diff = editDiff(from, to);
      expect(JSON.stringify(diff).length).toBeLessThan(2 * JSON.stringify(to).length + 2 * 256 * 1024);
      expect(applied(from, diff)).toEqual(to);
    }
  });
});

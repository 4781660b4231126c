import {
  celEnv,
  celError,
  celFunc,
  celListConcat,
  celMethod,
  CelScalar,
  isCelList,
  isCelMap,
  listType,
  mapType,
  type CelEnv,
  type CelValue,
} from '@bufbuild/cel';
import { RE2JS } from 're2js';
import { BoundedCache } from './bounded-cache.js';

/*
 * The CEL library has no budget of its own: a short expression can run for seconds. Every function call goes through
 * a meter here, and every macro announces its range before the first element. One unit is about the evaluation of
 * one node (some 100 ns), so the budget is a few milliseconds.
 */
const WORK_BUDGET = 50_000;
export const STRING_BYTES_MAX = 16 * 1024;
export const MACRO_ELEMENTS_MAX = 1_000;
/** Instructions of a compiled pattern: `a{1,500}` is long to run although short to write. */
export const PATTERN_SIZE_MAX = 1_000;

/** Ends an evaluation at once; a CEL error would be swallowed by `||` and by macros. */
export class LimitReached extends Error {}

let work = 0;

/** Starts an evaluation's account. Evaluation is synchronous, so one account serves the process. */
export function openAccount(): void {
  work = 0;
}

function charge(units: number): void {
  work += units;
  if (work > WORK_BUDGET) throw new LimitReached('it would take too much work');
}

const patterns = new BoundedCache<string, RE2JS>(500);

/** Compiled by RE2: linear in the text, whatever the pattern. */
export function pattern(source: string): RE2JS {
  return patterns.get(source, () => RE2JS.compile(source));
}

/** What `{range, cost of the body}` of each macro is wrapped in when a condition is planned. */
export const RANGE = '@range';

const { BOOL, DOUBLE, INT, STRING } = CelScalar;
const LIST = listType(CelScalar.DYN);
const MAP = mapType(CelScalar.DYN, CelScalar.DYN);

function announce<T extends { readonly size: number }>(range: T, bodyNodes: bigint): T {
  if (range.size > MACRO_ELEMENTS_MAX) throw new LimitReached('a macro would go over more than 1,000 elements');
  charge(range.size * Number(bodyNodes));
  return range;
}

const decimal = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

function textToDouble(text: string): number {
  // The library takes Number(text), so that "" is 0 and "abc" is a NaN which every comparison calls false.
  if (!decimal.test(text)) throw new Error('not a number');
  return Number(text);
}

function modulo(left: number, right: number): number {
  if (!Number.isInteger(left) || !Number.isInteger(right) || right === 0) throw new Error('not a remainder of integers');
  return left % right;
}

// JSON has one kind of number, CEL has several: `input.amount * 2` must work for 150 and for 150.5.
const MIXED = [
  ['_+_', (left: number, right: number) => left + right],
  ['_-_', (left: number, right: number) => left - right],
  ['_*_', (left: number, right: number) => left * right],
  ['_/_', (left: number, right: number) => left / right],
  ['_%_', modulo],
] as const;

const plain = celEnv({
  funcs: [
    ...MIXED.flatMap(([name, compute]) => [
      celFunc(name, [DOUBLE, INT], DOUBLE, (left, right) => compute(left, Number(right))),
      celFunc(name, [INT, DOUBLE], DOUBLE, (left, right) => compute(Number(left), right)),
    ]),
    celFunc('_%_', [DOUBLE, DOUBLE], DOUBLE, modulo),
    celFunc('double', [STRING], DOUBLE, textToDouble),
    celMethod('matches', STRING, [STRING], BOOL, function (this: string, source: string) {
      return pattern(source).test(this);
    }),
    celFunc(RANGE, [LIST, INT], LIST, announce),
    celFunc(RANGE, [MAP, INT], MAP, announce),
  ],
});

type Functions = CelEnv['funcs'];
type FunctionGroup = NonNullable<ReturnType<Functions['find']>>;

// Lists joined by `+` are chains that are walked link by link, so their length costs more than once.
const links = new WeakMap<object, number>();

function weight(value: unknown, deep: boolean): number {
  if (typeof value === 'string') {
    if (value.length > STRING_BYTES_MAX / 3 && Buffer.byteLength(value) > STRING_BYTES_MAX) {
      throw new LimitReached('a string has more than 16 KiB');
    }
    return value.length / 64;
  }
  if (value instanceof Uint8Array) {
    if (value.length > STRING_BYTES_MAX) throw new LimitReached('a string has more than 16 KiB');
    return value.length / 64;
  }
  if (!deep || (!isCelList(value) && !isCelMap(value))) return 0;
  let sum = (value.size * (links.get(value) ?? 1)) / 4;
  charge(sum);
  for (const element of value) sum += 1 + weightOf(element);
  return sum;
}

function weightOf(element: unknown): number {
  // Charged as it is walked: a weighing never costs more than the budget.
  charge(1);
  return Array.isArray(element) ? weight(element[0], false) + weight(element[1], true) : weight(element, true);
}

function price(name: string, target: unknown, args: readonly unknown[]): number {
  const deep = name === '_==_' || name === '_!=_' || name === '@in';
  let units = weight(target, false);
  for (const arg of args) units += weight(arg, deep);
  const [first] = args;
  // Counting goes code point by code point.
  if (name === 'size') units *= 16;
  if (typeof target === 'string' && typeof first === 'string') {
    // Searching one periodic text in another is quadratic; matching goes through the pattern's states.
    if (name === 'contains') units += (target.length * first.length) / 1_024;
    if (name === 'matches') units += (target.length * pattern(first).programSize()) / 16;
  }
  // A time zone by name is looked up and formatted anew each time.
  if (name.startsWith('get') && args.length === 1) units += 1_000;
  return units;
}

function metered(group: FunctionGroup): FunctionGroup {
  return {
    name: group.name,
    [Symbol.iterator]: () => group[Symbol.iterator](),
    call(id: number, target: CelValue | undefined, args: CelValue[]) {
      charge(1 + price(group.name, target, args));
      // Lists grow in macros, and the library tries a dozen overloads before it comes to theirs.
      const [left, right] = args;
      const joined = group.name === '_+_' && isCelList(left) && isCelList(right) ? celListConcat(left, right) : undefined;
      const result = joined ?? group.call(id, target, args);
      // What is not a number compares as false with everything, and a condition must not fail open.
      if (typeof result === 'number' && Number.isNaN(result)) return celError('not a number', id);
      if (joined) links.set(joined, 1 + Math.max(linksOf(left), linksOf(right)));
      return rethrowLimit(result);
    },
  } as FunctionGroup;
}

function linksOf(value: unknown): number {
  return (typeof value === 'object' && value !== null ? links.get(value) : undefined) ?? 1;
}

// The library turns what a function throws into an error value; a limit must end the evaluation all the same.
function rethrowLimit<T>(result: T): T {
  if (result instanceof Error && result.cause instanceof LimitReached) throw result.cause;
  return result;
}

const groups = new Map<string, FunctionGroup>();

const functions = Object.create(plain.funcs, {
  find: {
    value(name: string) {
      const known = groups.get(name);
      if (known) return known;
      const group = plain.funcs.find(name);
      if (!group) return undefined;
      const guarded = metered(group);
      groups.set(name, guarded);
      return guarded;
    },
  },
}) as Functions;

/** The environment conditions are planned in: the standard functions, mixed arithmetic, and the meter. */
export const conditionEnvironment: CelEnv = Object.create(plain, { funcs: { value: functions } }) as CelEnv;

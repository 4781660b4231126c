import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { goodBody } from './bad-bodies.js';
import { badInputScenario, type BadInputScenario, type Sent } from './bad-input-scenario.js';
import { closeRawConnections } from '../http/raw-http.js';
import { inParallel } from '../proofs/in-lanes.js';
import { storedState, type StoredState } from '../log/stored-state.js';
import { isForBrowsers, isOfVendors, type MemberSchema, type Route } from './routes.js';
import { isOfPages } from './strongest-caller.js';

let scenario: BadInputScenario;
let before: StoredState;
let which: 'some' | 'all';
let names = 0;

const LANES = 8;

const strict = () => scenario.routes.filter((route) => !isForBrowsers(route) && !isOfVendors(route));

interface Misspelling {
  readonly route: Route;
  readonly sent: Sent;
  readonly pointer: string;
  /** The documented name. */
  readonly meant: string;
}

/**
 * A letter dropped, two letters swapped, and the same in the other spelling. What is another name of the same place is no misspelling.
 * Some: one of these, each of them in its turn.
 */
function misspelt(name: string, others: readonly string[]): string[] {
  const known = new Set(others.flatMap((one) => [one, snake(one)]));
  const wrong = [name, snake(name)].flatMap((right) => {
    const middle = right.length >> 1;
    const at = [...right].findIndex((letter, index) => index + 1 < right.length && letter !== right[index + 1] && index + 1 >= middle);
    return [right.slice(0, middle) + right.slice(middle + 1), right.slice(0, at) + right[at + 1]! + right[at]! + right.slice(at + 2)];
  });
  const all = [...new Set(wrong)].filter((one) => !known.has(one) && one !== '');
  return which === 'all' ? all : all.slice(names++ % Math.max(1, all.length)).slice(0, 1);
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function* inQuery(route: Route): Iterable<Misspelling> {
  const known = Object.keys(route.query);
  for (const meant of known) {
    for (const wrong of misspelt(meant, known)) {
      yield { route, sent: { query: `?${wrong}=1`, ...bodyOf(route) }, pointer: `?${wrong}`, meant };
    }
  }
}

/** What keeps the call from acting is the misspelling alone. */
function bodyOf(route: Route): Sent {
  return route.takesBody || isOfPages(route) ? { body: JSON.stringify(goodBody(route, { agentId: scenario.agent.id })) } : {};
}

function* inBody(route: Route): Iterable<Misspelling> {
  const good = goodBody(route, { agentId: scenario.agent.id });
  for (const { place, members } of objectsOf(route.members)) {
    const known = Object.keys(members);
    for (const meant of known) {
      for (const wrong of misspelt(meant, known)) {
        const { [meant]: value = 'any', ...others } = place.length === 0 ? good : {};
        const body = put(good, place, { ...others, [wrong]: value });
        yield { route, sent: { body: JSON.stringify(body) }, pointer: ['', ...place, wrong].join('/'), meant };
      }
    }
  }
}

interface DeclaredObject {
  readonly place: readonly string[];
  readonly members: Readonly<Record<string, MemberSchema>>;
}

/** The body, and each object within it whose members are declared; of a list the first item. */
function objectsOf(members: Readonly<Record<string, MemberSchema>>, place: readonly string[] = []): DeclaredObject[] {
  const within = Object.entries(members).flatMap(([name, { properties, type }]) =>
    properties === undefined ? [] : objectsOf(properties, [...place, name, ...([type].flat().includes('array') ? ['0'] : [])]));
  return [...(Object.keys(members).length === 0 ? [] : [{ place, members }]), ...within];
}

function put(body: Record<string, unknown>, place: readonly string[], value: unknown): unknown {
  const [step, ...rest] = place;
  if (step === undefined) return value;
  const inner = put({}, rest, value);
  return step === '0' ? [inner] : { ...body, [step]: inner };
}

async function wrongWith({ route, sent, pointer, meant }: Misspelling): Promise<string[]> {
  const { status, code, errors } = await scenario.send(route, sent);
  const said = errors.find((error) => error.pointer === pointer)?.message;
  if (status === 400 && code === 'VALIDATION_FAILED' && said === `is not known here; did you mean ${meant}?`) return [];
  return [`${route.method} ${route.template} ${pointer}, meant ${meant}: ${status} ${JSON.stringify(errors)}`];
}

async function changedNothing(): Promise<void> {
  expect(await storedState(scenario.server)).toEqual(before);
}

/**
 * Every route of the running server's document × every member and parameter that it documents, misspelt. Nothing here knows a route by
 * name.
 * @param chosen one misspelling of each name, or all of them
 */
export function judgeUnknownNames(chosen: 'some' | 'all'): void {
  beforeAll(async () => {
    which = chosen;
    scenario = await badInputScenario();
    before = await storedState(scenario.server);
  });

  afterAll(async () => {
    closeRawConnections();
    await scenario?.server.stop();
  });

  describe('on every route', () => {
    test('a misspelt parameter is 400 with the right one, and changes nothing', async () => {
      const all = strict().flatMap((route) => [...inQuery(route)]);
      expect((await inParallel(LANES, all, wrongWith)).flat()).toEqual([]);
      expect(all.length).toBeGreaterThan(which === 'all' ? 200 : 60);
      await changedNothing();
    });

    test('a misspelt member is 400 with the right one, at any depth, and changes nothing', async () => {
      const all = strict().flatMap((route) => [...inBody(route)]);
      expect((await inParallel(LANES, all, wrongWith)).flat()).toEqual([]);
      expect(all.length).toBeGreaterThan(which === 'all' ? 500 : 150);
      expect(new Set(all.map(({ pointer }) => pointer.split('/').length)).size).toBeGreaterThanOrEqual(3);
      await changedNothing();
    });

    test('a member or a parameter is 400 where the route takes none', async () => {
      const wrong: string[] = [];
      for (const route of strict()) {
        const tries: [Sent, string][] = [[{ query: '?nonsense=1', ...bodyOf(route) }, '?nonsense']];
        if (!route.takesBody) tries.push([{ body: '{"nonsense":1}' }, '/nonsense']);
        for (const [sent, pointer] of tries) {
          const { status, code, pointers } = await scenario.send(route, sent);
          const isRefused = status === 400 && code === 'VALIDATION_FAILED' && pointers.join() === pointer;
          if (!isRefused) wrong.push(`${route.method} ${route.template} ${pointer}: ${status} ${code} ${pointers.join()}`);
        }
      }
      expect(wrong).toEqual([]);
      await changedNothing();
    });

    test('lenience ignores names, goes no further, and is said in the answer', async () => {
      const headers = ['prefer', 'respond-async, handling=lenient'];
      const wrong: string[] = [];
      for (const route of strict().filter(({ query, takesBody }) => takesBody || 'limit' in query)) {
        const body = route.takesBody ? { body: '[]' } : {};
        const { status, errors, headers: answered } = await scenario.send(route, { query: '?nonsense=1', headers, ...body });
        const ofNames = errors.some(({ message }) => message.startsWith('is not known'));
        const right = answered['preference-applied'] === 'handling=lenient' && !ofNames && (!route.takesBody || status === 400);
        if (!right) wrong.push(`${route.method} ${route.template}: ${status} ${answered['preference-applied']} ${JSON.stringify(errors)}`);
      }
      expect(wrong).toEqual([]);
      await changedNothing();
    });
  });
}

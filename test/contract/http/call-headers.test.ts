import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { closeRawConnections } from '../../support/http/raw-http.js';
import { badInputScenario, type BadInputScenario } from '../../support/routes/bad-input-scenario.js';
import { inParallel } from '../../support/proofs/in-lanes.js';
import type { Route } from '../../support/routes/routes.js';
import { isOfPages } from '../../support/routes/strongest-caller.js';

// Every route of the running server's document × the headers that it is said to take.

let scenario: BadInputScenario;
let declared: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  scenario = await badInputScenario();
  const paths = (await scenario.root.get('/openapi.json')).expect(200).at('paths') as Record<string, Record<string, {
    parameters: { $ref?: string }[];
  }>>;
  declared = new Map(Object.entries(paths).flatMap(([template, item]) => Object.entries(item).map(([method, { parameters }]) =>
    [`${method.toUpperCase()} ${template}`, parameters.flatMap(({ $ref }) => $ref?.split('/').at(-1) ?? [])] as const)));
});

afterAll(async () => {
  closeRawConnections();
  await scenario?.server.stop();
});

const LANES = 8;
const nameOf = ({ method, template }: Route) => `${method} ${template}`;
const takes = (route: Route, header: string) => declared.get(nameOf(route))!.includes(header);

test('a key that cannot be one is refused where a key is declared, and read nowhere else', async () => {
  // A body that no route takes keeps every other call from acting; what has no body acts on what is not there.
  const changing = scenario.routes.filter((route) => route.method !== 'GET' && !route.takesForm);
  const wrong = await inParallel(LANES, changing, async (route) => {
    const ask = (key: string) => scenario.send(route, {
      ...(route.takesBody || isOfPages(route) ? { body: '[]' } : {}), headers: ['idempotency-key', key], path: absent(route),
    });
    const [bad, good] = [await ask('x'.repeat(256)), await ask('a-key')];
    const isKeyRefused = bad.status === 400 && bad.code === 'VALIDATION_FAILED' && bad.errors.length === 0;
    const isOtherwiseSame = good.status === bad.status && good.errors.length === bad.errors.length;
    return isKeyRefused === takes(route, 'IdempotencyKey') && isOtherwiseSame !== isKeyRefused ? [] : [nameOf(route), bad, good];
  });
  expect(wrong.flat()).toEqual([]);
  expect(changing.filter((route) => takes(route, 'IdempotencyKey')).length).toBeGreaterThan(20);
});

test('a preference and a trace are declared wherever a program calls', () => {
  const forPrograms = scenario.routes.filter(({ template }) => /^\/(?:api|internal|health|version)\b/.test(template))
    .filter(({ takesForm, template }) => !takesForm && !/\/auth\/(?:login|callback)$/.test(template));
  expect(forPrograms.filter((route) => !takes(route, 'Prefer') || !takes(route, 'Traceparent')).map(nameOf)).toEqual([]);
  expect(scenario.routes.filter((route) => takes(route, 'Prefer') && !forPrograms.includes(route)).map(nameOf)).toEqual([]);
});

/** Of everything else, what is not there. */
function absent(route: Route): string {
  return route.template.replaceAll(/\{\w+\}/g, 'absent');
}

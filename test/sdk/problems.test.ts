import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CLIENT_CODES, Countersign, CountersignError, isCountersignError } from '@countersign/sdk';
import { readFileSync } from 'node:fs';
import { PROBLEMS, type ProblemCode } from '../../src/domain/problems.js';
import { rejection } from '../support/sdk/callers.js';
import { startRefusing } from '../support/sdk/refusing-app.js';
import { ROOT_KEY } from '../support/servers/test-run.js';

let app: Awaited<ReturnType<typeof startRefusing>>;
beforeAll(async () => {
  app = await startRefusing();
});
afterAll(() => app.stop());

describe('each refusal of the service', () => {
  test.each(Object.entries(PROBLEMS))('%s reaches the caller as it is', async (code, { status }) => {
    // The service wants to be asked again after seven seconds.
    const sdk = new Countersign({ url: app.url, credential: ROOT_KEY, timeoutMs: 5_000 });
    const error = await rejection(sdk.agents.activate(code)) as CountersignError;
    expect(error).toBeInstanceOf(CountersignError);
    expect(isCountersignError(error, code as ProblemCode)).toBe(true);
    const { code: seen, detail, requestId, errors, retryAfterMs, problem, message } = error;
    expect({ seen, status: error.status, detail, errors, retryAfterMs, message }).toEqual({
      seen: code, status, detail: `Because of ${code}.`, errors: [{ pointer: '/name', message: 'is missing' }], retryAfterMs: 7_000,
      message: `${code}: Because of ${code}.`,
    });
    expect(requestId).toBe(problem!.requestId);
    expect(problem).toMatchObject({ type: expect.stringContaining('/docs/errors'), currentCapabilities: ['web.search'] });
  });
});

/** Said by the service too, of a call to a model: a person has to decide first, or has said no. */
const SHARED = ['HITL_PENDING', 'HITL_REJECTED'];

test('the codes of the client are none of the service but where they mean the same, and are documented', () => {
  const page = readFileSync('docs/sdk.md', 'utf8');
  expect(Object.keys(CLIENT_CODES).filter((code) => code in PROBLEMS)).toEqual(SHARED);
  for (const code of Object.keys(CLIENT_CODES)) {
    expect(page).toContain(`\`${code}\``);
  }
});

import { expect, it } from '@jest/globals';
import { checkConnector, connectorErrors } from '../connector.js';
import { definitionDigest } from '../definition-digest.js';

it('has its defaults filled in, and takes any input', () => {
  const connector = { type: 'node', timeoutSeconds: 30, idempotent: false } as const;
  expect(checkConnector({ type: 'node' })).toEqual({ ok: true, connector });
  expect(connectorErrors(connector, { deep: [{ '{input.x}': 1 }] })).toEqual([]);
});

it.each([
  ['/connector/timeoutSeconds', { timeoutSeconds: 0 }], ['/connector/timeoutSeconds', { timeoutSeconds: 121 }],
  ['/connector/timeoutSeconds', { timeoutSeconds: '5' }], ['/connector/idempotent', { idempotent: 1 }],
  ['/connector/url', { url: 'https://x.test' }],
])('is refused at %s for %j', (pointer, more) => {
  expect(checkConnector({ type: 'node', ...more })).toMatchObject({ ok: false, errors: [{ pointer }] });
});

it('is part of what is approved', () => {
  const digestOf = (idempotent: boolean) => definitionDigest({ connector: { type: 'node', timeoutSeconds: 30, idempotent } });
  expect(digestOf(true)).not.toBe(digestOf(false));
});

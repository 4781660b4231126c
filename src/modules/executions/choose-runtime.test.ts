import { describe, expect, it } from '@jest/globals';
import type { HttpConnector } from '../../domain/gate/connector.js';
import { chooseRuntime } from './choose-runtime.js';

const connector: HttpConnector = {
  type: 'http', method: 'POST', url: 'https://example.test', timeoutSeconds: 5, maxBytes: 1_000, idempotent: false,
};
const RECEIPT = { runtime: 'receipt', timeoutSeconds: 0 };

describe('the runtime of a call', () => {
  it('is the connector, within its own time', () => {
    expect(chooseRuntime('connector', { connector })).toEqual({ runtime: 'connector', timeoutSeconds: 5 });
  });

  it('is none without a connector, or without a definition', () => {
    expect(chooseRuntime('connector', {})).toEqual(RECEIPT);
    expect(chooseRuntime('webhook', undefined)).toEqual(RECEIPT);
  });

  it('is the node of the agent where the connector says so, whatever is primary', () => {
    const node = { type: 'node', timeoutSeconds: 7, idempotent: false } as const;
    expect(chooseRuntime('connector', { connector: node })).toEqual({ runtime: 'node', timeoutSeconds: 7 });
    expect(chooseRuntime('webhook', { connector: node })).toEqual({ runtime: 'node', timeoutSeconds: 7 });
  });

  it('is the webhook for everything where that is the primary one', () => {
    expect(chooseRuntime('webhook', {})).toEqual({ runtime: 'webhook', timeoutSeconds: 30 });
    expect(chooseRuntime('webhook', { connector })).toEqual({ runtime: 'webhook', timeoutSeconds: 5 });
  });
});

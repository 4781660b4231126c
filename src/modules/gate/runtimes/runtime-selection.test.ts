import { describe, expect, it } from '@jest/globals';
import { checkConnector, type HttpConnector } from '../../../domain/gate/connector.js';
import { Deadline } from './deadline.js';
import type { Runtime, RuntimeCall, RuntimeName, RuntimeOutcome } from './runtime.js';
import { RuntimeSelection } from './runtime-selection.js';

function connector(more: object = {}): HttpConnector {
  const check = checkConnector({ type: 'http', method: 'POST', url: 'https://x.test/', ...more });
  if (!check.ok) throw new Error(JSON.stringify(check.errors));
  return check.connector as HttpConnector;
}

function call(parts: Partial<RuntimeCall> = {}): RuntimeCall {
  return {
    executionId: 'exec_1', organizationId: 'org_1', agentId: 'agt_1', capability: 'finance.payment', inputText: '{}', input: {},
    idempotencyKey: 'exec_1', deadline: Deadline.in(3_000), ...parts,
  };
}
const { signal } = new AbortController();

describe('the choice of runtime', () => {
  const error = { code: 'X', message: 'x' };
  const outcomes: RuntimeOutcome[] = [{ kind: 'executed', output: 1 }, { kind: 'failed', error }, { kind: 'unreachable', error },
    { kind: 'unknown', error }];
  const fake = (name: RuntimeName, outcome: RuntimeOutcome, log: string[]): Runtime => ({
    name,
    run: async () => {
      log.push(name);
      return outcome;
    },
  });

  it.each(outcomes)('after $kind of the primary', async (outcome) => {
    const log: string[] = [];
    const fallback: RuntimeOutcome = { kind: 'executed', output: 'by the fallback' };
    const selection = new RuntimeSelection([fake('connector', outcome, log), fake('webhook', fallback, log)],
      { primary: 'connector', fallback: 'webhook' });
    const served = await selection.run(call({ connector: connector() }), signal);
    if (outcome.kind === 'unreachable') {
      expect(served).toEqual({ ...fallback, runtime: 'webhook' });
      expect(log).toEqual(['connector', 'webhook']);
    } else {
      expect(served).toEqual({ ...outcome, runtime: 'connector' });
      expect(log).toEqual(['connector']);
    }
  });

  it('has no fallback unless one is named, in time, and able to serve', async () => {
    const log: string[] = [];
    const away: RuntimeOutcome = { kind: 'unreachable', error };
    const both = [fake('connector', away, log), fake('webhook', away, log)];
    await new RuntimeSelection(both, { primary: 'connector' }).run(call({ connector: connector() }), signal);
    await new RuntimeSelection(both, { primary: 'connector', fallback: 'webhook' }).run(call({ connector: connector(),
      deadline: Deadline.in(-1) }), signal);
    await new RuntimeSelection(both, { primary: 'webhook', fallback: 'connector' }).run(call(), signal);
    expect(log).toEqual(['connector', 'connector', 'webhook']);
  });

  it('may call again after a crash what is declared idempotent, where no other runtime can have had it', () => {
    const both = [fake('connector', outcomes[0]!, []), fake('webhook', outcomes[0]!, [])];
    const idempotent = { connector: connector({ idempotent: true }) };
    const alone = new RuntimeSelection(both, { primary: 'connector' });
    expect(alone.bearsRepetition('connector', idempotent)).toBe(true);
    expect(alone.bearsRepetition('connector', { connector: connector() })).toBe(false);
    expect(alone.bearsRepetition('webhook', idempotent)).toBe(false);
    expect(new RuntimeSelection(both, { primary: 'connector', fallback: 'webhook' }).bearsRepetition('connector', idempotent)).toBe(false);
    expect(new RuntimeSelection(both, { primary: 'webhook' }).bearsRepetition('webhook', idempotent)).toBe(false);
  });

  it('refuses a runtime that this build does not have', () => {
    const one = [fake('connector', outcomes[0]!, [])];
    expect(() => new RuntimeSelection(one, { primary: 'node' })).toThrow(/RUNTIME_PRIMARY/);
    expect(() => new RuntimeSelection(one, { primary: 'connector', fallback: 'webhook' })).toThrow(/RUNTIME_FALLBACK/);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Caller } from '../../platform/auth/access/principal.js';
import type { AdmissionAnswer } from './admission/admission-item.js';
import type { ExecuteCall } from './admission/execute-call.js';
import { GateService } from './gate.service.js';

const STARTED = {
  kind: 'started', execution: { executionId: 'exec_1' }, effectiveMode: 'auto', flagged: false,
} as unknown as AdmissionAnswer;

/** A gate that has begun the call, and whose run ends so. */
function gateWhere(run: () => Promise<never>): GateService {
  const [admission, running] = [{ admit: async () => STARTED }, { run }];
  const rest = [{}, {}, {}, {}] as unknown as [never, never, never, never];
  return new GateService(admission as never, running as never, ...rest);
}

const execute = (gate: GateService) => gate.execute({} as ExecuteCall, 0, {} as Caller);

describe('a call that was begun', () => {
  it('invites no repetition where its end cannot be recorded', async () => {
    const { status, body } = await execute(gateWhere(() => Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }))));
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'failed', executionId: 'exec_1', indeterminate: true, error: { code: 'UNAVAILABLE' } });
  });

  it('hides no mistake of ours', async () => {
    await expect(execute(gateWhere(() => Promise.reject(new TypeError('a mistake'))))).rejects.toThrow('a mistake');
  });
});

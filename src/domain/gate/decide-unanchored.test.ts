import { describe, expect, it } from '@jest/globals';
import { decide, type GateDecision } from './decide.js';
import { type Case, everyCase, questionOf } from '../../../test/support/gate/gate-cases.js';

describe('a log without its anchors', () => {
  const base: Case = {
    word: 'auto', hardcoded: true, risk: 'minimal', grant: 'active', condition: 'none', limit: 'none', skipHitl: false, token: 'has',
    status: 'active', stopped: false,
  };
  const asked = (change: Partial<Case>): GateDecision => decide({ ...questionOf({ ...base, ...change }), unanchored: true });

  it('stops what is hardcoded, in passing: nothing is recorded of the attempt', () => {
    expect(asked({})).toMatchObject({ kind: 'refuse', code: 'UNAVAILABLE', recorded: false });
    expect(asked({ word: 'block', skipHitl: true })).toMatchObject({ kind: 'refuse', code: 'UNAVAILABLE' });
  });

  it.each<[string, Partial<Case>, string]>([
    ['a stop', { stopped: true }, 'STOPPED'],
    ['an agent out of service', { status: 'deactivated' }, 'AGENT_INACTIVE'],
    ['a grant that is missing', { grant: 'none' }, 'CAPABILITY_NOT_GRANTED'],
  ])('does not hide %s', (_, change, code) => {
    expect(asked(change)).toMatchObject({ kind: 'refuse', code });
  });

  it('stops nothing else', () => {
    const other = [...everyCase()].filter((one) => !one.hardcoded
      && JSON.stringify(decide({ ...questionOf(one), unanchored: true })) !== JSON.stringify(decide(questionOf(one))));
    expect(other.slice(0, 5)).toEqual([]);
  });
});

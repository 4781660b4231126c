import { describe, expect, it } from '@jest/globals';
import { groupKey, type Quorum, type QuorumGroup, stricterQuorum } from './quorum.js';

const A: QuorumGroup = { teamId: 'team_a' };
const B: QuorumGroup = { teamId: 'team_b' };
const ADMIN: QuorumGroup = { role: 'admin' };
const q = (approvals: number, ...groups: QuorumGroup[]): Quorum => ({ approvals, ...(groups.length === 0 ? {} : { groups }) });

describe('what holds of the quorum of then and the one of now', () => {
  it.each<[string, Quorum | null, Quorum | null, Quorum | null]>([
    ['none and none', null, null, null],
    ['one that was set since', null, q(2), q(2)],
    ['one that was lifted since', q(3, A), null, q(3, A)],
    ['the same twice', q(2, A, ADMIN), q(2, A, ADMIN), q(2, A, ADMIN)],
    ['more approvals then', q(4), q(2), q(4)],
    ['more approvals now', q(2), q(4), q(4)],
    ['groups of then only', q(2, A), q(3), q(3, A)],
    ['groups of now only', q(3), q(2, B), q(3, B)],
    ['groups of both', q(2, A, B), q(2, B, ADMIN), q(2, A, B, ADMIN)],
  ])('%s', (_name, then, now, holds) => expect(stricterQuorum(then, now)).toEqual(holds));

  it('a team and a role of the same name are two groups', () => {
    expect(groupKey({ teamId: 'admin' })).not.toBe(groupKey({ role: 'admin' }));
    expect(stricterQuorum(q(2, { teamId: 'admin' }), q(2, ADMIN))).toEqual(q(2, { teamId: 'admin' }, ADMIN));
  });

  it('is never looser than either, whichever comes first, and twice is once', () => {
    const groups = [[], [A], [A, B], [ADMIN], [B, ADMIN]];
    const all = [null, ...[2, 3, 10].flatMap((approvals) => groups.map((some) => q(approvals, ...some)))];
    const keys = (quorum: Quorum | null) => new Set((quorum?.groups ?? []).map(groupKey));
    for (const one of all) {
      for (const other of all) {
        const holds = stricterQuorum(one, other);
        expect(holds?.approvals ?? 0).toBe(Math.max(one?.approvals ?? 0, other?.approvals ?? 0));
        expect(keys(holds)).toEqual(new Set([...keys(one), ...keys(other)]));
        expect(holds?.groups?.length ?? 0).toBe(keys(holds).size);
        const turned = stricterQuorum(other, one);
        expect([turned?.approvals, keys(turned)]).toEqual([holds?.approvals, keys(holds)]);
        expect(stricterQuorum(holds, holds)).toEqual(holds);
      }
    }
  });
});

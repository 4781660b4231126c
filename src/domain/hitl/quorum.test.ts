import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Approver, isSamePerson, type Quorum, stricterQuorum, tally } from './quorum.js';

const NOBODY = new Map<string, readonly string[]>();
const someone = (id: string, role: Approver['role'] = 'member', ...teamIds: string[]): Approver => ({ id, role, teamIds });
const root: Approver = { id: 'root', role: 'root', teamIds: [] };

describe('tally', () => {
  const team = { teamId: 'team_a' };
  const [a, b, c] = [someone('a'), someone('b', 'admin'), someone('c', 'owner', 'team_a')];

  it.each<[string, Quorum, Approver[], number, boolean]>([
    ['nobody', { approvals: 2 }, [], 0, false],
    ['one of two', { approvals: 2 }, [a], 1, false],
    ['two of two', { approvals: 2 }, [a, b], 2, true],
    ['one twice', { approvals: 2 }, [a, a], 1, false],
    ['root is one', { approvals: 2 }, [root, root], 1, false],
    ['root and another', { approvals: 2 }, [root, a], 2, true],
    ['three are as good as two', { approvals: 2 }, [a, b, c], 2, true],
    ['a team', { approvals: 2, groups: [team] }, [a, c], 2, true],
    ['nobody of the team', { approvals: 2, groups: [team] }, [a, b], 2, false],
    ['root is of no team', { approvals: 2, groups: [team] }, [root, b], 2, false],
    ['a role', { approvals: 2, groups: [{ role: 'admin' }] }, [a, b], 2, true],
    ['a higher role', { approvals: 2, groups: [{ role: 'admin' }] }, [a, c], 2, true],
    ['a lower role', { approvals: 2, groups: [{ role: 'admin' }] }, [a, someone('d')], 2, false],
    ['root has every role', { approvals: 2, groups: [{ role: 'owner' }, { role: 'member' }] }, [a, root], 2, true],
    ['one person of two groups', { approvals: 2, groups: [team, { role: 'owner' }] }, [a, c], 2, true],
    ['enough of the groups, too few people', { approvals: 3, groups: [team, { role: 'admin' }] }, [b, c], 2, false],
  ])('%s', (_name, quorum, approvers, approvals, met) => {
    expect(tally(quorum, approvers, NOBODY)).toMatchObject({ approvals, met, needed: quorum.approvals });
  });

  it('says which groups are missing', () => {
    const quorum: Quorum = { approvals: 2, groups: [team, { role: 'admin' }, { role: 'owner' }] };
    expect(tally(quorum, [a, b], NOBODY).missing).toEqual([team, { role: 'owner' }]);
  });

  it('accounts of one person, and those they vouched for, are one', () => {
    const selves = new Map([['a', ['a']], ['b', ['b', 'a']], ['c', ['c', 'a']], ['d', ['d', 'x']], ['e', ['e', 'x', 'a']]]);
    const met = (...ids: string[]) => tally({ approvals: 2 }, ids.map((id) => someone(id)), selves).met;
    expect([met('a', 'b'), met('b', 'c'), met('c', 'd'), met('d', 'e'), met('b', 'c', 'e'), met('b', 'd', 'e')])
      .toEqual([false, false, true, false, false, true]);
    expect([isSamePerson('b', 'c', selves), isSamePerson('c', 'd', selves), isSamePerson('z', 'z', selves)]).toEqual([true, false, true]);
  });

  const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const approver = fc.record({
    id: fc.constantFrom(...ids), role: fc.constantFrom('member', 'admin', 'owner' as const) as fc.Arbitrary<Approver['role']>,
    teamIds: fc.subarray(['t1', 't2']),
  });
  const people = fc.tuple(fc.uniqueArray(approver, { selector: ({ id }) => id, maxLength: 7 }), fc.boolean())
    .map(([some, withRoot]) => (withRoot ? [...some, root] : some));
  const selves = fc.array(fc.subarray([...ids, 'x', 'y', 'z'], { maxLength: 3 }), { minLength: ids.length, maxLength: ids.length })
    .map((lists) => new Map(ids.map((id, i) => [id, lists[i]!])));
  const quorum: fc.Arbitrary<Quorum> = fc.record({
    approvals: fc.integer({ min: 2, max: 5 }),
    groups: fc.subarray([{ teamId: 't1' }, { teamId: 't2' }, { role: 'admin' as const }, { role: 'owner' as const }]),
  });

  it('another approval never makes less of them, their order does not matter, and nobody counts twice', () => {
    fc.assert(fc.property(quorum, people, selves, fc.nat(), (asked, some, together, shift) => {
      const whole = tally(asked, some, together);
      const shifted = [...some.slice(shift % (some.length + 1)), ...some.slice(0, shift % (some.length + 1))];
      expect(tally(asked, shifted, together)).toEqual(whole);
      expect(tally(asked, [...some, ...some], together)).toEqual(whole);
      for (const one of some) {
        const fewer = tally(asked, some.filter((other) => other !== one), together);
        expect(fewer.approvals).toBeLessThanOrEqual(whole.approvals);
        expect(fewer.met && !whole.met).toBe(false);
      }
      // By trying every set of them: the largest in which no two are one person.
      let most = 0;
      for (let set = 0; set < 2 ** some.length; set++) {
        const chosen = some.filter((_, i) => set & (1 << i)).map(({ id }) => id);
        const distinct = chosen.every((id, i) => chosen.slice(i + 1).every((other) => !isSamePerson(id, other, together)));
        if (distinct) most = Math.max(most, chosen.length);
      }
      expect(whole.approvals).toBe(Math.min(most, asked.approvals));
    }), { numRuns: 500 });
  });
});

describe('the stricter of two', () => {
  it('more approvals, and the groups of both', () => {
    const [one, other]: Quorum[] = [{ approvals: 3, groups: [{ role: 'admin' }] },
      { approvals: 2, groups: [{ role: 'admin' }, { teamId: 't' }] }];
    expect(stricterQuorum(one!, other!)).toEqual({ approvals: 3, groups: [{ role: 'admin' }, { teamId: 't' }] });
    expect([stricterQuorum(one!, null), stricterQuorum(null, other!), stricterQuorum(null, null)]).toEqual([one, other, null]);
  });
});

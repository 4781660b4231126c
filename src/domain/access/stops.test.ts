import { describe, expect, test } from '@jest/globals';
import { mayLift, STOP_ROLES, type StopRole } from './stops.js';

describe('who lifts a stop', () => {
  test.each(STOP_ROLES)('whoever made it as %s', (role) => {
    expect(mayLift({ madeBy: 'usr_1', madeByRole: role }, { actorId: 'usr_1', role })).toBe(true);
  });

  test.each<[StopRole, StopRole, boolean]>([
    ['admin', 'admin', false], ['admin', 'owner', true], ['admin', 'root', true],
    ['owner', 'admin', false], ['owner', 'owner', false], ['owner', 'root', true],
    ['root', 'admin', false], ['root', 'owner', false],
  ])('made by an %s, lifted by another %s: %s', (madeByRole, role, may) => {
    expect(mayLift({ madeBy: 'usr_1', madeByRole }, { actorId: 'usr_2', role })).toBe(may);
  });

  test('its maker, whose role has become lower since', () => {
    expect(mayLift({ madeBy: 'usr_1', madeByRole: 'owner' }, { actorId: 'usr_1', role: 'admin' })).toBe(true);
  });
});

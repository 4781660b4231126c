import { describe, expect, test } from '@jest/globals';
import { effectiveTier, type Feature, LIMITS, requiredFor, type Subscription, type Tier, TIERS } from './tiers.js';

test('each tier includes what the one below it does', () => {
  expect(LIMITS).toEqual({
    personal: { users: 1, teams: false, sharedGrants: false, organizations: 1, bulkExport: false },
    teams: { users: null, teams: true, sharedGrants: true, organizations: 1, bulkExport: false },
    enterprise: { users: null, teams: true, sharedGrants: true, organizations: null, bulkExport: true },
  });
});

describe('what a feature asks for', () => {
  test.each<[Feature, number, (Tier | undefined)[]]>([
    ['another_user', 0, [undefined, undefined, undefined]],
    ['another_user', 1, ['teams', undefined, undefined]],
    // More than there may be, after a downgrade: they stay, and no more come.
    ['another_user', 40, ['teams', undefined, undefined]],
    ['teams', 0, ['teams', undefined, undefined]],
    ['teams', 9, ['teams', undefined, undefined]],
    ['shared_grants', 0, ['teams', undefined, undefined]],
    ['another_organization', 0, [undefined, undefined, undefined]],
    ['another_organization', 1, ['enterprise', 'enterprise', undefined]],
    ['another_organization', 7, ['enterprise', 'enterprise', undefined]],
    ['bulk_export', 0, ['enterprise', 'enterprise', undefined]],
  ])('%s where there are %i already', (feature, used, wanted) => {
    expect(TIERS.map((tier) => requiredFor(feature, tier, used))).toEqual(wanted);
  });
});

test.each<[Subscription, Tier]>([
  [{ tier: 'enterprise', active: true }, 'enterprise'],
  [{ tier: 'teams', active: true, claimed: true }, 'teams'],
  [{ tier: 'enterprise', active: true, claimed: false }, 'personal'],
  [{ tier: 'enterprise', active: false }, 'personal'],
  [{ tier: 'enterprise', active: false, claimed: true }, 'personal'],
  [{ tier: 'personal', active: true, claimed: true }, 'personal'],
])('%j counts as %s', (subscription, wanted) => {
  expect(effectiveTier(subscription)).toBe(wanted);
});

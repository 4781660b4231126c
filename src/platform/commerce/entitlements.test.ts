import { expect, test } from '@jest/globals';
import { requiredFor } from '../../domain/access/tiers.js';
import { Entitlements } from './entitlements.js';

const run = () => Promise.resolve([]);

test('where nobody sells the installation everything is allowed', async () => {
  await expect(new Entitlements().assert(run, 'org_1', 'bulk_export')).resolves.toBeUndefined();
});

test('what a subscription does not include is refused, with what would', async () => {
  const entitlements = new Entitlements();
  const used = (organizationId: string) => (organizationId === 'org_1' ? 1 : 0);
  entitlements.use({
    missing: (_, organizationId, feature) => Promise.resolve(requiredFor(feature, 'personal', used(organizationId))),
  });
  await expect(entitlements.assert(run, 'org_1', 'another_user')).rejects.toMatchObject({
    code: 'TIER_REQUIRED', status: 403, extras: { members: { requiredTier: 'teams' } },
  });
  await expect(entitlements.assert(run, 'org_2', 'another_user')).resolves.toBeUndefined();
  await expect(entitlements.assert(run, 'org_2', 'bulk_export')).rejects.toMatchObject({
    extras: { members: { requiredTier: 'enterprise' } },
  });
});

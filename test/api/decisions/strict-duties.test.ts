import { describe, expect, test } from '@jest/globals';
import { anOrganization, aPerson, aTeam } from '../../support/builders/people.js';
import {
  startDecisions, server, organizationId, other, person, separation, handOver, asked, approve, reject, barred, approved,
} from '../../support/hitl/decision-setting.js';

startDecisions();

describe('strict', () => {
  test.each(['ownerId', 'registeredBy', 'vouchedBy'] as const)('bars by %s, and lets them reject', async (tie) => {
    await separation('strict');
    const admin = await person('admin');
    const request = await asked({ [tie]: tie === 'ownerId' ? admin.id : admin });
    await barred(admin, request);
    (await reject(admin, request)).expect(200);
    await approved(other, await asked({ [tie]: tie === 'ownerId' ? admin.id : admin }));
  });

  test('the owner of then and the owner of now', async () => {
    await separation('strict');
    const [before, after] = [await person('admin'), await person('admin')];
    const request = await asked({ ownerId: before.id });
    await handOver(request.agent, { ownerId: after.id });
    await barred(before, request);
    await barred(after, request);
    await approved(other, request);
  });

  const settings = [['strict', 'standard'], ['standard', 'strict']] as const;

  test.each(settings)('%s when it was asked, %s now: the stricter holds', async (then, now) => {
    const admin = await person('admin');
    await separation(then);
    const request = await asked({ vouchedBy: admin });
    await separation(now);
    await barred(admin, request);
    await approved(other, request);
  });

  test.each([
    ['account', 'update users set created_at = clock_timestamp() where id = $1'],
    ['role', 'update users set role_since = clock_timestamp() where id = $1'],
    ['personal key', 'update personal_keys set created_at = clock_timestamp() where user_id = $1'],
  ])('%s has to be older than the request', async (right, make) => {
    await separation('strict');
    const admin = await person('admin');
    const request = await asked();
    await server.sql(make, [admin.id]);
    const detail = (await approve(admin, request)).expect(403, 'NOT_ELIGIBLE').text('detail');
    expect(detail).toContain(right);
    (await reject(admin, request)).expect(200);
    await approved(admin, await asked());
  });

  test('so has a place in the team, where the right to decide rests on it, and the team itself', async () => {
    await separation('strict');
    const [member, lead] = [await person('member'), await person('member')];
    const request = await asked();
    const teamId = await aTeam(server, organizationId, [{ userId: member.id }, { userId: lead.id, role: 'lead' }]);
    await handOver(request.agent, { teamId });
    await barred(member, request, 'NOT_ELIGIBLE');
    await separation('standard');
    await barred(member, request, 'NOT_ELIGIBLE');

    const theirs = await asked({ teamId });
    await server.sql('update team_members set since = clock_timestamp() where user_id = $1', [member.id]);
    await server.sql('update team_members set role_since = clock_timestamp() where user_id = $1', [lead.id]);
    await approved(member, theirs);
    await separation('strict');
    const [first, second] = [await asked({ teamId }), await asked({ teamId })];
    await server.sql('update team_members set since = clock_timestamp() where user_id = $1', [member.id]);
    await server.sql('update team_members set role_since = clock_timestamp() where user_id = $1', [lead.id]);
    await barred(member, first, 'NOT_ELIGIBLE');
    await server.sql('update hitl_requests set escalation_level = 1 where id = $1', [second.id]);
    await barred(lead, second, 'NOT_ELIGIBLE');
    await approved(lead, first);
  });

  test('whoever vouched for an account counts as one person with it, in every direction', async () => {
    const inviter = await person('admin');
    const invited = await person('admin', { vouchedBy: inviter.id });
    const sibling = await person('admin', { vouchedBy: inviter.id });
    const grandchild = await person('admin', { vouchedBy: invited.id });
    // Root vouched for both of these: that makes them nobody's second self.
    const [one, two] = [await person('admin', { vouchedBy: 'root' }), await person('admin', { vouchedBy: 'root' })];
    const pairs = [[inviter, grandchild], [grandchild, inviter], [sibling, invited], [grandchild, sibling]] as const;
    for (const [initiator, decider] of pairs) {
      const request = await asked({ context: { on_behalf_of: initiator.email } });
      await separation('strict');
      await barred(decider, request);
      await separation('standard');
      await approved(decider, await asked({ context: { on_behalf_of: initiator.email } }));
    }
    await separation('strict');
    const behindAgent = await asked({ vouchedBy: sibling });
    await barred(grandchild, behindAgent);
    await approved(one, behindAgent);
    await approved(two, await asked({ context: { on_behalf_of: one.id } }));
    await server.sql('update users set vouched_by = $2 where id = $1', [inviter.id, grandchild.id]);
    await barred(invited, await asked({ context: { on_behalf_of: sibling.id } }));
  });

  test("an owner from the tenant's other organization is a person here", async () => {
    const tenantId = `ten_${organizationId.slice(4)}`;
    const elsewhere = await anOrganization(server, { tenantId });
    await server.sql('update organizations set tenant_id = $2 where id = $1', [organizationId, tenantId]);
    const owner = await aPerson(server, 'owner', { organizationId: elsewhere });
    await separation('strict');
    const request = await asked({ context: { on_behalf_of: owner.email } });
    await barred(owner, request);
    // Not alone: the owner of the other organization could have decided.
    await barred(other, await asked({ vouchedBy: other }));
    const second = await person('admin', { vouchedBy: owner.id });
    await barred(second, request);
    await approved(other, request);
    await approved(owner, await asked());
  });
});

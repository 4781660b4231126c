import { describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { anAgent } from '../../support/builders/agents.js';
import { requestOf } from '../../support/builders/gate.js';
import { anOrganization, aPerson, aTeam, closeAccount, type BuiltPerson } from '../../support/builders/people.js';
import { EXECUTE } from '../../support/http/paths.js';
import {
  startDecisions, CAPABILITY, server, root, organizationId, other, person, separation, handOver, asked, approve, reject, barred,
  approved,
} from '../../support/hitl/decision-setting.js';

startDecisions();

describe('who is eligible', () => {
  test('by level: the owner of the agent and its team, its leads, admins; bars reject and escalation alike', async () => {
    const [owner, member, lead, agentOwner, nobody, viewer] = await Promise.all(
      (['owner', 'member', 'member', 'member', 'member', 'viewer'] as const).map((role) => person(role)));
    const elsewhere = await person('member');
    await aTeam(server, organizationId, [{ userId: elsewhere!.id, role: 'lead' }]);
    const teamId = await aTeam(server, organizationId,
      [{ userId: member!.id }, { userId: lead!.id, role: 'lead' }, { userId: viewer!.id, role: 'lead' }]);
    const agent = await anAgent(server).inOrganization(organizationId).granted(CAPABILITY, { hitlMode: 'propose' }).create();
    await handOver(agent, { ownerId: agentOwner!.id, teamId });
    const highest = new Map<BuiltPerson, number>([
      [owner!, 2], [other, 2], [lead!, 1], [member!, 0], [agentOwner!, 0], [nobody!, -1], [elsewhere, -1], [viewer!, -1],
    ]);
    for (const level of [0, 1, 2]) {
      for (const decision of ['approve', 'reject']) {
        for (const [decider, upTo] of highest) {
          const id = (await agent.client.post(EXECUTE, { capability: CAPABILITY })).expect(202).text('hitlRequestId');
          await server.sql('update hitl_requests set escalation_level = $2 where id = $1', [id, level]);
          const reply = await decider.client.post(`/api/v1/hitl/${id}/${decision}`);
          if (level <= upTo) reply.expect(200);
          else reply.expect(403, decider === viewer ? 'FORBIDDEN' : 'NOT_ELIGIBLE');
          const [row] = await server.sql<{ decided_by: string | null }>('select decided_by from hitl_requests where id = $1', [id]);
          expect(row).toEqual({ decided_by: level <= upTo ? decider.id : null });
        }
      }
    }
  });

  test('another organization sees no request; state and digest answer before eligibility does', async () => {
    const request = await asked();
    const nobody = await person('member');
    const stranger = await aPerson(server, 'owner', { organizationId: await anOrganization(server) });
    (await approve(stranger, request)).expect(404, 'NOT_FOUND');
    await barred(nobody, request, 'NOT_ELIGIBLE');
    (await approve(nobody, request, { expectedDigest: '0'.repeat(64) })).expect(409, 'HITL_DIGEST_MISMATCH');
    await approved(other, request);
    (await approve(nobody, request)).expect(409, 'HITL_ALREADY_DECIDED');
  });

  test('a place in the team that is lost while the click waits does not count', async () => {
    const member = await person('member');
    const teamId = await aTeam(server, organizationId, [{ userId: member.id }]);
    const request = await asked({ teamId });
    const holder = new pg.Client({ connectionString: server.database.url });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select 1 from audit_heads where chain = $1 for update', [request.agent.id]);
      const click = approve(member, request);
      await new Promise((resolve) => setTimeout(resolve, 500));
      await server.sql('delete from team_members where user_id = $1', [member.id]);
      await holder.query('rollback');
      (await click).expect(403, 'NOT_ELIGIBLE');
    } finally {
      await holder.end();
    }
    expect(await requestOf(server, request.id)).toMatchObject({ status: 'pending' });
  });

  test('cancelling is for admins and the agent, initiators included', async () => {
    const member = await person('member');
    const request = await asked({ ownerId: member.id, context: { on_behalf_of: other.id } });
    (await member.client.post(`/api/v1/hitl/${request.id}/cancel`)).expect(403, 'FORBIDDEN');
    (await other.client.post(`/api/v1/hitl/${request.id}/cancel`)).expect(200);
  });
});

describe('standard: an initiator does not approve', () => {
  test.each([
    ['on_behalf_of', 'id'], ['onBehalfOf', 'id'], ['on_behalf_of', 'address'], ['onBehalfOf', 'address'],
  ])('%s by %s: opens at level 2, still pending; they may reject', async (name, by) => {
    const admin = await person('admin');
    const claim = by === 'id' ? admin.id : admin.email.toUpperCase();
    const request = await asked({ context: { [name]: claim } });
    expect(await requestOf(server, request.id)).toMatchObject({ status: 'pending', escalation_level: 2, on_behalf_of: claim });
    await barred(admin, request);
    expect((await reject(admin, request)).expect(200).at('request')).toMatchObject({ status: 'rejected', onBehalfOf: claim });
    const again = await asked({ context: { [name]: claim } });
    await approved(other, again);
  });

  test.each(['Ada <ada@example.test>', 'mailto:ada@example.test', 'ada@example.test, bob@example.test', 'ada', ' '])(
    'a claim that could name nobody is refused: %s', async (claim) => {
      const body = { capability: 'email.send', context: { onBehalfOf: claim } };
      const agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
      for (const path of ['/api/v1/execute', '/api/v1/hitl']) {
        const refused = (await agent.client.post(path, body)).expect(400, 'VALIDATION_FAILED');
        expect(refused.at('errors')).toMatchObject([{ pointer: '/context/onBehalfOf' }]);
      }
    },
  );

  test('an account that took over the address of who is named by id counts as that person', async () => {
    const former = await person('admin');
    const request = await asked({ context: { on_behalf_of: former.id } });
    (await root.patch(`/api/v1/users/${former.id}`, { email: `moved-${former.email}` })).expect(200);
    const anew = await person('admin', { email: former.email, age: 0 });
    await barred(anew, request);
    await approved(other, request);
  });

  test.each(['standard', 'strict'] as const)('%s: a further account of the same address is the same person', async (setting) => {
    const former = await person('admin');
    const request = await asked({ context: { on_behalf_of: former.id } });
    await closeAccount(server, former);
    const anew = await person('admin', { email: former.email.toUpperCase() });
    await separation(setting);
    await barred(anew, request);
    await separation('standard');
    await approved(other, request);
  });

  test('any address is claimed: whoever is edited otherwise meanwhile is not barred, whoever changes their own is', async () => {
    const [named, moved] = [await person('admin'), await person('admin')];
    const request = await asked({ context: { on_behalf_of: 'somebody@elsewhere.example' } });
    const edit = { name: 'Edited', avatarUrl: 'https://example.org/face.png', email: named.email.toUpperCase() };
    (await root.patch(`/api/v1/users/${named.id}`, edit)).expect(200);
    (await root.patch(`/api/v1/users/${moved.id}`, { email: `moved-${moved.email}` })).expect(200);
    await barred(moved, request);
    await approved(named, request);
    await approved(moved, await asked({ context: { on_behalf_of: 'somebody@elsewhere.example' } }));
  });

  test('an address that was changed meanwhile frees nobody, nor does that of an account they vouched for', async () => {
    const admin = await person('admin');
    const invited = await person('admin', { vouchedBy: admin.id });
    const move = (of: BuiltPerson) => server.sql(
      `update users set email = 'new-' || email, email_folded = 'new-' || email_folded, email_since = clock_timestamp()
       where id = $1`,
      [of.id]);
    const own = await asked({ context: { on_behalf_of: admin.email } });
    await separation('strict');
    const theirs = await asked({ context: { on_behalf_of: invited.email } });
    await separation('standard');
    await move(invited);
    await barred(admin, theirs);
    await move(admin);
    await barred(admin, own);
    await approved(other, own);
    await approved(other, theirs);
    await approved(admin, await asked({ context: { on_behalf_of: other.id } }));
  });

  test('nobody else is barred: owner, registrant and voucher approve', async () => {
    for (const tie of ['ownerId', 'registeredBy', 'vouchedBy'] as const) {
      const admin = await person('admin');
      await approved(admin, await asked({ [tie]: tie === 'ownerId' ? admin.id : admin }));
    }
  });

  test('root is exempt, and so is somebody who has been alone since it was asked', async () => {
    const request = await asked({ context: { on_behalf_of: other.id } });
    (await approve(root, request)).expect(200);

    // The organization has had one person since then, however many it had before.
    const former = await person('admin');
    await server.sql(`update users set status = 'deleted', ended_at = clock_timestamp() where id = $1`, [former.id]);
    await separation('strict');
    const alone = await asked({ context: { on_behalf_of: other.id }, vouchedBy: other });
    await approved(other, alone);

    const leaving = await person('viewer');
    const withCompany = await asked({ context: { on_behalf_of: other.id } });
    await server.sql(`update users set status = 'deleted', ended_at = clock_timestamp() where id = $1`, [leaving.id]);
    await barred(other, withCompany);
  });
});

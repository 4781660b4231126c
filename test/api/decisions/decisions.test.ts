import { describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { asRoot } from '../../support/http/actors.js';
import { auditOf, eventsOf } from '../../support/log/entries.js';
import { executionOf, requestOf } from '../../support/builders/gate.js';
import { eventually } from '../../support/running/eventually.js';
import { startTwoServers, server, replica, root, receiver, asked, decide } from '../../support/hitl/asked-requests.js';

startTwoServers();

describe('deciding', () => {
  test('approve records who, when and why, and it runs', async () => {
    const { agent, id, execution } = await asked();
    const spoofed = { note: 'fine', approvedBy: 'usr_spoofed', decidedBy: 'usr_spoofed' };
    (await decide(root, id, 'approve', spoofed)).expect(400, 'VALIDATION_FAILED');
    const reply = (await decide(root, id, 'approve', { note: 'fine' })).expect(200);
    expect(reply.at('request')).toMatchObject({
      id, status: 'approved', approvedBy: 'root', approvedAt: expect.stringMatching(/Z$/), comment: 'fine',
      decision: { outcome: 'approved', note: 'fine', by: 'human' }, execution: { id: execution, status: 'executed' },
    });
    expect(await requestOf(server, id)).toMatchObject({ status: 'approved', decided_by: 'root',
      decision: { outcome: 'approved', note: 'fine' } });
    expect((await eventsOf(server, agent.id)).slice(-4)).toEqual(
      ['hitl.created', 'hitl.approved', 'execution.started', 'execution.completed']);
    const [created, approved, started, completed] = (await auditOf(server, agent.id)).slice(-4);
    expect(approved).toMatchObject({ actorId: 'root', metadata: { hitlId: id, comment: 'fine' } });
    expect(started!.metadata).toMatchObject({
      executionId: execution, hitlId: id, decisionId: approved!.id, input: { to: 'a@example.org' },
      definition: expect.any(String), grantId: created!.metadata['grantId'], grantVersion: 1,
    });
    expect(completed!.metadata).toMatchObject({ executionId: execution, hitlId: id, durationMs: 0 });
  });

  test('an escalated one is approved the same way', async () => {
    const { id } = await asked({}, { capability: 'phone.call' });
    expect((await decide(root, id, 'approve')).expect(200).at('request'))
      .toMatchObject({ status: 'approved', execution: { status: 'executed' } });
  });

  test.each(['note', 'comment', 'reason'])('reject takes a %s, and cancels the execution', async (name) => {
    const { agent, id, execution } = await asked();
    const reply = (await decide(root, id, 'reject', { [name]: 'not today' })).expect(200);
    expect(reply.at('request')).toMatchObject({
      status: 'rejected', rejectedBy: 'root', rejectedAt: expect.stringMatching(/Z$/), comment: 'not today',
      decision: { outcome: 'rejected', note: 'not today', by: 'human' },
    });
    expect(await executionOf(server, execution)).toMatchObject({ status: 'cancelled', reason: 'rejected' });
    expect((await auditOf(server, agent.id)).at(-1)).toMatchObject({
      event: 'hitl.rejected', actorId: 'root', outcome: 'success', metadata: { hitlId: id, comment: 'not today' },
    });
  });

  test('two spellings with different values: 400, and nothing is decided', async () => {
    const { id } = await asked();
    (await decide(root, id, 'reject', { note: 'a', comment: 'b' })).expect(400, 'VALIDATION_FAILED');
    expect(await requestOf(server, id)).toMatchObject({ status: 'pending' });
  });

  test('the agent cancels its own, pending or escalated', async () => {
    for (const capability of ['email.send', 'phone.call']) {
      const { agent, id, execution } = await asked({}, { capability });
      const reply = (await decide(agent.client, id, 'cancel', { note: 'no longer needed' })).expect(200);
      expect(reply.at('request')).toMatchObject({ status: 'cancelled', decision: { outcome: 'cancelled', by: 'human' } });
      expect(await requestOf(server, id)).toMatchObject({ decided_by: agent.id });
      expect(await executionOf(server, execution)).toMatchObject({ status: 'cancelled', reason: 'cancelled' });
      expect((await auditOf(server, agent.id)).at(-1))
        .toMatchObject({ event: 'hitl.cancelled', actorId: agent.id, metadata: { hitlId: id } });
    }
  });

  test('an agent decides nothing, its own request least of all', async () => {
    const [{ agent, id }, other] = [await asked(), await asked()];
    for (const decision of ['approve', 'reject', 'timeout']) {
      (await decide(agent.client, id, decision)).expect(403, 'FORBIDDEN');
    }
    (await decide(agent.client, other.id, 'cancel')).expect(404, 'NOT_FOUND');
    (await agent.client.get('/api/v1/hitl/check-timeouts')).expect(403, 'FORBIDDEN');
    expect(await requestOf(server, id)).toMatchObject({ status: 'pending' });
  });

  test.each(['approve', 'reject', 'cancel', 'timeout'])('after %s every other command is 409 with the state', async (first) => {
    const { id } = await asked();
    (await decide(root, id, first)).expect(200);
    const stands = await requestOf(server, id);
    for (const later of ['approve', 'reject', 'cancel', 'timeout']) {
      const reply = (await decide(root, id, later)).expect(409, 'HITL_ALREADY_DECIDED');
      expect(reply.at('request')).toEqual({ id, status: stands.status, decidedBy: stands.decided_by,
        decidedAt: stands.decided_at });
    }
    expect(await requestOf(server, id)).toEqual(stands);
  });

  test('of parallel commands on two replicas exactly one ends the request, and the log agrees', async () => {
    for (let round = 0; round < 12; round++) {
      const { agent, id } = await asked();
      const commands = ['approve', 'reject', 'cancel', 'timeout', 'approve', 'reject'];
      const replies = await Promise.all(commands.map((command, i) =>
        decide(asRoot(i % 2 === 0 ? server : replica), id, command)));
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const reply of replies) if (reply.status !== 200) reply.expect(409, 'HITL_ALREADY_DECIDED');
      const won = replies.find(({ status }) => status === 200)!.text('request.status');
      expect(await requestOf(server, id)).toMatchObject({ status: won });
      const ended = (await eventsOf(server, agent.id))
        .filter((event) => /^hitl\.(approved|rejected|cancelled|timed_out)$/.test(event));
      expect(ended).toEqual([`hitl.${won}`]);
    }
  });

  test('the approval of what a connector runs answers with what came of it', async () => {
    receiver.script({ delayMs: 300, body: { id: 7 } });
    const { id } = await asked({}, { capability: 'crm.push' });
    expect((await decide(root, id, 'approve')).expect(200).at('request.execution'))
      .toMatchObject({ status: 'executed', output: { id: 7 } });
  });

  test('with ?wait=0 it answers at once, and the request then shows the rest', async () => {
    receiver.script({ delayMs: 500, body: { id: 8 } });
    const { id } = await asked({}, { capability: 'crm.push' });
    const reply = (await root.post(`/api/v1/hitl/${id}/approve`, {}, { query: { wait: 0 } })).expect(200);
    expect(reply.text('request.execution.status')).toMatch(/^(pending_hitl|running)$/);
    expect(await requestOf(server, id, 10))
      .toMatchObject({ status: 'approved', execution: { status: 'executed', output: { id: 8 } } });
  });
});

describe('the end of the window', () => {
  test('the sweep ends it as timed out, never as a human\'s rejection', async () => {
    const { agent, id, execution } = await asked({ hitlTimeoutSeconds: 1, hitlTimeoutAction: 'reject' });
    const ended = await eventually(async () => {
      const request = await requestOf(server, id);
      if (request.status === 'pending') throw new Error('not swept yet');
      return request;
    });
    expect(ended).toMatchObject({
      status: 'timed_out', decision: { outcome: 'rejected', by: 'timeout', note: null }, decided_by: 'system',
        decided_at: expect.any(String),
    });
    expect(Date.parse(String(ended.decided_at))).toBeGreaterThanOrEqual(Date.parse(String(ended['expires_at'])));
    expect(await executionOf(server, execution)).toMatchObject({ status: 'cancelled', reason: 'timed_out' });
    const entry = (await auditOf(server, agent.id)).at(-1)!;
    expect(entry).toMatchObject({ event: 'hitl.timed_out', actorId: 'system', metadata: { hitlId: id, action: 'reject' } });
    expect(await eventsOf(server, agent.id)).not.toContain('hitl.rejected');
  });

  test.each(['approve', 'reject', 'cancel'])('%s after it is 409 HITL_EXPIRED, swept or not', async (decision) => {
    const { id } = await asked({ hitlTimeoutSeconds: 1 });
    await eventually(async () => expect((await requestOf(server, id)).status).toBe('timed_out'));
    const reply = (await decide(root, id, decision)).expect(409, 'HITL_EXPIRED');
    expect(reply.at('request')).toMatchObject({ id, status: 'timed_out', decidedBy: 'system' });
  });

  test.each(['approve', 'reject', 'cancel'])('%s that came in time and had to wait is late all the same', async (decision) => {
    const { agent, id, execution } = await asked({ hitlTimeoutSeconds: 1 });
    const holder = new pg.Client({ connectionString: server.database.url });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select 1 from audit_heads where chain = $1 for update', [agent.id]);
      const click = decide(root, id, decision);
      await new Promise((resolve) => setTimeout(resolve, 1_300));
      await holder.query('rollback');
      const reply = (await click).expect(409, 'HITL_EXPIRED');
      expect(reply.at('request')).toMatchObject({ id, status: expect.stringMatching(/^(pending|timed_out)$/) });
    } finally {
      await holder.end();
    }
    expect(await eventsOf(server, agent.id))
      .not.toContain(`hitl.${{ approve: 'approved', reject: 'rejected', cancel: 'cancelled' }[decision]}`);
    await eventually(async () => expect(await executionOf(server, execution))
      .toMatchObject({ status: 'cancelled', reason: 'timed_out' }));
  });

  test('an admin triggers it before the window ends', async () => {
    const { agent, id } = await asked();
    const reply = (await decide(root, id, 'timeout')).expect(200);
    expect(reply.body).toMatchObject({ action: 'reject',
      request: { id, status: 'timed_out', decision: { outcome: 'rejected', by: 'timeout' } } });
    expect((await auditOf(server, agent.id)).at(-1))
      .toMatchObject({ event: 'hitl.timed_out', metadata: { hitlId: id, action: 'reject' } });
  });

  test('check-timeouts says what it did, is stored nowhere, and has a POST twin', async () => {
    const { id } = await asked();
    await server.sql(`update hitl_requests set expires_at = clock_timestamp() where id = $1`, [id]);
    const swept = (await root.get('/api/v1/hitl/check-timeouts')).expect(200);
    expect(swept.headers.get('cache-control')).toBe('no-store');
    expect(swept.body).toEqual({ checked: expect.any(Number), timedOut: expect.any(Number), approved: 0, escalated: 0 });
    await eventually(async () => expect(await requestOf(server, id)).toMatchObject({ status: 'timed_out' }));
    expect((await root.post('/api/v1/hitl/check-timeouts')).expect(200).body)
      .toEqual({ checked: 0, timedOut: 0, approved: 0, escalated: 0 });
  });
});

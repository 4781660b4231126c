import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { asRoot } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { freePort } from '../../support/servers/server-process.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { CHECKOUT } from '../../support/servers/test-run.js';

let server: TestServer;
let agent: BuiltAgent;
let victim: { id: string; seq: string };

beforeAll(async () => {
  server = await startServer();
  agent = await anAgent(server).granted('web.search').create();
  for (let i = 0; i < 4; i++) await agent.client.post('/api/v1/execute',
    { capability: 'web.search', input: { q: `steel ${i}` } });
  // What administrators could edit here: a completed execution in the middle of its chain.
  const [row] = await server.sql<{ id: string; seq: string }>(
    `select id, seq from audit_entries where chain = $1 and event = 'execution.started' order by seq offset 1 limit 1`,
      [agent.id]);
  victim = row!;
});

afterAll(() => server.stop());

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function cli(...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(CHECKOUT, 'bin/countersign.mjs'), 'audit', 'verify', '--no-remember', ...args], { cwd: CHECKOUT },
      (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, stdout, stderr });
    });
  });
}

const where = () => `where id = '${victim.id}'`;

describe('countersign audit verify', () => {
  test('exits with 0 when all is well, and says what it read', async () => {
    const { code, stdout } = await cli('--database-url', server.database.url, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ valid: true, verdict: expect.stringMatching(/^valid/), breaks: [],
      entries: expect.any(Number) });
    expect(await cli('--database-url', server.database.url, '--agent', agent.id)).toMatchObject({ code: 0 });
  });

  test('exits with 1 and names the entry when it was edited; so does the server', async () => {
    await server.database.asSuperuser(`update audit_entries set actor_id = 'root' ${where()}`);
    try {
      const reported = await cli('--database-url', server.database.url, '--json');
      expect(reported.code).toBe(1);
      // What follows from it is named besides: the execution's row, and who the entry is about.
      const found = [
        { kind: 'column_mismatch', entryId: victim.id, chain: agent.id, position: Number(victim.seq) },
        { kind: 'incomplete', chain: agent.id }, { kind: 'column_mismatch', entryId: victim.id },
      ];
      expect(JSON.parse(reported.stdout)).toMatchObject({ valid: false, verdict: 'tampered', breaks: found });
      const plain = await cli('--database-url', server.database.url);
      expect([plain.code, plain.stdout.includes(victim.id)]).toEqual([1, true]);
      const reply = (await asRoot(server).get('/api/v1/audit/verify')).expect(200);
      expect(reply.body).toMatchObject({ valid: false, verdict: 'tampered', breaks: found });
    } finally {
      await server.database.asSuperuser(`update audit_entries set actor_id = '${agent.id}' ${where()}`);
    }
    expect((await auditOf(server, agent.id)).length).toBeGreaterThan(0);
  });

  test('exits with 2 where there is nothing to read, or on wrong usage', async () => {
    const nowhere = `postgres://nobody:x@127.0.0.1:${await freePort()}/none`;
    const unreachable = await cli('--database-url', nowhere);
    expect([unreachable.code, unreachable.stderr !== '']).toEqual([2, true]);
    expect((await cli('--database-url', server.database.url, '--agent', 'agt_nobody')).code).toBe(2);
    expect((await cli('--no-such-option')).code).toBe(2);
  });
});

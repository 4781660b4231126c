import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { anAgent } from '../support/builders/agents.js';
import { defineCapability } from '../support/builders/gate.js';
import { anonymous } from '../support/http/actors.js';
import { EXECUTE } from '../support/http/paths.js';
import { eventually } from '../support/running/eventually.js';
import { createTestDatabase, type TestDatabase } from '../support/servers/database.js';
import { startServer, type TestServer } from '../support/servers/server.js';
import { runFolder } from '../support/servers/test-run.js';

const PRODUCTION = { NODE_ENV: 'production', HOST: '127.0.0.1', LOG_LEVEL: 'info' };
/** A folder that not even root can make anything in. */
const READ_ONLY = 'file:/proc/anchors';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const start = (env: Readonly<Record<string, string>> = {}): Promise<TestServer> =>
  startServer({ replicaOf: { database }, ownProcess: true, env: { ...PRODUCTION, ...env } });

/** Fails on whatever is no line of JSON. */
const linesOf = (server: TestServer): { level: string; msg: string }[] =>
  server.output().trimEnd().split('\n').map((line) => JSON.parse(line) as { level: string; msg: string });

describe('what a server writes in production', () => {
  test('lines of JSON alone: some at its start, the last of which says that it is ready, and one at its end', async () => {
    const server = await start();
    const started = linesOf(server);
    expect(started.length).toBeLessThanOrEqual(10);
    const ready = started.filter(({ msg }) => msg === 'the server is ready');
    expect(ready).toEqual([expect.objectContaining({ level: 'info', url: server.url })]);
    await server.stop();
    expect(linesOf(server).slice(started.length).filter(({ msg }) => msg !== 'this replica leads'))
      .toEqual([expect.objectContaining({ msg: 'the server has ended' })]);
  });

  test('the root key that a first start makes, once', async () => {
    await database.drop();
    database = await createTestDatabase('empty');
    const server = await start({ ROOT_API_KEY: '' });
    const shown = linesOf(server).filter((line) => 'rootKey' in line);
    expect(shown).toEqual([expect.objectContaining({ level: 'warn', rootKey: expect.stringMatching(/^svc_root_[0-9a-f]{64}$/) })]);
    // And what is to be thought of before the disk is full; later starts do not ask again.
    const asked = () => linesOf(server).filter(({ msg }) => msg.includes('AUDIT_RETENTION_DAYS'));
    expect(asked()).toEqual([expect.objectContaining({ level: 'info', msg: expect.stringMatching(/^some 8 KB of disk a governed call/) })]);
    await server.restart({ ROOT_API_KEY: '' });
    expect(asked()).toEqual([]);
    await server.stop();
  });

  test('why nobody is served, and not that it is ready', async () => {
    await database.sql(`update instance set held_because = 'It was restored.', held_at = now()`);
    const server = await start();
    expect(linesOf(server)).toContainEqual(expect.objectContaining({ level: 'error', because: 'It was restored.' }));
    expect(server.output()).not.toContain('ready');
    await server.stop();
  });

  test('why it did not start', async () => {
    const failure = await start({ ENCRYPTION_KEY: Buffer.alloc(32, 'another key of thirty-two bytes!').toString('base64') })
      .then(() => '', (error: unknown) => (error as Error).message);
    const [line] = failure.split('\n').filter((text) => text.startsWith('{') && text.includes('did not start'));
    expect(JSON.parse(line ?? 'null')).toMatchObject({ level: 'fatal', msg: expect.stringMatching(/ENCRYPTION_KEY/) });
  });

  test('that an execution did not succeed, with its outcome and code', async () => {
    const server = await start();
    const connector = { type: 'http', method: 'POST', url: 'https://nobody.invalid/', body: '{input}' };
    await defineCapability(server, 'crm.push', { connector });
    const agent = await anAgent(server).granted('crm.push').create();
    const failed = (await agent.client.post(EXECUTE, { capability: 'crm.push', input: { secret: 'hidden' } })).expect(200);
    expect(failed.at('status')).toBe('failed');
    expect(linesOf(server)).toContainEqual(expect.objectContaining({
      level: 'warn', msg: 'an execution did not succeed (docs/runbooks.md#runtime-fails)', executionId: failed.at('executionId'),
      capability: 'crm.push', outcome: 'failed', code: failed.at('error.code'),
    }));
    expect(server.output()).not.toContain('hidden');
    await server.stop();
  });
});

describe('without an anchor that can be written', () => {
  test.each([READ_ONLY, 'a file'])('%s: a start is refused', async (kind) => {
    const folder = mkdtempSync(join(runFolder(), 'anchors-'));
    writeFileSync(join(folder, 'file'), '');
    const name = kind === READ_ONLY ? READ_ONLY : `file:${join(folder, 'file', 'anchors')}`;
    await expect(start({ AUDIT_ANCHORS: name })).rejects.toThrow(/AUDIT_ANCHORS: no anchor can be written: file:.*AUDIT_ANCHORS=none/);
  });

  test('where one of two can be, it starts, and says of the other again and again that it cannot', async () => {
    const server = await start({ AUDIT_ANCHORS: `${database.anchors},${READ_ONLY}`, AUDIT_CHECKPOINT_SECONDS: '1' });
    await anAgent(server).create();
    await eventually(() => expect(linesOf(server)).toContainEqual(expect.objectContaining({
      level: 'warn', anchor: READ_ONLY, msg: expect.stringContaining('runbooks.md#anchor-unwritable'),
    })));
    await server.stop();
  });

  test('where none is wanted, it starts with a warning, and nothing waits for one', async () => {
    const server = await start({ AUDIT_ANCHORS: 'none', AUDIT_CHECKPOINT_SECONDS: '1' });
    const warning = { level: 'warn', msg: expect.stringMatching(/^AUDIT_ANCHORS: is none/) };
    expect(linesOf(server)).toContainEqual(expect.objectContaining(warning));
    await anAgent(server).create();
    await eventually(async () => {
      const signed = await database.sql(`select 1 from audit_checkpoints where organization_id = 'platform' and size > 0`);
      expect(signed.length).toBeGreaterThan(0);
    });
    await eventually(async () => {
      expect((await anonymous(server).get('/health/ready')).expect(200).at('unanchoredSeconds')).toBe(0);
    });
    await server.stop();
  });
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { agentChain } from '../../../src/domain/audit/entry/chain.js';
import { prepareEntry } from '../../../src/domain/audit/entry/prepare-entry.js';
import { newId } from '../../../src/domain/ids.js';
import { appendEntriesPast } from '../../support/log/append-past.js';
import { anAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { allSigned, verifierKeyOf, verifyFile } from '../../support/log/exports.js';
import { aPerson, firstOrganization, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const ENTRIES = 40_000;
const AT_ONCE = 1_000;
const NOTE_BYTES = 4_000;
const MEGABYTE = 1024 * 1024;

let server: TestServer;
let folder: string;
let vkey: string;
const admins: BuiltPerson[] = [];

// A log that is larger than any buffer on the way, appended as the service appends.
beforeAll(async () => {
  // A heap that is smaller than the file: whatever is kept of what has gone by would end the server.
  server = await startServer({
    ownProcess: true,
    env: { AUDIT_CHECKPOINT_SECONDS: '1', NODE_OPTIONS: '--max-old-space-size=144 --max-semi-space-size=8' },
  });
  folder = mkdtempSync(join(tmpdir(), 'exports-'));
  for (let n = 0; n < 4; n++) admins.push(await aPerson(server, 'admin'));
  const organizationId = await firstOrganization(server);
  const agents = await Promise.all(Array.from({ length: 10 }, () => anAgent(server).create()));
  const note = 'n'.repeat(NOTE_BYTES);
  for (let at = 0; at < ENTRIES; at += AT_ONCE) {
    const entries = Array.from({ length: AT_ONCE }, (_, n) => {
      const { id } = agents[(at + n) % agents.length]!;
      const metadata = { executionId: newId('exec'), outcome: 'success' as const, note };
      return prepareEntry(
        { chain: agentChain(organizationId, id), agentId: id, type: 'execution.settled', capability: 'web.search', metadata },
        { id: newId('audit'), actorId: 'root', timestamp: new Date() },
      );
    });
    await appendEntriesPast(server.database, ...entries);
  }
  await allSigned(server);
  vkey = await verifierKeyOf(server);
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server?.stop();
});

/** Begins a download and hands it over unread. */
function begin(key: string, query = ''): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    get(new URL(`/api/v1/audit/export${query}`, server.url), { headers, agent: false }, (response) => {
      response.on('error', () => undefined);
      resolve(response);
    }).on('error', reject);
  });
}

const connections = async () => {
  const rows = await server.sql(
    `select 1 from pg_stat_activity where datname = current_database() and application_name = 'countersign export'`);
  return rows.length;
};

const allReturned = () => eventually(async () => expect(await connections()).toBe(0));
const residentMb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))![1]) / 1024;

describe('an export of 200 MB', () => {
  test('takes no more memory than a small one, and is valid', async () => {
    const small = await begin(admins[0]!.key, '?from=2090-01-01');
    for await (const _ of small);
    await allSigned(server);
    const before = residentMb();
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, residentMb())), 50);
    const file = join(folder, 'large.jsonl');
    await pipeline(await begin(admins[0]!.key), createWriteStream(file));
    clearInterval(watch);
    expect(statSync(file).size).toBeGreaterThan(180 * MEGABYTE);
    expect(most - before).toBeLessThan(120);
    const result = await verifyFile(file, [vkey]);
    expect(result).toMatchObject({ exitCode: 0, breaks: [], verdict: 'valid' });
    expect(result.counts.entries).toBeGreaterThanOrEqual(ENTRIES);
    await allReturned();
  });

  test('waits for whoever reads nothing, without growing, and without a connection of the calls', async () => {
    const before = residentMb();
    const idle = [await begin(admins[0]!.key), await begin(admins[0]!.key), await begin(admins[1]!.key), await begin(admins[2]!.key)];
    expect(idle.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
    expect(await connections()).toBe(4);
    const calls = await Promise.all(Array.from({ length: 20 }, () => admins[3]!.client.get('/api/v1/agents')));
    expect(calls.map(({ status }) => status)).toEqual(calls.map(() => 200));
    const [own, others] = [await begin(admins[0]!.key), await begin(admins[3]!.key)];
    expect([own.statusCode, own.headers['retry-after']]).toEqual([429, '30']);
    expect([others.statusCode, others.headers['retry-after']]).toEqual([503, '30']);
    expect(residentMb() - before).toBeLessThan(100);
    // Who leaves in the middle leaves nothing behind.
    for (const one of idle) one.destroy();
    await allReturned();
    const again = await begin(admins[3]!.key, '?from=2090-01-01');
    expect(again.statusCode).toBe(200);
    again.destroy();
    await allReturned();
    await server.assertAlive();
    expect(server.output()).not.toContain('an export was not sent to its end');
  });

  test('ends with the credential of whoever reads it', async () => {
    const response = await begin(admins[1]!.key);
    await server.sql('update personal_keys set revoked_at = clock_timestamp() where id = $1', [admins[1]!.keyId]);
    await allReturned();
    const whole = pipeline(response, createWriteStream(join(folder, 'revoked.jsonl')));
    await expect(whole).rejects.toThrow();
  });
});

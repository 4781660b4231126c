import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { aadOf } from '../../../src/modules/capabilities/secrets/connector-secrets.service.js';
import { keyIdOf } from '../../../src/platform/secrets/fingerprint.js';
import { SealedBox } from '../../../src/platform/secrets/sealed-box.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability } from '../../support/builders/gate.js';
import { verification } from '../../support/erasure/erasures.js';
import { as, asRoot } from '../../support/http/actors.js';
import { startReceiver } from '../../support/http/receiver.js';
import type { Proof, ProofResult } from '../../support/proofs/proof.js';
import { countersign } from '../../support/servers/command-line.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { CHECKOUT, TEST_ENVIRONMENT } from '../../support/servers/test-run.js';

const CALLERS = 3;
/** Sealed values that nobody uses, so that sealing them anew takes a while. */
const ROWS = 3_000;
const VALUE = 'what a connector shows';
const ORIGINS = ['https://nobody.example'];

interface Secrets {
  readonly JWT_SECRET: string;
  readonly ENCRYPTION_KEY: string;
}

/** Sends each call to a server that is up, as a proxy does; one that is to start again gets no more, and ends what it has. */
class Proxy {
  private readonly up: TestServer[];
  private readonly running = new Map<TestServer, number>();

  constructor(private readonly servers: readonly TestServer[]) {
    this.up = [...servers];
  }

  async call<T>(work: (server: TestServer) => Promise<T>): Promise<T> {
    const server = this.up[Math.floor(Math.random() * this.up.length)]!;
    this.running.set(server, (this.running.get(server) ?? 0) + 1);
    try {
      return await work(server);
    } finally {
      this.running.set(server, this.running.get(server)! - 1);
    }
  }

  async restartEach(env: Readonly<Record<string, string>>): Promise<void> {
    for (const server of this.servers) {
      this.up.splice(this.up.indexOf(server), 1);
      while ((this.running.get(server) ?? 0) > 0) await pause(5);
      await server.restart(env);
      this.up.push(server);
    }
  }
}

/** Both secrets are replaced on two servers, one after the other, as operators do it, while agents get tokens, call, and call again. */
export const proof: Proof = {
  name: 'secret-rotation',
  title: 'While both secrets are replaced no call fails; afterwards nothing by the old ones counts, and everything sealed opens.',
  longCount: 20,
  shortCount: 1,
  needs: 'database',
  run: async ({ count, progress }) => {
    const one = await startServer();
    const receiver = await startReceiver();
    try {
      const other = await startServer({ replicaOf: one });
      try {
        (await asRoot(one).put('/api/v1/secrets/token', { value: VALUE, origins: [receiver.url] })).expect(201);
        const http = { type: 'http', method: 'POST', url: `${receiver.url}/hook`, headers: { authorization: 'Bearer {secrets.token}' } };
        await defineCapability(one, 'crm.sealed', { connector: http });
        const agents = await Promise.all(Array.from({ length: CALLERS }, () => anAgent(one).granted('crm.sealed').create()));
        const result = await rotations([one, other], agents, count, progress);
        const strange = receiver.requests.find(({ headers }) => headers.authorization !== `Bearer ${VALUE}`);
        return strange === undefined ? result : { ...result, counterexample: 'a connector was called with another secret' };
      } finally {
        await other.stop();
      }
    } finally {
      await receiver.close();
      await one.stop();
    }
  },
};

async function rotations(
  servers: readonly TestServer[], agents: readonly BuiltAgent[], count: number, progress: (done: number) => void,
): Promise<ProofResult> {
  const coverage = { 'calls answered': 0, 'calls repeated elsewhere': 0, 'sealed anew before the kill': 0, 'sealed anew after it': 0 };
  const proxy = new Proxy(servers);
  let ended = false;
  let checked = 0;
  let failure: string | undefined;
  const callers = agents.map(async ({ id }) => {
    while (!ended && failure === undefined) {
      // Not in one expression: what another found while this one waited would be overwritten.
      const found = await oneRound(proxy, id, coverage);
      failure ??= found;
    }
  });
  let secrets: Secrets = { JWT_SECRET: TEST_ENVIRONMENT.JWT_SECRET!, ENCRYPTION_KEY: TEST_ENVIRONMENT.ENCRYPTION_KEY! };
  try {
    while (checked < count && failure === undefined) {
      const next = { JWT_SECRET: randomBytes(48).toString('base64url'), ENCRYPTION_KEY: randomBytes(32).toString('base64') };
      const found = await rotate(servers, proxy, { from: secrets, to: next, agent: agents[0]!.id }, coverage);
      failure ??= found;
      secrets = next;
      checked++;
      progress(checked);
    }
  } finally {
    ended = true;
    await Promise.all(callers);
  }
  return { checked, ...(failure === undefined ? {} : { counterexample: `rotation ${checked}: ${failure}` }), coverage };
}

/** A token from one server, a call with it at one, and the same call again at one, which must not run twice. */
async function oneRound(proxy: Proxy, agentId: string, coverage: Record<string, number>): Promise<string | undefined> {
  const issued = await proxy.call((server) => asRoot(server).post(`/api/v1/agents/${agentId}/token`, {}));
  if (issued.status >= 300) return `a token was answered ${issued.status}: ${JSON.stringify(issued.body)}`;
  const once = { 'idempotency-key': randomBytes(12).toString('hex') };
  const call = () => proxy.call((server) =>
    as(server, issued.text('token')).with(once).post<{ status?: string }>('/api/v1/execute', { capability: 'crm.sealed' }));
  const [first, second] = [await call(), await call()];
  for (const { status, body } of [first, second]) {
    if (status !== 200 || body.status !== 'executed') return `a call was answered ${status}: ${JSON.stringify(body)}`;
  }
  if (first.text('executionId') !== second.text('executionId')) return 'a repeated call ran twice';
  coverage['calls answered']! += 3;
  coverage['calls repeated elsewhere']! += 1;
  return undefined;
}

async function rotate(
  servers: readonly TestServer[], proxy: Proxy, { from, to, agent }: { from: Secrets; to: Secrets; agent: string },
  coverage: Record<string, number>,
): Promise<string | undefined> {
  const [{ database }] = servers as [TestServer];
  const withBoth = (first: Secrets, second: Secrets) =>
    ({ ...first, JWT_SECRET_ACCEPTED: second.JWT_SECRET, ENCRYPTION_KEY_ACCEPTED: second.ENCRYPTION_KEY });
  const env = { ...withBoth(to, from), DATABASE_URL: database.url, AUDIT_SIGNING_KEY: TEST_ENVIRONMENT.AUDIT_SIGNING_KEY! };
  await fill(servers[0]!, new SealedBox({ encryptionKey: from.ENCRYPTION_KEY }));
  const old = (await proxy.call((server) => asRoot(server).post(`/api/v1/agents/${agent}/token`, {}))).text('token');
  await proxy.restartEach(withBoth(from, to));
  await proxy.restartEach(withBoth(to, from));
  for (const server of servers) {
    const { status } = await as(server, old).get(`/api/v1/agents/${agent}`);
    if (status !== 200) return `a token of before was answered ${status} halfway`;
  }
  const early = await countersign(['secrets', 'rotate', 'ENCRYPTION_KEY', '--leaked'], env);
  if (early.code !== 1 || !early.stderr.includes('not sealed by it yet')) return `ended before all was sealed anew: ${early.stderr}`;
  const sealedBefore = await resealKilled(servers[0]!, env, keyIdOf(to.ENCRYPTION_KEY));
  const again = await countersign(['secrets', 'reseal'], env);
  if (again.code !== 0) return `reseal ended with ${again.code}: ${again.stderr}`;
  const sealedAfter = Number(/^\d+/.exec(again.stdout)?.[0]);
  if (sealedAfter > ROWS - sealedBefore + 10) return `it sealed ${sealedAfter} anew, though ${sealedBefore} of ${ROWS} were`;
  coverage['sealed anew before the kill']! += sealedBefore;
  coverage['sealed anew after it']! += sealedAfter;
  for (const name of ['JWT_SECRET', 'ENCRYPTION_KEY']) {
    const { code, stdout, stderr } = await countersign(['secrets', 'rotate', name, '--leaked'], env);
    if (code !== 0) return `${name} was not ended: ${stderr}`;
    if (Object.values({ ...from, ...to }).some((secret) => (stdout + stderr).includes(secret))) return `${name} was shown`;
  }
  // Without a restart: a server looks once a second.
  const until = performance.now() + 10_000;
  let alive = await acceptedAnywhere(servers, old, agent);
  for (; alive !== undefined && performance.now() < until; alive = await acceptedAnywhere(servers, old, agent)) await pause(50);
  if (alive !== undefined) return alive;
  await proxy.restartEach({ ...to, JWT_SECRET_ACCEPTED: '', ENCRYPTION_KEY_ACCEPTED: '' });
  const box = new SealedBox({ encryptionKey: to.ENCRYPTION_KEY });
  const [server] = servers as [TestServer];
  const { valid, breaks } = await verification(server);
  if (!valid) return `the log does not verify: ${JSON.stringify(breaks[0])}`;
  return (await acceptedAnywhere(servers, old, agent)) ?? (await unopened(server, box)) ?? (await untold(server, { ...from, ...to }));
}

const TOLD = ['JWT_SECRET', 'ENCRYPTION_KEY'].flatMap((name) => ['accepted', 'in_use', 'leaked'].map((step) => `${name} ${step}`));

/** Whether the log lacks a step of the last rotation, or shows a secret. */
async function untold(server: TestServer, secrets: Secrets): Promise<string | undefined> {
  const wanted = [...TOLD, 'ENCRYPTION_KEY resealed'].sort();
  const rows = await server.sql<{ payload: string }>(
    `select payload from audit_entries where event = 'admin.secret_rotated' order by seq desc limit ${wanted.length}`);
  const payloads = rows.map(({ payload }) => payload);
  if (Object.values(secrets).some((secret) => payloads.some((payload) => payload.includes(secret)))) return 'the log shows a secret';
  const told = payloads.map((payload) => {
    const { secretName, step } = (JSON.parse(payload) as { metadata: { secretName: string; step: string } }).metadata;
    return `${secretName} ${step}`;
  }).sort();
  return told.join() === wanted.join() ? undefined : `the log tells ${told.join()}`;
}

async function fill(server: TestServer, box: SealedBox): Promise<void> {
  const [instance] = await server.sql<{ id: string }>('select first_organization_id as id from instance');
  const names = Array.from({ length: ROWS }, (_, at) => `filler-${at}`);
  await server.sql(
    `insert into secrets (organization_id, name, origins, sealed, created_at, updated_at)
     select $1, name, $2, sealed, now(), now() from unnest($3::text[], $4::bytea[]) as n(name, sealed)
     on conflict (organization_id, name) do update set sealed = excluded.sealed`,
    [instance!.id, ORIGINS, names, names.map((name) => box.seal('secrets', aadOf(instance!.id, name, ORIGINS), Buffer.from(name)))],
  );
}

/** Kills the sealing anew once it has begun. @returns how many rows it had done */
async function resealKilled(server: TestServer, env: Readonly<Record<string, string>>, id: string): Promise<number> {
  const { PATH, HOME } = process.env;
  const child: ChildProcess = spawn(process.execPath, [join(CHECKOUT, 'bin', 'countersign.mjs'), 'secrets', 'reseal'], {
    cwd: CHECKOUT, env: { PATH, HOME, NODE_ENV: 'test', ...env }, stdio: 'ignore',
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const done = async () => Number((await server.sql<{ count: string }>(
    `select count(*) from secrets where name like 'filler-%' and encode(substring(sealed from 1 for 4), 'hex') = $1`, [id]))[0]!.count);
  while (child.exitCode === null && (await done()) === 0) await pause(2);
  child.kill('SIGKILL');
  await ended;
  return done();
}

async function acceptedAnywhere(servers: readonly TestServer[], old: string, agent: string): Promise<string | undefined> {
  for (const server of servers) {
    const { status, body } = await as(server, old).get(`/api/v1/agents/${agent}`);
    if (status !== 401) return `a token by the old secret was answered ${status}`;
    if (!JSON.stringify(body).includes('get a new token')) return `its problem does not say what to do: ${JSON.stringify(body)}`;
  }
  return undefined;
}

async function unopened(server: TestServer, box: SealedBox): Promise<string | undefined> {
  const rows = await server.sql<{ organization: string; name: string; origins: string[]; sealed: Buffer }>(
    'select organization_id as organization, name, origins, sealed from secrets');
  const shut = rows.filter((row) => box.open('secrets', aadOf(row.organization, row.name, row.origins), row.sealed) === undefined);
  return rows.length > ROWS && shut.length === 0 ? undefined : `${shut.length} of ${rows.length} secrets do not open any more`;
}

// `npm run bench -- wake`: how long after a decision those who wait learn of it: on the server that took it, on another one, by a
// stream, and by asking every half second; then once more beside thousands who wait for something else. `--waiters N`,
// `--samples N`, `--data-dir DIR`.
import { rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { removeDataDirectory } from '../src/platform/embedded/cluster.js';
import { startEmbeddedPostgres } from '../src/platform/embedded/supervisor.js';
import { openFolder } from './environment.js';
import { cpuSeconds, freePort, NodeProcess } from './processes.js';

const EACH = 60;
const POLL_EVERY_MS = 500;
/** So often in its own form as one case of each other. */
const POLLS_SHARE = 5;
const POOL = '20';

const { values } = parseArgs({
  allowPositionals: true,
  options: { waiters: { type: 'string', default: '5000' }, samples: { type: 'string', default: '200' }, 'data-dir': { type: 'string' } },
});
const idle = Number(values.waiters);
const samples = Number(values.samples);

interface Server {
  readonly url: string;
  readonly pid: number;
}
interface Asked {
  readonly id: string;
  readonly token: string;
}

const rootKey = `svc_root_${randomBytes(32).toString('hex')}`;
const shared = {
  ROOT_API_KEY: rootKey, JWT_SECRET: randomBytes(48).toString('base64url'), ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  AUDIT_SIGNING_KEY: randomBytes(32).toString('base64'), DATABASE_POOL_SIZE: POOL, LOG_LEVEL: 'info', NODE_ENV: 'development',
  RATE_LIMIT_PRINCIPAL: '1000000000', HITL_MAX_PENDING_PER_AGENT: '1000000',
};
const decisions = new Agent({ keepAlive: true });

async function call<Body>(
  server: Server, token: string, method: string, path: string, body?: unknown, agent = decisions,
): Promise<Body> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = request(server.url + path, { method, agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('error', reject);
      response.once('end', () => {
        if (response.statusCode! < 300) resolve((text === '' ? undefined : JSON.parse(text)) as Body);
        else reject(new Error(`${method} ${path} answered ${response.statusCode}: ${text}`));
      });
    });
    sent.once('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function register(server: Server, name: string): Promise<string> {
  const body = { name, grants: [{ capability: 'email.send', hitlMode: 'propose' }] };
  return (await call<{ token: string }>(server, rootKey, 'POST', '/api/v1/agents', body)).token;
}

async function ask(server: Server, token: string): Promise<Asked> {
  const body = { capability: 'email.send' };
  const { hitlRequestId: id } = await call<{ hitlRequestId: string }>(server, token, 'POST', '/api/v1/execute', body);
  return { id, token };
}

/** Milliseconds from the decision's being sent, and from its answer, until somebody knows. */
interface Sample {
  readonly fromSent: number;
  readonly fromAnswer: number;
}

async function sample(decider: Server, { id }: Asked, known: Promise<number>): Promise<Sample> {
  const sent = performance.now();
  await call(decider, rootKey, 'POST', `/api/v1/hitl/${id}/reject`);
  const answered = performance.now();
  const at = await known;
  return { fromSent: at - sent, fromAnswer: at - answered };
}

const now = () => performance.now();

const waited = (server: Server, { id, token }: Asked): Promise<number> =>
  call<{ status: string }>(server, token, 'GET', `/api/v1/hitl/${id}?wait=30`).then(({ status }) => {
    if (status !== 'rejected') throw new Error(`a waiter was answered ${status}`);
    return now();
  });

async function polled(server: Server, { id, token }: Asked): Promise<number> {
  await pause(Math.random() * POLL_EVERY_MS);
  for (;;) {
    const { status } = await call<{ status: string }>(server, token, 'GET', `/api/v1/hitl/${id}`);
    if (status === 'rejected') return now();
    await pause(POLL_EVERY_MS);
  }
}

/** Follows everything, and says when it heard of an id's rejection. */
async function follow(server: Server): Promise<{ heard(id: string): Promise<number>; close(): void }> {
  const heard = new Map<string, (at: number) => void>();
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${rootKey}` };
    const sent = request(`${server.url}/api/v1/hitl/events`, { agent: new Agent(), headers }, (response) => {
      let rest = '';
      response.setEncoding('utf8');
      response.on('error', () => undefined);
      response.on('data', (chunk: string) => {
        const at = now();
        const blocks = (rest + chunk).split('\n\n');
        rest = blocks.pop()!;
        for (const block of blocks) {
          const id = /^event: hitl\.rejected$/m.test(block) ? /"id":"(hitl_\w+)"/.exec(block)?.[1] : undefined;
          if (id !== undefined) heard.get(id)?.(at);
        }
      });
      resolve({ heard: (id) => new Promise((resolve) => heard.set(id, resolve)), close: () => void sent.destroy() });
    });
    sent.once('error', reject);
    sent.end();
  });
}

function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

function lineOf(name: string, all: readonly Sample[], baseline: readonly Sample[]): string {
  const at = (of: readonly Sample[], key: keyof Sample, share: number) => percentile(of.map((one) => one[key]), share);
  const numbers = [at(all, 'fromSent', 0.5), at(all, 'fromSent', 0.99), at(all, 'fromAnswer', 0.5), at(all, 'fromAnswer', 0.99)];
  const ratio = at(all, 'fromSent', 0.5) / at(baseline, 'fromSent', 0.5);
  const cells = [...numbers, ratio].map((number) => number.toFixed(1).padStart(9)).join(' ');
  return `  ${name.padEnd(34)} ${cells}   ${all.length}\n`;
}

async function measure(one: Server, other: Server): Promise<void> {
  const token = await register(one, 'measured');
  const stream = await follow(other);
  const cases: Record<string, (asked: Asked) => Promise<number>> = {
    'waits on the same server': (asked) => waited(one, asked),
    'waits on the other server': (asked) => waited(other, asked),
    'stream of the other server': ({ id }) => stream.heard(id),
    [`asks every ${POLL_EVERY_MS} ms`]: (asked) => polled(other, asked),
  };
  const found = new Map<string, Sample[]>(Object.keys(cases).map((name) => [name, []]));
  // Alternating, so that each has the same moments of the machine.
  for (let round = 0; round < samples; round++) {
    for (const [name, know] of Object.entries(cases)) {
      if (name.startsWith('asks') && round % POLLS_SHARE > 0) continue;
      const asked = await ask(one, token);
      const known = know(asked);
      await pause(20 + Math.random() * 20);
      found.get(name)!.push(await sample(one, asked, known));
    }
  }
  stream.close();
  const [baseline] = [...found.values()];
  const head = ['sent p50', 'p99', 'done p50', 'p99', '× same'].map((title) => title.padStart(9)).join(' ');
  process.stdout.write(`\n  ${'Milliseconds from the decision'.padEnd(34)} ${head}   samples\n`);
  for (const [name, all] of found) process.stdout.write(lineOf(name, all, baseline!));
}

/** Opens so many calls that wait for something that does not happen. */
async function fill(one: Server, other: Server): Promise<{ waiting(): number; end(): void }> {
  const sockets = new Agent({ keepAlive: true, maxSockets: Infinity });
  let waiting = 0;
  let ended = false;
  for (let i = 0; i < Math.ceil(idle / EACH); i++) {
    const asked = await ask(one, await register(one, `idle ${i}`));
    for (let n = 0; n < Math.min(EACH, idle - i * EACH); n++) {
      waiting++;
      const again = (): Promise<void> =>
        call(other, asked.token, 'GET', `/api/v1/hitl/${asked.id}?wait=${45 + Math.floor(Math.random() * 10)}`, undefined, sockets)
          .then(() => (ended ? undefined : again()));
      again().catch((error: unknown) => {
        waiting--;
        if (!ended) process.stderr.write(`${String(error)}\n`);
      });
    }
    await pause(20);
  }
  return {
    waiting: () => waiting,
    end: () => {
      ended = true;
      sockets.destroy();
    },
  };
}

const folder = openFolder(join(values['data-dir'] ?? '/var/tmp', 'countersign-wake-'));
const dataDir = join(folder, 'data');
const closers: (() => Promise<unknown>)[] = [];
try {
  const postgres = await startEmbeddedPostgres({ dataDir });
  closers.push(() => postgres.stop());
  const start = async (name: string): Promise<Server> => {
    const [port, ready] = [await freePort(), join(folder, `${name}.json`)];
    const script = fileURLToPath(new URL('../src/main.js', import.meta.url));
    const env = {
      ...shared, DATABASE_URL: postgres.url, PORT: String(port), COUNTERSIGN_READY_FILE: ready,
      AUDIT_ANCHORS: `file:${join(folder, 'anchors')}`,
    };
    const started = NodeProcess.spawn({ script, env, logFile: join(folder, `${name}.log`) });
    closers.push(() => started.stop());
    await started.file(ready);
    return { url: `http://127.0.0.1:${port}`, pid: started.pid };
  };
  const [one, other] = [await start('one'), await start('other')];
  await pause(500);
  await measure(one, other);
  const crowd = await fill(one, other);
  const [before, since] = [cpuSeconds(other.pid), now()];
  await pause(10_000);
  const used = ((cpuSeconds(other.pid) - before) / (now() - since)) * 1e5;
  process.stdout.write(`\n  Beside ${crowd.waiting()} that wait (pool of ${POOL}), taking ${used.toFixed(1)} % of a processor there:\n`);
  await measure(one, other);
  process.stdout.write(`  ${crowd.waiting()} still wait.\n`);
  crowd.end();
} finally {
  decisions.destroy();
  for (const close of closers.reverse()) await close();
  removeDataDirectory(dataDir);
  rmSync(folder, { recursive: true, force: true });
}

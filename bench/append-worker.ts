// One of the processes of the append study: appends batches by the engine, or inserts the same rows into the bare twin, as told.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { agentChain } from '../src/domain/audit/chain.js';
import { prepareEntry, type PreparedEntry } from '../src/domain/audit/entry.js';
import { newId } from '../src/domain/ids.js';
import type { CredentialSources } from '../src/platform/auth/credential-source.js';
import { createDataSource } from '../src/platform/database/data-source.js';
import type { IdempotencyKeys } from '../src/platform/database/idempotency.js';
import type { Tx } from '../src/platform/database/tx.js';
import { UnitOfWork } from '../src/platform/database/unit-of-work.js';
import type { OutboxBell } from '../src/platform/outbox/outbox-bell.js';
import { INPUT } from './fill-log.js';

export interface AppendOrder {
  readonly side: 'many' | 'hot' | 'bare';
  readonly seconds: number;
}

export interface Appended {
  readonly rows: number;
  readonly seconds: number;
}

export interface AppendSetting {
  readonly databaseUrl: string;
  readonly organizationId: string;
  readonly agents: readonly string[];
  /** Entries of one batch: half of them begin an execution, and half of them close it. */
  readonly batch: number;
}

const setting = JSON.parse(process.env['APPEND_SETTING']!) as AppendSetting;
const { organizationId, agents, batch } = setting;
const database = createDataSource({ url: setting.databaseUrl, poolSize: 1 });
await database.initialize();
const plain = new pg.Client({ connectionString: setting.databaseUrl });
await plain.connect();
// No caller, no key and no effect: only what an append itself takes.
const nothing = {} as never;
const work = new UnitOfWork(database, nothing as CredentialSources, nothing as IdempotencyKeys, nothing as OutboxBell);

const started = (executionId: string) =>
  ({ executionId, grantId: 'grt_x', grantVersion: 1, definition: 'd'.repeat(64), input: INPUT, reasons: [], runtime: 'receipt' });
const completed = (executionId: string) => ({ executionId, durationMs: 0 });

function agentsOf(side: AppendOrder['side']): string[] {
  if (side === 'hot') return [agents[0]!];
  // Each once: as many calls of one agent at a time are rare.
  const chosen = new Set<string>();
  while (chosen.size < batch / 2) chosen.add(agents[Math.floor(Math.random() * agents.length)]!);
  return [...chosen];
}

async function append(side: AppendOrder['side']): Promise<void> {
  const chains = agentsOf(side).map((agent) => agentChain(organizationId, agent));
  await work.run({ chains, leavesFacts: true }, async (tx: Tx) => {
    for (let i = 0; i < batch / 2; i++) {
      const chain = chains[i % chains.length]!;
      const executionId = newId('exec');
      const options = { actorId: chain.chain };
      tx.record(chain, { type: 'execution.started', capability: 'bench.capability0', metadata: started(executionId) }, options);
      tx.record(chain, { type: 'execution.completed', capability: 'bench.capability0', metadata: completed(executionId) }, options);
    }
  });
}

/** Made beforehand: what a bare insert writes costs it nothing to make. */
const ready = Array.from({ length: 2_000 }, (_, i) => {
  const agentId = agents[i % agents.length]!;
  const stamp = { id: newId('audit'), actorId: agentId, timestamp: new Date() };
  const where = { chain: agentChain(organizationId, agentId), agentId, capability: 'bench.capability0' };
  return i % 2 === 0
    ? prepareEntry({ ...where, type: 'execution.started', metadata: started(newId('exec')) }, stamp)
    : prepareEntry({ ...where, type: 'execution.completed', metadata: completed(newId('exec')) }, stamp);
});

const COLUMNS = 14;
const insertBare = {
  name: 'bare-insert',
  text: `insert into bench_entries (organization_id, chain, seq, id, event, agent_id, actor_id, capability, outcome, "timestamp",
    payload, disclosures, prev_hash, hash) values ${Array.from({ length: batch }, (_, row) =>
      `(${Array.from({ length: COLUMNS }, (_column, i) => `$${row * COLUMNS + i + 1}`).join(', ')})`).join(', ')}`,
};
const HASHES = Array.from({ length: 64 }, () => randomBytes(32).toString('hex'));
let next = 0;

async function insert(): Promise<void> {
  const values: unknown[] = [];
  for (let i = 0; i < batch; i++) {
    const entry: PreparedEntry = ready[next++ % ready.length]!;
    values.push(
      entry.organizationId, entry.chain, next, entry.id, entry.event, entry.agentId ?? null, entry.actorId, entry.capability ?? null,
      entry.outcome ?? null, entry.timestamp, entry.payload, entry.disclosures, HASHES[i % 64], HASHES[(i + 1) % 64],
    );
  }
  await plain.query({ ...insertBare, values });
}

process.on('message', ({ side, seconds }: AppendOrder) => void run(side, seconds));
process.once('SIGTERM', () => process.exit(0));

async function run(side: AppendOrder['side'], seconds: number): Promise<void> {
  const begin = performance.now();
  const end = begin + seconds * 1_000;
  let rows = 0;
  while (performance.now() < end) {
    await (side === 'bare' ? insert() : append(side));
    rows += batch;
  }
  process.send!({ rows, seconds: (performance.now() - begin) / 1_000 } satisfies Appended);
}

process.send!('ready');

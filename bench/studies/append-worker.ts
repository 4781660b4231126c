// One of the processes of the append study: appends batches by the engine, or inserts the same rows into the bare twin, as ordered.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { agentChain, type ChainRef } from '../../src/domain/audit/entry/chain.js';
import { prepareEntry, type PreparedEntry } from '../../src/domain/audit/entry/prepare-entry.js';
import { newId } from '../../src/domain/ids.js';
import { APPEND_ENTRIES, entryColumns, subjectColumns } from '../../src/platform/database/transaction/chain-writer.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { pipelined } from '../../src/platform/database/transaction/pipelined.js';
import { lockBarriersAndHeads } from '../../src/platform/database/transaction/locks.js';
import { preparing } from '../../src/platform/database/statements/prepared.js';
import { collectGarbageLessOften } from '../../src/start/memory.js';
import { INPUT, ORIGIN } from './fill-log.js';

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

collectGarbageLessOften();
const setting = JSON.parse(process.env['APPEND_SETTING']!) as AppendSetting;
const { organizationId, agents, batch } = setting;
const database = createDataSource({ url: setting.databaseUrl, poolSize: 1 });
await database.initialize();
const plain = new pg.Client({ connectionString: setting.databaseUrl });
await plain.connect();

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

interface Made {
  readonly chains: readonly ChainRef[];
  readonly parameters: Buffer[];
}

function made(side: AppendOrder['side']): Made {
  const chains = agentsOf(side).map((agent) => agentChain(organizationId, agent));
  const entries: PreparedEntry[] = [];
  for (let i = 0; i < batch / 2; i++) entries.push(...execution(chains[i % chains.length]!.chain));
  return { chains, parameters: [...entryColumns(entries), ...subjectColumns(entries)] };
}

/** As the gate does: what can be made before the heads are locked is; then locks, entries and commit, without a wait between. */
async function append({ chains, parameters }: Made): Promise<void> {
  const runner = database.createQueryRunner();
  try {
    await preparing(runner);
    await pipelined([
      runner.startTransaction(), lockBarriersAndHeads(runner, [], { chains }),
      runner.query(APPEND_ENTRIES, parameters), runner.query('commit'),
    ]);
  } finally {
    await runner.release();
  }
}

/** An execution that is begun and closed at once. */
function execution(agentId: string): PreparedEntry[] {
  const where = { chain: agentChain(organizationId, agentId), agentId, capability: 'bench.capability0' };
  const executionId = newId('exec');
  const stamp = () => ({ id: newId('audit'), actorId: agentId, timestamp: new Date(), origin: ORIGIN });
  return [
    prepareEntry({ ...where, type: 'execution.started', metadata: started(executionId) }, stamp()),
    prepareEntry({ ...where, type: 'execution.completed', metadata: completed(executionId) }, stamp()),
  ];
}

/** Made beforehand: what a bare insert writes costs it nothing to make. */
const ready = Array.from({ length: 1_000 }, (_, i) => execution(agents[i % agents.length]!)).flat();

const COLUMNS = 14;
const insertBare = {
  name: 'bare-insert',
  text: `insert into bench_entries (organization_id, chain, seq, id, event, agent_id, actor_id, capability, outcome, "timestamp",
    payload, disclosures, prev_hash, hash) values ${Array.from({ length: batch }, (_, row) =>
      `(${Array.from({ length: COLUMNS }, (_column, i) => `$${row * COLUMNS + i + 1}`).join(', ')})`).join(', ')}`,
};
const HASHES = Array.from({ length: 64 }, () => randomBytes(32).toString('hex'));
let next = 0;

function valuesOfNext(): unknown[] {
  const values: unknown[] = [];
  for (let i = 0; i < batch; i++) {
    const entry: PreparedEntry = ready[next++ % ready.length]!;
    values.push(
      entry.organizationId, entry.chain, next, entry.id, entry.event, entry.agentId ?? null, entry.actorId, entry.capability ?? null,
      entry.outcome ?? null, entry.timestamp, entry.payload, entry.disclosures, HASHES[i % 64], HASHES[(i + 1) % 64],
    );
  }
  return values;
}

process.on('message', ({ side, seconds }: AppendOrder) => void run(side, seconds));
process.once('SIGTERM', () => process.exit(0));

/** As a server, which does not stand still while the database writes: each side sends one batch at a time, and makes the next meanwhile. */
async function repeat<Batch>(seconds: number, make: () => Batch, send: (made: Batch) => Promise<unknown>): Promise<Appended> {
  const begin = performance.now();
  const end = begin + seconds * 1_000;
  let rows = 0;
  for (let ready = make(); performance.now() < end; rows += batch) {
    const sent = send(ready);
    // What is sent goes out before the next is made.
    await new Promise(setImmediate);
    ready = make();
    await sent;
  }
  return { rows, seconds: (performance.now() - begin) / 1_000 };
}

async function run(side: AppendOrder['side'], seconds: number): Promise<void> {
  process.send!(side === 'bare'
    ? await repeat(seconds, valuesOfNext, (values) => plain.query({ ...insertBare, values }))
    : await repeat(seconds, () => made(side), append));
}

process.send!('ready');

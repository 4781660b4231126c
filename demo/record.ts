import { spawn } from 'node:child_process';
import { join } from 'node:path';
import pg from 'pg';
import { checkoutRoot } from '../src/platform/config/checkout-root.js';
import type { Api } from './api.js';
import { DemoStopped, problemOf } from './api.js';
import type { Stage } from './stage.js';

interface Entry {
  readonly id: string;
  readonly event: string;
  readonly seq: number;
  readonly capability?: string;
  readonly hash: string;
  readonly prevHash?: string;
  readonly metadata: { readonly input?: { readonly amount?: unknown } };
}

interface Finding {
  readonly entryId: string | null;
  readonly kind: string;
  readonly detail: string;
}

interface Verified {
  readonly valid: boolean;
  readonly breaks: readonly Finding[];
  readonly entries: number;
  readonly durationMs: number;
}

/** Entries that are shown. */
const SHOWN = 7;

/** Shows the end of the agent's chain and lets the server verify all of it. */
export async function verifyChain(stage: Stage, root: Api, agentId: string, number: number): Promise<void> {
  await stage.scene(number, 'Everything was written down');
  const path = `/api/v1/audit?agent_id=${agentId}&limit=${SHOWN}`;
  const { entries: newest, total } = await root.expect<{ entries: Entry[]; total: number }>(200, 'GET', path);
  stage.say('Each entry seals the one before it: its hash goes into the next.', 'dim');
  stage.line();
  const earlier = total - newest.length;
  if (earlier > 0) stage.line(stage.paint('dim', `     ⋮   ${earlier} earlier entries`));
  for (const { seq, event, capability = '', hash } of [...newest].reverse()) {
    const link = stage.paint('chain', `⬡ ${hash.slice(0, 10)}`);
    const position = stage.paint('dim', String(seq).padStart(4));
    stage.line(`${position} ${link}  ${event.padEnd(22)} ${stage.paint('dim', capability)}`.trimEnd());
    await stage.beat(90);
  }
  stage.line();
  const answer = await stage.during('verifying', root.send<Verified>('GET', `/api/v1/audit/verify?agent_id=${agentId}`));
  stage.line(stage.paint('dim', 'GET /api/v1/audit/verify?agent_id=…'));
  if (answer.status === 429) {
    // One a minute for each key: somebody else has just asked with this one.
    stage.outcome(problemOf(answer), 'person');
    return;
  }
  if (answer.status !== 200) throw new DemoStopped(`The verification was answered ${answer.status}: ${problemOf(answer)}`, 1);
  const { valid, breaks, entries, durationMs } = answer.body;
  if (!valid) throw new DemoStopped(`This chain does not hold: ${breaks[0]?.detail ?? 'no detail'}`, 1);
  stage.outcome(`✔ all ${entries} entries are as they were written (${durationMs} ms)`, 'shop');
}

interface Tampering {
  readonly root: Api;
  readonly agentId: string;
  readonly databaseUrl: string;
  /** The order that was approved, and the name of its capability. */
  readonly order: { readonly capability: string; readonly amount: number };
  readonly signal: AbortSignal;
}

/** Changes an entry behind the server's back, and lets the operator's command find it. */
export async function tamper(stage: Stage, tampering: Tampering, number: number): Promise<void> {
  const { root, agentId, databaseUrl, order, signal } = tampering;
  await stage.scene(number, 'Somebody with the database\'s password');
  const target = await entryOf(root, agentId, order);
  const less = Math.round(order.amount / 10);
  stage.say(`… wants what was approved to have been EUR ${less}, not ${order.amount}. Past the server, by SQL,`
    + ' as the owner of the tables, who can put aside the trigger that refuses it:', 'dim');
  stage.line();
  stage.line('ALTER TABLE audit_entries DISABLE TRIGGER USER;');
  stage.line(`UPDATE audit_entries SET disclosures = replace(disclosures, '${order.amount}', '${less}')`);
  stage.line(`WHERE id = '${target.id}';`);
  await change(databaseUrl, target.id, order.amount, less);
  stage.outcome('UPDATE 1, and no trace of it anywhere else.');
  await stage.beat(1_200);
  stage.line();
  stage.line(`${stage.paint('bold', '$ node bin/countersign.mjs audit verify --database-url …')}`);
  const { exitCode, answer, output } = await stage.during('reading the log', runVerify(databaseUrl, ['--json'], signal));
  const found = findings(answer).find(({ entryId }) => entryId === target.id);
  if (exitCode !== 1 || found === undefined) {
    throw new DemoStopped(`The tampering was not found: the command ended with ${exitCode}.\n${output}`, 1);
  }
  const report = await stage.during('reading the log', runVerify(databaseUrl, [], signal));
  stage.quote(report.output, 'stop');
  stage.outcome(`exit code ${exitCode}: found, and named: entry ${target.seq} (${target.event} of ${order.capability})`, 'shop');
}

async function entryOf(root: Api, agentId: string, { capability, amount }: Tampering['order']): Promise<Entry> {
  const { entries } = await root.expect<{ entries: Entry[] }>(
    200, 'GET', `/api/v1/audit?agent_id=${agentId}&event_type=hitl.created&limit=100`,
  );
  const entry = entries.find((one) => one.capability === capability && one.metadata.input?.amount === amount);
  if (!entry) throw new DemoStopped('There is no entry about the large order.', 1);
  return entry;
}

async function change(databaseUrl: string, id: string, amount: number, less: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('ALTER TABLE audit_entries DISABLE TRIGGER USER');
    const sql = 'UPDATE audit_entries SET disclosures = replace(disclosures, $2, $3) WHERE id = $1';
    const { rowCount } = await client.query(sql, [id, String(amount), String(less)]);
    await client.query('ALTER TABLE audit_entries ENABLE TRIGGER USER');
    if (rowCount !== 1) throw new DemoStopped(`The update changed ${rowCount} rows.`, 1);
  } finally {
    await client.end();
  }
}

interface Ended {
  readonly exitCode: number;
  /** What it wrote to its standard output. */
  readonly answer: string;
  /** And all that it wrote, in this order. */
  readonly output: string;
}

function runVerify(databaseUrl: string, more: readonly string[], signal: AbortSignal): Promise<Ended> {
  const bin = join(checkoutRoot(), 'bin', 'countersign.mjs');
  const child = spawn(process.execPath, [bin, 'audit', 'verify', '--database-url', databaseUrl, ...more], {
    stdio: ['ignore', 'pipe', 'pipe'], signal,
  });
  let [answer, output] = ['', ''];
  child.stdout.on('data', (part: Buffer) => void (answer += part.toString('utf8')));
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => void (output += part.toString('utf8')));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ exitCode: exitCode ?? -1, answer, output }));
  });
}

function findings(answer: string): readonly Finding[] {
  try {
    return (JSON.parse(answer) as { breaks: Finding[] }).breaks;
  } catch {
    return [];
  }
}

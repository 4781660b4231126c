import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { bodyOf, type Figure } from './figures.js';
import type { Stage } from './stage.js';

/** What the governed server has written of one capability. */
export interface Written {
  readonly executions: number;
  /** Executions with the status that the figure ends with. */
  readonly asWanted: number;
  readonly entries: Readonly<Record<string, number>>;
}

export async function written(database: pg.Client, { capability, status, events }: Figure): Promise<Written> {
  const { rows } = await database.query<{ executions: number; as_wanted: number }>(
    `select count(*)::integer as executions, count(*) filter (where status = $2)::integer as as_wanted
     from executions where capability = $1`,
    [capability, status],
  );
  const counted = await database.query<{ event: string; count: number }>(
    'select event, count(*)::integer as count from audit_entries where capability = $1 and event = any ($2) group by event',
    [capability, events],
  );
  const found = new Map(counted.rows.map(({ event, count }) => [event, count]));
  return {
    executions: rows[0]!.executions,
    asWanted: rows[0]!.as_wanted,
    entries: Object.fromEntries(events.map((event) => [event, found.get(event) ?? 0])),
  };
}

/** Waits until calls that were cut off on the wire have come to their end, then reads. */
export async function settled(database: pg.Client, figure: Figure): Promise<Written> {
  let before = await written(database, figure);
  for (;;) {
    await delay(300);
    const now = await written(database, figure);
    if (isDeepStrictEqual(now, before)) return now;
    before = now;
  }
}

/**
 * Makes some calls and reads each answer: as many executions with as many entries of each kind must then have been added,
 * each under the id that was answered. Warms the server up besides.
 */
export async function checkExactly(stage: Stage, figure: Figure, tokens: readonly string[], calls: number): Promise<void> {
  const before = await written(stage.database, figure);
  const ids = new Set<string>();
  let next = 0;
  const call = async () => {
    while (next < calls) ids.add(await executionId(stage, figure, tokens[next++ % tokens.length]!));
  };
  await Promise.all(Array.from({ length: 64 }, call));
  const after = await settled(stage.database, figure);
  expect(`${figure.key}: executions with the ids of ${calls} answers`, await executionsNamed(stage.database, ids), calls);
  expect(`${figure.key}: executions for ${calls} answers`, after.executions - before.executions, calls);
  for (const event of figure.events) {
    expect(`${figure.key}: entries ${event}`, after.entries[event]! - before.entries[event]!, calls);
  }
}

async function executionsNamed(database: pg.Client, ids: ReadonlySet<string>): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    'select count(*)::integer as count from executions where id = any ($1)',
    [[...ids]],
  );
  return rows[0]!.count;
}

async function executionId(stage: Stage, figure: Figure, token: string): Promise<string> {
  const response = await fetch(`${stage.governed.url}/api/v1/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: bodyOf(figure.capability),
  });
  const answer = (await response.json()) as { status?: string; executionId?: string };
  if (!response.ok || answer.status !== figure.status || answer.executionId === undefined) {
    throw new Error(`${figure.key}: a call was answered ${response.status} ${JSON.stringify(answer)}`);
  }
  return answer.executionId;
}

/**
 * After the load: an execution for each answer, besides at most one per connection that was cut off at the end of each
 * stretch; all with the right status; and exactly one entry of each kind for each of them.
 */
export async function checkLoad(
  stage: Stage, figure: Figure, before: Written, answered: number, cutOff: number,
): Promise<Written> {
  const after = await settled(stage.database, figure);
  const executions = after.executions - before.executions;
  if (executions < answered || executions > answered + cutOff) {
    throw new Error(`${figure.key}: ${executions} executions for ${answered} answers (at most ${cutOff} were cut off)`);
  }
  expect(`${figure.key}: executions that are ${figure.status}`, after.asWanted, after.executions);
  for (const event of figure.events) expect(`${figure.key}: entries ${event}`, after.entries[event]!, after.executions);
  return after;
}

export interface Verified {
  readonly valid: boolean;
  readonly entries: number;
  readonly chains: number;
  readonly durationMs: number;
}

/** `countersign audit verify` over everything that the load has written. Of the integrity alone: some loads put rows in by SQL. */
export async function verifyLog({ databaseUrl }: Stage): Promise<Verified> {
  const cli = fileURLToPath(new URL('../src/cli/main.js', import.meta.url));
  const child = spawn(process.execPath, [cli, 'audit', 'verify', '--integrity', '--no-remember', '--json'], {
    env: { ...process.env, DATABASE_URL: databaseUrl }, stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise((done) => child.once('close', done));
  const { valid, entries, chains, durationMs } = JSON.parse(output || '{}') as Verified;
  if (code !== 0 || !valid) throw new Error(`the audit log does not verify (exit ${String(code)}): ${output.slice(0, 2_000)}`);
  return { valid, entries, chains, durationMs };
}

function expect(what: string, found: number, wanted: number): void {
  if (found !== wanted) throw new Error(`${what}: ${found} instead of ${wanted}`);
}

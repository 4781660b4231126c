// What several servers on one database do together, and what a call costs of processor time and of disk: what docs/scaling.md rests on.
import type pg from 'pg';
import { bodyOf, FIGURES } from '../../figures.js';
import type { Goal } from '../../goals.js';
import { median } from '../../measure.js';
import { cpuSeconds } from '../../processes.js';
import { cell, table, whole } from '../../report.js';
import type { Study, StudyContext } from '../../study.js';

const COUNTS = [1, 2, 4] as const;
const RECEIPT = FIGURES.find(({ key }) => key === 'receipt')!;

interface Server {
  readonly url: string;
  readonly pid: number;
}

/** One stretch of load on as many servers. */
interface Stretch {
  readonly requestsPerSecond: number;
  /** Milliseconds, of the slowest server. */
  readonly p99: number;
  /** Microseconds a call, of all servers together and of PostgreSQL. */
  readonly serverCpu: number;
  readonly databaseCpu: number;
  /** Bytes a call. */
  readonly wal: number;
}

type Round = Readonly<Record<number, Stretch>>;

/** The same connections in all, spread over one, two and four servers in turn; the first round is thrown away. */
export const serversStudy: Study = {
  key: 'servers',
  onlyWhenNamed: true,
  run: async (context) => {
    const { stage, options, progress } = context;
    progress.begin('starting servers', 1);
    const servers: Server[] = [stage.governed];
    while (servers.length < COUNTS.at(-1)!) servers.push(await stage.anotherServer(`governed-${servers.length + 1}`));
    const count = Math.ceil(options.pairs / 2);
    progress.begin('Calls to several servers', (count + 1) * COUNTS.length);
    const rounds: Round[] = [];
    const before = await sizes(stage.database);
    for (let round = 0; round <= count; round++) {
      const stretches: Record<number, Stretch> = {};
      for (const many of round % 2 === 0 ? COUNTS : COUNTS.toReversed()) {
        stretches[many] = await stretch(context, servers.slice(0, many));
        progress.step(`${many}: ${whole(stretches[many].requestsPerSecond)} a second`);
      }
      if (round > 0) rounds.push(stretches);
    }
    const after = await sizes(stage.database);
    const kept = { table: perCall(before, after, 'tables'), index: perCall(before, after, 'indexes') };
    const deadlocks = after.deadlocks - before.deadlocks;
    const goal: Goal = { what: 'deadlocks of several servers', value: deadlocks, wanted: 0, bound: 'most', unit: '' };
    return { text: textOf(rounds, kept, deadlocks), values: { figure: 'servers', rounds, kept, deadlocks }, goals: [goal] };
  },
};

async function stretch({ stage, tokens, load, options }: StudyContext, servers: readonly Server[]): Promise<Stretch> {
  const connections = Math.floor(options.connections / servers.length);
  const at = (seconds: number) => Promise.all(servers.map(({ url }, nth) => {
    // Each begins elsewhere, as callers do.
    const first = Math.floor((nth * tokens.length) / servers.length);
    const order = [...tokens.slice(first), ...tokens.slice(0, first)];
    return load.run({ url: `${url}/api/v1/execute`, tokens: order, body: bodyOf(RECEIPT.capability), connections, seconds });
  }));
  await at(options.warmUpSeconds);
  const spent = () => ({
    servers: servers.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0), database: cpuSeconds(stage.databasePid, true),
  });
  const [before, walBefore] = [spent(), await walBytes(stage.database)];
  const results = await at(options.seconds);
  const [after, walAfter] = [spent(), await walBytes(stage.database)];
  const failed = results.reduce((sum, result) => sum + result.failed, 0);
  if (failed > 0) throw new Error(`servers: ${failed} calls failed`);
  const requests = results.reduce((sum, result) => sum + result.requests, 0);
  return {
    requestsPerSecond: results.reduce((sum, result) => sum + result.requestsPerSecond, 0),
    p99: Math.max(...results.map(({ p99 }) => p99)),
    serverCpu: ((after.servers - before.servers) / requests) * 1e6,
    databaseCpu: ((after.database - before.database) / requests) * 1e6,
    wal: (walAfter - walBefore) / requests,
  };
}

async function walBytes(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ bytes: string }>(`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as bytes`);
  return Number(rows[0]!.bytes);
}

interface Sizes {
  readonly tables: number;
  readonly indexes: number;
  readonly executions: number;
  readonly deadlocks: number;
}

async function sizes(database: pg.Client): Promise<Sizes> {
  const { rows } = await database.query<Record<keyof Sizes, string>>(
    `select sum(pg_table_size(relid)) as tables, sum(pg_indexes_size(relid)) as indexes, (select count(*) from executions) as executions,
       (select deadlocks from pg_stat_database where datname = current_database()) as deadlocks
     from pg_stat_user_tables where relname <> 'bare_calls'`,
  );
  const { tables, indexes, executions, deadlocks } = rows[0]!;
  return { tables: Number(tables), indexes: Number(indexes), executions: Number(executions), deadlocks: Number(deadlocks) };
}

function perCall(before: Sizes, after: Sizes, what: 'tables' | 'indexes'): number {
  return (after[what] - before[what]) / (after.executions - before.executions);
}

function textOf(rounds: readonly Round[], kept: { readonly table: number; readonly index: number }, deadlocks: number): string {
  const rows = COUNTS.map((many) => {
    const of = (read: (stretch: Stretch) => number) => median(rounds.map((round) => read(round[many]!)));
    const ratios = rounds.map((round) => round[many]!.requestsPerSecond / round[1]!.requestsPerSecond);
    return [
      String(many), whole(of((one) => one.requestsPerSecond)), cell(median(ratios), 2), cell(of((one) => one.p99)),
      whole(of((one) => one.serverCpu)), whole(of((one) => one.databaseCpu)), whole(of((one) => one.wal)),
    ];
  });
  return [
    '',
    `  Several servers on one database (medians of ${rounds.length}): ${whole(kept.table)} bytes of tables and ${whole(kept.index)} of ` +
      `indexes a call, ${deadlocks} deadlocks`,
    '',
    ...table(['servers', 'calls/s', 'to one', 'p99 ms', 'servers µs', 'PostgreSQL µs', 'WAL bytes'], rows, false),
    '',
  ].join('\n');
}

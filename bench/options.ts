import { parseArgs } from 'node:util';

export interface Options {
  /** Pairs of the two main figures; the others take about half as many. */
  readonly pairs: number;
  /** Seconds of one measured phase, after its warm-up. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly connections: number;
  readonly agents: number;
  readonly poolSize: number;
  /** Keys of the figures to take; empty: all. */
  readonly only: readonly string[];
  readonly load: 'wrk' | 'autocannon' | 'any';
  readonly json?: string;
  /** How many entries the studies of the log write beside which they measure. */
  readonly entries: number;
  /** Over how many organizations these entries are spread. */
  readonly organizations: number;
  /** How many calls to models are made, between which memory is compared. */
  readonly calls: number;
  /** Folder for the plans of what the audit query asks the database. */
  readonly plans?: string;
  readonly dataDir?: string;
  /** Folder with `initdb` and `postgres` of another PostgreSQL than the embedded one. */
  readonly postgres?: string;
  /** Settings of PostgreSQL, by name; its own defaults stand for the rest. */
  readonly settings: Readonly<Record<string, string>>;
  /** Folder for CPU profiles of both servers. Profiling slows both down: such figures are no results. */
  readonly profile?: string;
}

export const USAGE = `npm run bench -- [options]

  --quick            3 short pairs of each figure, to see whether something is broken
  --pairs N          pairs of the two main figures (9)
  --seconds S        length of a measured phase (4)
  --connections N    connections of the load generator (64)
  --agents N         agents that call in turn (1000)
  --pool N           connections of each server to PostgreSQL (10)
  --only a,b         only these figures: receipt, connector, hot, pending, approve, sweep; and, only where they are named,
                     key, blocked, secret, mcp, node, resolve, chain, notify, integrate, llm, pii, sdk, servers, metrics, capacity, and
                     million, append, audit-query, verify, backup, growth, each of which takes some 10 minutes
  --entries N        entries beside which append, audit-query and growth measure, and that verify and backup read (2000000;
                     100000 with --quick)
  --organizations N  over how many organizations append and audit-query spread them (1)
  --calls N          llm: memory after N calls is compared with that after a tenth of them (20000)
  --plans DIR        write the plans of what audit-query asks the database to DIR
  --load TOOL        wrk or autocannon; default: wrk where it is installed
  --data-dir DIR     folder for PostgreSQL's files; default: a temporary one on a real disk
  --postgres DIR     folder with initdb and postgres, for instance /usr/lib/postgresql/15/bin; default: the embedded one
  --set NAME=VALUE   a setting of PostgreSQL, for instance shared_buffers=2GB; may be given several times
  --json FILE        write everything that was measured to FILE
  --profile DIR      write CPU profiles of both servers to DIR (the figures are no results then)
`;

/** @throws Error on an unknown option or a number that is none */
export function parseOptions(argv: readonly string[]): Options | 'help' {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean' }, help: { type: 'boolean', short: 'h' }, pairs: text, seconds: text, connections: text,
      agents: text, pool: text, only: text, load: text, 'data-dir': text, json: text, profile: text, entries: text,
      organizations: text, plans: text, calls: text, postgres: text,
      set: { type: 'string', multiple: true },
    },
  });
  if (values.help === true) return 'help';
  const quick = values.quick === true;
  const load = values.load ?? 'any';
  if (load !== 'wrk' && load !== 'autocannon' && load !== 'any') throw new Error('--load is wrk or autocannon');
  return {
    pairs: whole('pairs', values.pairs, quick ? 3 : 9),
    seconds: whole('seconds', values.seconds, quick ? 2 : 4),
    warmUpSeconds: 1,
    connections: whole('connections', values.connections, 64),
    agents: whole('agents', values.agents, 1_000),
    poolSize: whole('pool', values.pool, 10),
    entries: whole('entries', values.entries, quick ? 100_000 : 2_000_000),
    organizations: whole('organizations', values.organizations, 1),
    calls: whole('calls', values.calls, quick ? 5_000 : 20_000),
    ...(values.plans === undefined ? {} : { plans: values.plans }),
    only: values.only?.split(',') ?? [],
    load,
    settings: Object.fromEntries((values.set ?? []).map(settingOf)),
    ...(values.json === undefined ? {} : { json: values.json }),
    ...(values.postgres === undefined ? {} : { postgres: values.postgres }),
    ...(values['data-dir'] === undefined ? {} : { dataDir: values['data-dir'] }),
    ...(values.profile === undefined ? {} : { profile: values.profile }),
  };
}

function settingOf(given: string): [string, string] {
  const [, name, value] = /^([a-z_.]+)=(.+)$/.exec(given) ?? [];
  if (name === undefined || value === undefined) throw new Error('--set is NAME=VALUE, with the name of a PostgreSQL setting');
  return [name, value];
}

function whole(name: string, given: string | undefined, fallback: number): number {
  const value = given === undefined ? fallback : Number(given);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`--${name} must be a whole number from 1`);
  return value;
}

// What a call leaves on the disk, relation by relation, and writes to the log of PostgreSQL: what docs/capacity.md rests on.
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { type Figure, FIGURES } from '../../figures.js';
import { runPhase } from '../../measure.js';
import { table, whole } from '../../report.js';
import type { Study, StudyContext } from '../../study.js';

const KINDS = ['receipt', 'connector', 'pending'].map((key) => FIGURES.find((one) => one.key === key)!);
/** Relations that a call leaves less of are told together. */
const LEAST_BYTES = 5;
const SETTLED_EVERY_MS = 200;

/** Bytes a call. */
interface Left {
  readonly calls: number;
  readonly wal: number;
  /** Of `wal`, whole pages after a checkpoint. */
  readonly pages: number;
  readonly relations: ReadonlyMap<string, number>;
}

export const capacityStudy: Study = {
  key: 'capacity',
  onlyWhenNamed: true,
  run: async (context) => {
    const found = new Map<string, Left>();
    context.progress.begin('What a call leaves', KINDS.length + 1);
    // Nobody is measured while relations have their first pages.
    await leftBy(context, KINDS[0]!);
    context.progress.step();
    for (const figure of KINDS) {
      found.set(figure.key, await leftBy(context, figure));
      context.progress.step();
    }
    return { text: textOf(found), values: { figure: 'capacity', kinds: Object.fromEntries([...found].map(([key, left]) => [
      key, { ...left, relations: Object.fromEntries(left.relations) }])) } };
  },
};

/** From one checkpoint of PostgreSQL to the next, so that dirty pages and whole-page images are in it as a server has them. */
async function leftBy({ stage, tokens, load, options }: StudyContext, figure: Figure): Promise<Left> {
  const { database } = stage;
  await settled(database);
  await stage.checkpoint();
  const before = await state(database);
  await runPhase(stage, 'governed', figure, tokens, load, options);
  await settled(database);
  const after = await state(database);
  const calls = after.executions - before.executions;
  const relations = new Map([...after.sizes].map(([name, size]) => [name, (size - (before.sizes.get(name) ?? 0)) / calls] as const));
  return { calls, wal: (after.wal - before.wal) / calls, pages: ((after.fpi - before.fpi) * 8_192) / calls, relations };
}

/** Until every entry stands in its tree. */
async function settled(database: pg.Client): Promise<void> {
  while ((await database.query('select 1 from audit_tree_queue limit 1')).rowCount !== 0) await pause(SETTLED_EVERY_MS);
}

async function state(database: pg.Client) {
  const { rows: sizes } = await database.query<{ name: string; size: string }>(
    `select c.relname as name, case c.relkind when 'r' then pg_table_size(c.oid) else pg_relation_size(c.oid) end as size
     from pg_class c where c.relkind in ('r', 'i') and c.relnamespace = 'public'::regnamespace and c.relname !~ '^bare_calls'`);
  const { rows: [row] } = await database.query<Record<'executions' | 'wal' | 'fpi', string>>(
    `select (select count(*) from executions) as executions, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal, wal_fpi as fpi
     from pg_stat_wal`);
  const { executions, wal, fpi } = row!;
  return {
    sizes: new Map(sizes.map(({ name, size }) => [name, Number(size)])), executions: Number(executions), wal: Number(wal), fpi: Number(fpi),
  };
}

function textOf(found: ReadonlyMap<string, Left>): string {
  const all = [...found.values()];
  const names = [...new Set(all.flatMap(({ relations }) => [...relations.keys()]))];
  const most = (name: string) => Math.max(...all.map(({ relations }) => relations.get(name) ?? 0));
  const shown = names.filter((name) => most(name) >= LEAST_BYTES).sort((a, b) => most(b) - most(a));
  const of = (name: string) => all.map(({ relations }) => whole(relations.get(name) ?? 0));
  const sum = (some: readonly string[]) =>
    all.map(({ relations }) => whole(some.reduce((total, name) => total + (relations.get(name) ?? 0), 0)));
  return ['', '  Bytes that a call leaves, by relation:', '', ...table(['relation', ...found.keys()], [
    ...shown.map((name) => [name, ...of(name)]),
    ['the others', ...sum(names.filter((name) => !shown.includes(name)))],
    ['together', ...sum(names)],
    ['WAL', ...all.map(({ wal }) => whole(wal))],
    ['of it whole pages, at most', ...all.map(({ pages }) => whole(pages))],
    ['calls measured', ...all.map(({ calls }) => whole(calls))],
  ], false), ''].join('\n');
}

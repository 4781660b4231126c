// How long a page of the log takes, with its total, by each filter and by each two of them, beside millions of entries.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '../../src/domain/ids.js';
import { type AuditFilter, type Selection, selectionOf } from '../../src/modules/audit/query/entry-selection.js';
import { IN_ORDER } from '../../src/modules/audit/query/entry-page.query.js';
import { pageOfEntries, type Wanted } from '../../src/modules/audit/query/entry-page.query.js';
import { capabilityOf, type FilledLog, fillLog, RARE_CAPABILITY } from './fill-log.js';
import type { Options } from '../options.js';
import { cell, table, whole } from '../report.js';
import type { Goal } from '../goals.js';
import type { Study, StudyContext } from '../study.js';

const REPEATS = 10;
const PAGE = 50;
const COUNTED = 10_001;

/** A filter with one of its values: common, rare, or found nowhere. */
interface Asked {
  readonly filter: string;
  readonly value: string;
  readonly label: string;
}

interface Timed {
  readonly filters: string;
  readonly asked: string;
  readonly milliseconds: readonly number[];
  readonly total: number;
}

export const auditQueryStudy: Study = {
  key: 'audit-query',
  onlyWhenNamed: true,
  run: async (context) => {
    const { stage, options, progress } = context;
    const { entries: count, organizations } = options;
    progress.begin(`writing ${whole(count)} entries of ${whole(organizations)} organizations`, 1);
    const log = await fillLog(stage, options, (share) => progress.to(share));
    const all = questionsOf(log);
    progress.begin('asking', all.length);
    const timed: Timed[] = [];
    for (const question of all) {
      timed.push(await time(context, question));
      progress.step(`${question.map(({ label }) => label).join(' × ')}`);
    }
    if (options.plans !== undefined) await savePlans(context, all, options.plans);
    const value = Math.max(...timed.map(({ milliseconds }) => quantile(milliseconds.toSorted((a, b) => a - b), 0.95)));
    const goal: Goal = { what: 'page of entries by the slowest filters, p95', value, wanted: 50, bound: 'most', unit: 'ms' };
    return { text: textOf(options, timed), values: { figure: 'audit query', entries: count, organizations, timed }, goals: [goal] };
  },
};

function questionsOf(log: FilledLog): Asked[][] {
  const { organizations, hot, busyUser, users, begin, end } = log;
  const [own, last] = [organizations[0]!, organizations.at(-1)!];
  const at = (share: number) => new Date(begin + (end - begin) * share).toISOString();
  const values: Record<string, Record<string, string>> = {
    event: { common: 'execution.started', middle: 'hitl.approved', rare: 'hitl.escalated', none: 'llm.request' },
    agentId: { hot, ordinary: last.agents[1]!, none: newId('agt') },
    userId: { busy: busyUser, ordinary: users[7]!, root: 'root', none: newId('usr') },
    capability: { common: capabilityOf(0), 'not of the hot agent': capabilityOf(1), rare: RARE_CAPABILITY, none: 'bench.none' },
    outcome: { success: 'success', executed: 'executed', failure: 'failure', blocked: 'blocked' },
    organizationId: { own: own.id, ...(last === own ? {} : { ordinary: last.id }), none: newId('org') },
    from: { early: at(0.01), middle: at(0.97), late: at(0.999), never: at(2) },
    to: { late: at(0.99), early: at(0.001), never: at(-1) },
  };
  const single = Object.entries(values).flatMap(([filter, given]) =>
    Object.entries(given).map(([label, value]) => ({ filter, value, label: `${filter} ${label}` })));
  const pairs = single.flatMap((one, i) =>
    single.slice(i + 1).filter(({ filter }) => filter !== one.filter).map((other) => [one, other]));
  return [[], ...single.map((one) => [one]), ...pairs];
}

/** As a client asks, over HTTP. @throws Error on an answer other than 200 */
async function time({ stage: { governed } }: StudyContext, question: readonly Asked[]): Promise<Timed> {
  const query = new URLSearchParams({ limit: String(PAGE), ...Object.fromEntries(question.map(({ filter, value }) => [filter, value])) });
  const path = `/api/v1/audit?${query.toString()}`;
  const milliseconds: number[] = [];
  let total = 0;
  for (let i = 0; i <= REPEATS; i++) {
    const begin = performance.now();
    const response = await fetch(governed.url + path, { headers: { authorization: `Bearer ${governed.rootKey}` } });
    const text = await response.text();
    if (i > 0) milliseconds.push(performance.now() - begin);
    if (response.status !== 200) throw new Error(`audit-query: GET ${path} answered ${response.status}: ${text.slice(0, 500)}`);
    ({ total } = JSON.parse(text) as { total: number });
  }
  return {
    filters: question.map(({ filter }) => filter).join(' × ') || 'none',
    asked: question.map(({ label }) => label).join(', '),
    milliseconds,
    total,
  };
}

/** What PostgreSQL does for each, page and count, with the buffers that it reads: one file a pair of filters. */
async function savePlans({ stage: { database } }: StudyContext, questions: readonly Asked[][], folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const { rows } = await database.query<{ id: string; chain: string }>('select organization_id as id, chain from audit_heads');
  const everywhere = ({ chain }: Selection) =>
    [...new Set(rows.filter((row) => chain === undefined || row.chain === chain).map(({ id }) => id))];
  const files = new Map<string, string>();
  for (const question of questions) {
    const given = Object.fromEntries(question.map(({ filter, value }) => [filter, value]));
    const { from, to, organizationId, ...rest } = given;
    const filter: AuditFilter = { ...rest, ...(from ? { from: new Date(from) } : {}), ...(to ? { to: new Date(to) } : {}) };
    const selection = selectionOf(filter);
    const name = question.map((one) => one.filter).join('-') || 'none';
    const asked = question.map(({ label }) => label).join(', ');
    let text = `${files.get(name) ?? ''}== ${asked}\n`;
    const organizations = organizationId !== undefined ? [organizationId] : selection === undefined ? [] : everywhere(selection);
    if (selection === undefined || organizations.length === 0) text += 'answered without reading: no entry can fit\n\n';
    else text += `${(await plansOf(database, { selection, organizations })).join('\n\n')}\n\n`;
    files.set(name, text);
  }
  for (const [name, text] of files) writeFileSync(join(folder, `${name}.txt`), text);
}

async function plansOf(database: StudyContext['stage']['database'], wanted: Wanted): Promise<string[]> {
  const plans: string[] = [];
  await database.query(`begin; ${IN_ORDER}`);
  await pageOfEntries(async (sql, parameters) => {
    const { rows } = await database.query<Record<'QUERY PLAN', string>>(`explain (analyze, buffers) ${sql}`, [...parameters]);
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    return (await database.query<Record<string, unknown>>(sql, [...parameters])).rows;
  }, wanted, { limit: PAGE, offset: 0 }, COUNTED);
  await database.query('commit');
  return plans;
}

const quantile = (sorted: readonly number[], share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;

function textOf({ entries, organizations }: Options, timed: readonly Timed[]): string {
  const names = [...new Set(timed.map(({ filters }) => filters))];
  const rows = names.map((name) => {
    const asked = timed.filter(({ filters }) => filters === name);
    const slowest = asked.map((one) => ({ ...one, p95: quantile(one.milliseconds.toSorted((a, b) => a - b), 0.95) }))
      .sort((a, b) => b.p95 - a.p95)[0]!;
    const sorted = asked.flatMap(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
    return [
      name, String(asked.length), cell(quantile(sorted, 0.5)), cell(quantile(sorted, 0.95)), cell(slowest.p95), slowest.asked,
      whole(slowest.total),
    ];
  });
  const every = timed.flatMap(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  const of = `${whole(organizations)} ${organizations === 1 ? 'organization' : 'organizations'}`;
  return [
    '',
    `  A page of ${PAGE} with its total, beside ${whole(entries)} entries of ${of}: ` +
      `p95 ${cell(quantile(every, 0.95))} ms over all that was asked`,
    '',
    ...table(['filters', 'asked', 'p50 ms', 'p95 ms', 'slowest p95', 'which', 'total'], rows, false),
    '',
  ].join('\n');
}

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import { type AuditFilter, selectionOf } from '../../../src/modules/audit/query/entry-selection.js';
import { keyOf } from '../../../src/modules/audit/query/index-scan.js';
import { IN_ORDER } from '../../../src/modules/audit/query/entry-page.query.js';
import { pageOfEntries } from '../../../src/modules/audit/query/entry-page.query.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';
import { CAPABILITY, type LogAcross, logAcross, SELDOM } from '../../support/log/log-across.js';

const ORGANIZATIONS = 200;
const ROUNDS = 12;
const MOST = 10_001;

interface Row {
  readonly id: string;
  readonly organization_id: string;
  readonly event: string;
  readonly actor_id: string;
  readonly capability: string | null;
  readonly outcome: string | null;
  readonly timestamp: string;
}

let database: TestDatabase;
let client: pg.Client;
let log: LogAcross;
/** Newest first. */
let entries: readonly Row[];
let organizations: readonly string[];
let subjects: ReadonlySet<string>;

beforeAll(async () => {
  database = await createTestDatabase();
  log = await logAcross(database, ORGANIZATIONS, ROUNDS);
  entries = await database.sql<Row & pg.QueryResultRow>(
    'select id, organization_id, event, actor_id, capability, outcome, "timestamp" from audit_entries order by id desc');
  organizations = (await database.sql<{ id: string }>('select distinct organization_id as id from audit_heads')).map(({ id }) => id);
  const about = await database.sql<{ key: string }>(`select user_id || ' ' || entry_id as key from audit_subjects`);
  subjects = new Set(about.map(({ key }) => key));
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

type Run = Parameters<typeof pageOfEntries>[0];

async function inOrder<Answer>(ask: (run: Run) => Promise<Answer>): Promise<Answer> {
  await client.query(`begin; ${IN_ORDER}`);
  try {
    return await ask(async (sql, parameters) => (await client.query<Record<string, unknown>>(sql, [...parameters])).rows);
  } finally {
    await client.query('rollback');
  }
}

const isRight = ({ outcome }: Row, wanted: string) => outcome === wanted || (wanted === 'success' && outcome === 'executed');

function fits(row: Row, { event, userId, capability, outcome, from, to }: AuditFilter): boolean {
  return (event === undefined || row.event === event)
    && (userId === undefined || row.actor_id === userId || subjects.has(`${userId} ${row.id}`))
    && (capability === undefined || row.capability === capability)
    && (outcome === undefined || isRight(row, outcome))
    && (from === undefined || row.timestamp >= from.toISOString())
    && (to === undefined || row.timestamp <= to.toISOString());
}

/** All pages by the cursor, and a page from within by the offset, each with its total. */
async function found(filter: AuditFilter, limit: number, pages: number) {
  const selection = selectionOf(filter);
  if (selection === undefined) return undefined;
  expect(keyOf(selection)).toBe('id');
  const wanted = { selection, organizations };
  return inOrder(async (run) => {
    const ids: string[] = [];
    const totals = new Set<number>();
    for (let i = 0; i < pages; i++) {
      const after = ids.length === 0 ? {} : { after: [ids.at(-1)!] };
      const [page, total] = await pageOfEntries(run, wanted, { limit, offset: 0, ...after }, MOST);
      totals.add(total);
      ids.push(...page.slice(0, limit).map(({ id }) => id));
      if (page.length <= limit) break;
    }
    const [within] = await pageOfEntries(run, wanted, { limit, offset: limit + 3 }, MOST);
    return { ids, totals: [...totals], within: within.map(({ id }) => id) };
  });
}

const maybe = <Value>(value: fc.Arbitrary<Value>) =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: 2 }, { arbitrary: value, weight: 1 });
const moment = () => fc.constantFrom(0, 0.2, 0.7, 0.9, 0.99, 0.999, 1.1).map((share) => new Date(log.at(share)));

describe('whoever sees all organizations finds what a filter names and nothing else', () => {
  test('by whichever way, page by page and from within, with the total', async () => {
    const filters = fc.record({
      event: maybe(fc.constantFrom('execution.started', 'hitl.approved', 'admin.team_changed', 'llm.request')),
      outcome: maybe(fc.constantFrom('success', 'executed', 'blocked', 'failure')),
      capability: maybe(fc.constantFrom(CAPABILITY, SELDOM, 'no.such')),
      userId: maybe(fc.constantFrom(...log.users, 'root', 'usr_0000000000000000000000000000')),
      from: maybe(moment()),
      to: maybe(moment()),
    });
    await fc.assert(fc.asyncProperty(filters, fc.constantFrom(7, 50, 400), async (given, limit) => {
      const filter = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as AuditFilter;
      const pages = 3;
      const answer = await found(filter, limit, pages);
      const wanted = entries.filter((row) => fits(row, filter)).map(({ id }) => id);
      if (answer === undefined) return expect(wanted).toEqual([]);
      expect(answer).toEqual({
        ids: wanted.slice(0, pages * limit), totals: [wanted.length], within: wanted.slice(limit + 3, 2 * limit + 4),
      });
    }), { numRuns: 40, seed: 4 });
  });
});

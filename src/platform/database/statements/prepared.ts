import { createHash } from 'node:crypto';
import type { QueryRunner } from 'typeorm';
import type { NamedStatement } from './named-statement.js';

/**
 * So many texts at most are prepared on a connection: those of the code are fewer, and whatever is put together for one occasion
 * must not fill the memory of every connection.
 */
const MOST = 500;
const names = new Map<string, string>();

/** The statement with the name under which a connection keeps it, from its text; undefined when there are too many already. */
export function toNamedStatement(text: string): NamedStatement | undefined {
  let name = names.get(text);
  if (name === undefined) {
    if (names.size >= MOST) return undefined;
    name = `by-text-${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
    names.set(text, name);
  }
  return { name, text };
}

const BEGIN = 'START TRANSACTION';
// One plan for all values, made once a connection. It outlives the moment when a table was small, so rows are looked up by their
// keys in it, and in no other way; a plan for these very values is made each time where a set may be of any size, which is dearer
// than the statement itself. Such switches make plans look dear, and worth compiling: never.
const BEGIN_BY_KEY = [
  BEGIN, ...['plan_cache_mode = force_generic_plan', 'enable_seqscan = off', 'enable_hashjoin = off', 'enable_mergejoin = off', 'jit = off']
    .map((setting) => `SET LOCAL ${setting}`),
].join('; ');

/**
 * Sends the beginning of a transaction, so that what is sent next follows it at once; TypeORM's `startTransaction` then waits for
 * its answer. And lets the runner prepare its statements, TypeORM's own among them: a unit of work asks the same dozen questions
 * each time. Planned anew each, an approval with all that follows took PostgreSQL half as much time again.
 *
 * What is prepared stays with its connection, so a connection must be a session (no pooler by transaction), and a migration beside
 * a running server may add columns, but not change the type of one: PostgreSQL refuses a kept plan whose result would differ.
 * Columns are therefore named, and never `*` of a table.
 *
 * @param patienceMs how long the transaction waits for each lock; without it, as the session does
 */
export async function preparing(runner: QueryRunner, patienceMs?: number): Promise<QueryRunner> {
  await runner.connect();
  const begin = patienceMs === undefined ? BEGIN_BY_KEY : `${BEGIN_BY_KEY}; SET LOCAL lock_timeout = ${Math.ceil(patienceMs)}`;
  const query = runner.query.bind(runner) as (text: unknown, parameters?: unknown[], structured?: boolean) => Promise<unknown>;
  const begun = query(begin);
  // TypeORM awaits it a little later, and sees the failure there.
  begun.catch(() => undefined);
  runner.query = ((text: string, parameters?: unknown[], structured?: boolean) => {
    if (text === BEGIN) return begun;
    const bound = parameters !== undefined && parameters.length > 0;
    // pg takes a statement with its name where TypeORM takes its text, and TypeORM hands it on as it is.
    return query((bound && toNamedStatement(text)) || text, parameters, structured);
  }) as QueryRunner['query'];
  return runner;
}

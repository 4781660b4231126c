import type { DataSource, QueryRunner } from 'typeorm';
import { resealRecorded, type Work } from './reseal-recorded.query.js';
import { keyIdOf } from '../../platform/secrets/fingerprint.js';
import { SealedBox } from '../../platform/secrets/sealed-box.js';
import { others, SEALED_COLUMNS, type SealedColumn } from './sealed-columns.js';

const BATCH = 100;
/** Rows that servers are just writing are passed over, and looked at again after so many milliseconds. */
const AGAIN_MS = 200;
const MOST_PASSES = 100;

export interface Resealed {
  readonly resealed: number;
  /** Sealed by no key that is known here, or for another row. They stay as they are. */
  readonly unreadable: number;
  /** Still sealed by another key, and held by servers all the time. */
  readonly left: number;
}

export interface ResealKeys {
  readonly encryptionKey: string;
  readonly encryptionKeyAccepted?: string | undefined;
}

/**
 * Seals by ENCRYPTION_KEY what was sealed by another key, in batches of 100 rows that are committed each by itself; what has its key's id
 * is left alone, so that one that was killed goes on where it was. It never waits for a row that a server holds, and so keeps none waiting
 * that it waits for.
 */
export async function resealAll(dataSource: DataSource, keys: ResealKeys, onProgress: (done: number) => void): Promise<Resealed> {
  const box = new SealedBox(keys);
  const id = keyIdOf(keys.encryptionKey);
  const runner = dataSource.createQueryRunner();
  const outcome = { resealed: 0, unreadable: 0, left: 0 };
  try {
    for (let pass = 0; pass < MOST_PASSES; pass++) {
      outcome.unreadable = 0;
      const work: Work = { box, id, outcome, onProgress, writes: true };
      for (const column of SEALED_COLUMNS) {
        if (column.table === 'secrets') await resealRecorded(dataSource, column, work);
        else await resealColumn(runner, column, work);
      }
      outcome.left = (await othersThan(dataSource, id)) - outcome.unreadable;
      if (outcome.left <= 0) break;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
    return { ...outcome, left: Math.max(0, outcome.left) };
  } finally {
    await runner.release();
  }
}

/** How many rows open here and are not sealed by ENCRYPTION_KEY. */
export async function countOthers(dataSource: DataSource, keys: ResealKeys): Promise<number> {
  const runner = dataSource.createQueryRunner();
  const outcome = { resealed: 0, unreadable: 0 };
  const work = { box: new SealedBox(keys), id: keyIdOf(keys.encryptionKey), outcome, onProgress: () => undefined, writes: false };
  try {
    for (const column of SEALED_COLUMNS) await resealColumn(runner, column, work);
    return outcome.resealed;
  } finally {
    await runner.release();
  }
}

async function resealColumn(runner: QueryRunner, column: SealedColumn, { box, id, outcome, onProgress, writes }: Work): Promise<void> {
  const names = Object.keys(column.key);
  let after: unknown[] | undefined;
  for (;;) {
    await runner.startTransaction();
    try {
      const rows = (await runner.query(batchSql(column, after !== undefined, writes), [id, ...(after ?? [])])) as Record<string, unknown>[];
      const fresh = rows.map((row) => {
        const opened = box.open(column.purpose, column.aad(row), row.sealed as Buffer);
        return opened && { row, sealed: box.seal(column.purpose, column.aad(row), opened) };
      }).filter((one) => one !== undefined);
      if (writes && fresh.length > 0) {
        const keys = names.map((name) => fresh.map(({ row }) => row[name]));
        await runner.query(updateSql(column), [...keys, fresh.map(({ sealed }) => sealed)]);
      }
      await runner.commitTransaction();
      outcome.resealed += fresh.length;
      outcome.unreadable += rows.length - fresh.length;
      onProgress(outcome.resealed);
      if (rows.length < BATCH) return;
      after = names.map((name) => rows.at(-1)![name]);
    } catch (error) {
      await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    }
  }
}

function batchSql(column: SealedColumn, isLater: boolean, writes: boolean): string {
  const names = Object.keys(column.key);
  const later = isLater ? ` and (${names.map((name) => `t.${name}`).join(', ')}) > (${names.map((_, at) => `$${at + 2}`).join(', ')})` : '';
  return `select ${[...names, ...(column.more ?? [])].join(', ')}, ${column.bytes} as sealed from ${column.table} t
    where ${others(column)}${later} order by ${names.join(', ')} limit ${BATCH}${writes ? ' for update skip locked' : ''}`;
}

function updateSql({ table, key, set }: SealedColumn): string {
  const names = Object.keys(key);
  const arrays = Object.values(key).map((type, at) => `$${at + 1}::${type}[]`);
  return `update ${table} t set ${set} from unnest(${arrays.join(', ')}, $${names.length + 1}::bytea[]) as n(${names.join(', ')}, fresh)
    where ${names.map((name) => `t.${name} = n.${name}`).join(' and ')}`;
}

async function othersThan(dataSource: DataSource, id: string): Promise<number> {
  let found = 0;
  for (const column of SEALED_COLUMNS) {
    const [row] = await dataSource.query<[{ count: string }]>(`select count(*) from ${column.table} t where ${others(column)}`, [id]);
    found += Number(row.count);
  }
  return found;
}

/** How many rows are sealed by which key, by its id; by something else than an id where they are from before there were ids. */
export async function rowsByKey(dataSource: DataSource): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (const { table, bytes, where } of SEALED_COLUMNS) {
    const rows = await dataSource.query<{ id: string; count: string }[]>(
      `select encode(substring(${bytes} from 1 for 4), 'hex') as id, count(*) from ${table} t
       where ${bytes} is not null${where === undefined ? '' : ` and t.${where}`} group by 1`);
    for (const { id, count } of rows) found.set(id, (found.get(id) ?? 0) + Number(count));
  }
  return found;
}

import type { ReadStatement } from '../../audit/record-keepers.js';

const BATCH = 2_000;

let cursors = 0;

/**
 * Reads a statement's rows a few at a time: memory stays the same however many there are.
 *
 * @param run statements of one transaction
 */
export async function* readByCursor<Row>(
  run: ReadStatement, sql: string, parameters: readonly unknown[], atOnce = BATCH,
): AsyncGenerator<Row[], void, void> {
  const cursor = `reading_${++cursors}`;
  await run(`declare ${cursor} no scroll cursor for ${sql}`, parameters);
  for (;;) {
    const batch = (await run(`fetch ${atOnce} from ${cursor}`, [])) as Row[];
    if (batch.length > 0) yield batch;
    if (batch.length < atOnce) break;
  }
  await run(`close ${cursor}`, []);
}

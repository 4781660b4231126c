import type { ReadStatement } from '../../audit/record-keepers.js';

/**
 * Reads a statement's rows a few at a time: memory stays the same however many there are.
 *
 * @param run statements of one transaction, in which no other cursor of that name is open
 */
export async function* readByCursor<Row>(
  run: ReadStatement, cursor: string, sql: string, parameters: readonly unknown[], atOnce: number,
): AsyncGenerator<Row[], void, void> {
  await run(`declare ${cursor} no scroll cursor for ${sql}`, parameters);
  for (;;) {
    const batch = (await run(`fetch ${atOnce} from ${cursor}`, [])) as Row[];
    if (batch.length > 0) yield batch;
    if (batch.length < atOnce) break;
  }
  await run(`close ${cursor}`, []);
}

import type { Statements } from '../statements/statements.js';
import { Batcher } from './batcher.js';

/** So many keys at most are looked up by one statement. */
const LARGEST = 128;

/**
 * Look-ups by key that come together are one statement: what a statement costs besides its rows is most of it. What anybody gets was
 * read after they asked.
 */
export class GatheredReads<Key, Row extends object> {
  private readonly batcher: Batcher<Key, Row | undefined>;

  /** @param text answers a row for each key that is there, with `n`: its number among the keys, from 1 */
  constructor(
    private readonly statements: Statements,
    private readonly text: string,
    private readonly parametersOf: (keys: readonly Key[]) => unknown[],
  ) {
    this.batcher = new Batcher({
      lanes: 1, largest: LARGEST, longest: Infinity, keyOf: () => '',
      process: async (keys) => (await this.readAll(keys)).map((answer) => ({ kind: 'answer', answer })),
    });
  }

  /** @returns undefined where nothing is there */
  read(key: Key): Promise<Row | undefined> {
    return this.batcher.submit(key);
  }

  private async readAll(keys: readonly Key[]): Promise<(Row | undefined)[]> {
    const rows = await this.statements.byKey<Row & { n: string | number }>(this.text, this.parametersOf(keys));
    const found = new Array<Row | undefined>(keys.length).fill(undefined);
    for (const { n, ...row } of rows) found[Number(n) - 1] = row as unknown as Row;
    return found;
  }
}

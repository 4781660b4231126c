import type { JsonObject } from '../../../domain/json.js';
import { readByCursor } from '../../database/statements/read-by-cursor.js';
import type { ReadStatement } from '../record-keepers.js';

// Holders of personal data read the rows of a person's copy a few at a time, by statements of one reading transaction.

/** Rows in memory at once: each may be as long as a request. */
const ROWS = 100;
/** Rows that one statement looks at where no index finds rows by a person. */
const LOOK = 20_000;

/** A person whom the caller may see. */
export interface FoundPerson {
  readonly id: string;
  /** The person's organizations and others whose log names the person, as far as the caller may see them. */
  readonly organizations: readonly string[];
  /** Runs statements of the transaction that reads the copy. */
  readonly run: ReadStatement;
}

/** Reads rows of a person a few at a time. @param sql `$1` is the person's id; `parameters` are those from `$2` on */
export function rowsAbout<Row>({ id, run }: FoundPerson, sql: string, parameters: readonly unknown[]): AsyncGenerator<Row[]> {
  return readByCursor<Row>(run, sql, [id, ...parameters], ROWS);
}

/**
 * One list of a person's copy, in parts; an empty list is shown, too.
 *
 * @param sql gives a column `row` of JSON; `$1` is the person's id, `$2` their organizations
 */
export async function* listAbout(person: FoundPerson, name: string, sql: string): AsyncGenerator<JsonObject> {
  yield { [name]: [] };
  for await (const rows of rowsAbout<{ row: JsonObject }>(person, sql, [person.organizations])) {
    yield { [name]: rows.map(({ row }) => row) };
  }
}

/** Rows of an organization with ids above one, up to another. */
export type Stretch = readonly [organizationId: string, after: string, last: string];

/**
 * Cuts the rows that a person's organizations have in a table into stretches, by id.
 *
 * @param table by name; it has an index over `organization_id` and `id`
 */
export async function* stretchesOf({ organizations, run }: FoundPerson, table: string): AsyncGenerator<Stretch> {
  const sql = `select max(looked_at.id) as last from (
    select t.id from ${table} t where t.organization_id = $1 and t.id > $2 order by t.id limit $3) looked_at`;
  for (const organizationId of organizations) {
    for (let after = ''; ;) {
      const [end] = (await run(sql, [organizationId, after, LOOK])) as { last: string | null }[];
      const last = end!.last;
      if (last === null) break;
      yield [organizationId, after, last];
      after = last;
    }
  }
}

import pg from 'pg';
import { MAX_DEPTH, shownJson } from '../../../domain/json.js';

/** Half of what has a canonical form: so that a value can stand within another one that is written. */
const MAX_COLUMN_DEPTH = MAX_DEPTH / 2;

/** How every connection of this thread reads columns of JSON. Whoever owns the database can put there what nobody can walk through. */
for (const type of [pg.types.builtins.JSON, pg.types.builtins.JSONB]) {
  pg.types.setTypeParser(type, (text: string) => shownJson(text, MAX_COLUMN_DEPTH));
}

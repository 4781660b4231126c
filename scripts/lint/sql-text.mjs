// Reads which tables a piece of SQL names, and how. Not a parser of SQL: it knows where a table's name can stand.

const TOKEN = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"[^"]+"|\$\{\}|[a-z_][a-z0-9_]*|::|[(),.;]|\S/gi;

const AFTER_TABLE_LIST = new Set(
  ('where join left right inner outer full cross natural on using group order having limit offset fetch for union intersect ' +
    'except returning window set values select when then do with').split(' '),
);

/** True when a string of the program is SQL rather than prose. */
export function looksLikeSql(text) {
  const start = text.replace(/^(\s|--[^\n]*\n|\()+/, '');
  if (/^[A-Z][a-z]/.test(start)) return false;   // "Select an agent from …" opens a sentence
  return (
    /^(select\b|insert\s+into\b|delete\s+from\b|merge\s+into\b|truncate\b|lock\s+table\b)/i.test(start) ||
    /^update\s+(only\s+)?\S+(\s+(as\s+)?\w+)?\s+set\b/i.test(start) ||
    /^with\s+(recursive\s+)?\w+\s*(\([^)]*\)\s*)?as\b/i.test(start) ||
    /^((left|right|inner|full|cross)\s+(outer\s+)?)?join\s/i.test(start) ||
    /^from\s+\w+(\s+(as\s+)?\w+)?\s*(,|$|\b(where|join|left|order|group|limit)\b)/i.test(start) ||
    /(^|\b(and|or|not|exists|in|any|union|all)\s*)\(\s*select\b/i.test(text)
  );
}

/**
 * The tables that `sql` names, in order: `{table, verb}` with verb `read` or `write`. A name put together at run time stands
 * as `${}` in the text and is reported as table `${}`.
 */
export function tablesNamed(sql) {
  const tokens = (sql.match(TOKEN) ?? []).filter((token) => !/^(--|\/\*|')/.test(token));
  const words = tokens.map((token) => token.toLowerCase());
  const named = [];
  for (let at = 0; at < words.length; at += 1) {
    const [previous, word, next] = [words[at - 1], words[at], words[at + 1]];
    if (word === 'into' && (previous === 'insert' || previous === 'merge')) note(at + 1, 'write');
    else if (word === 'update' && isStatement(previous)) note(at + 1, 'write');
    else if (word === 'from' && previous === 'delete') note(at + 1, 'write');
    else if (word === 'truncate') note(next === 'table' ? at + 2 : at + 1, 'write');
    else if (word === 'from' || word === 'using') noteList(at + 1);
    else if (word === 'join') note(at + 1, 'read');
    else if (word === 'table' && previous === 'lock') note(at + 1, 'read');
  }
  return named;

  function note(index, verb) {
    while (words[index] === 'only' || words[index] === 'lateral') index += 1;
    let name = words[index];
    if (name === undefined || name === '(') return index;
    if (words[index + 1] === '.') index += 2;   // public.agents
    name = words[index] ?? '';
    // A function instead of a table (unnest(…), jsonb_to_recordset(…)) is no table.
    const call = words[index + 1] === '(' && verb === 'read';
    if (!call && /^("|\$\{\}|[a-z_])/.test(name)) named.push({ table: name.replaceAll('"', ''), verb });
    return index;
  }

  // FROM a, b AS c, LATERAL f(x) d: a comma at this depth starts another table.
  function noteList(start) {
    note(start, 'read');
    let depth = 0;
    for (let at = start; at < words.length; at += 1) {
      const word = words[at];
      if (word === '(') depth += 1;
      else if (word === ')') depth -= 1;
      if (depth < 0 || word === ';') return;
      if (depth > 0) continue;
      if (AFTER_TABLE_LIST.has(word)) return;
      if (word === ',') note(at + 1, 'read');
    }
  }
}

// `for update`, `for no key update`, `on conflict … do update` and `on update` lock or react; they start no statement.
function isStatement(previous) {
  return !['for', 'key', 'do', 'on', 'or', 'then', 'before', 'after'].includes(previous ?? '');
}

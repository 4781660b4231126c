// npm run erased: erases somebody from a PostgreSQL of the machine's own, half of whose log has been swept, and looks for them in a
// dump, in the data files and in the archive's, unpacked.
// Ends with 0 when nothing of them is left, 1 when something is, 2 without PostgreSQL's programs.
//
// Of the data folder, the write-ahead log (pg_wal) and the server's log are left out: both hold what was, until they rotate
// (docs/operations.md). Before the check every column is set not to compress, so that a text that is there can be found; and that it
// can be found is shown before anything is erased.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { onOwnCluster } from './test/on-own-cluster.mjs';
import { dumpOf, query } from './test/own-cluster.mjs';

const LEFT_OUT = new Set(['pg_wal', 'log']);

await onOwnCluster(check);

async function check({ binaries, dataDir, stop }) {
  const { startServer } = await import('../dist/proofs/test/support/servers/server.js');
  const { NAMES, SIGN_IN, STORY_ENVIRONMENT, theyAreErased, theyWereHere } =
    await import('../dist/proofs/test/support/erasure/erased-story.js');
  const theirs = [...Object.values(NAMES), ...Object.values(SIGN_IN)];
  const texts = [...new Set(theirs.flatMap((text) => [text, text.toLowerCase(), text.toUpperCase()]))];

  const { aged, archiveFolder, swept, verifiedArchives } = await import('../dist/proofs/test/support/retention/retention.js');
  const archive = await archiveFolder();
  const server = await startServer({ env: { ...STORY_ENVIRONMENT, AUDIT_ARCHIVE: archive, AUDIT_CHECKPOINT_SECONDS: '1' } });
  const { superuserUrl: database } = server.database;
  await query(database, ...(await uncompressed(database)));
  const secret = 'canary-of-a-connectors-secret';
  await secretIsUsed(server, secret);
  const userId = await theyWereHere(server, async () => {
    await aged(server.database);
    await swept(server.database, archive);
  });
  // Statistics keep what is common in a column: they have to know the person to be able to forget them.
  await query(database, 'analyze', 'checkpoint');
  const known = report('before', texts, dumpOf(binaries, database), dataDir, archive);
  await theyAreErased(server, userId);
  const { valid, archives } = await verifiedArchives(server.database, archive);
  process.stdout.write(`${archives} archives, which ${valid ? 'verify' : 'do not verify'}\n`);
  const output = server.output();
  await server.kill('SIGTERM');

  const dump = dumpOf(binaries, database);
  // Statistics first: the rows that they replace go with the rest.
  await query(database, 'analyze', 'vacuum full', 'checkpoint');
  await stop();
  const left = report('after', texts, dump, dataDir, archive);
  // A column of bytes stands in a dump as hexadecimal digits.
  const shown = ['utf8', 'hex', 'base64'].map((form) => Buffer.from(secret).toString(form));
  const isSealed = Object.values(report('a secret of a connector', shown, dump, dataDir, archive)).every((found) => found === 0)
    && !shown.some((text) => output.includes(text));
  const inLog = Object.keys(NAMES).length;
  const inTables = inLog + Object.keys(SIGN_IN).length;
  if (known.inDump < inTables || known.inFiles < inTables || known.inArchive < inLog) {
    process.stdout.write('the person could not be found before the erasure either: this proves nothing\n');
    return false;
  }
  const isGone = Object.values(left).every((found) => found === 0);
  process.stdout.write(isGone ? 'nothing of them is left\n' : 'something of them is left\n');
  return isGone && valid && isSealed;
}

/** A connector shows the secret to a receiver, which repeats it in its answer. */
async function secretIsUsed(server, value) {
  const { asRoot } = await import('../dist/proofs/test/support/http/actors.js');
  const { anAgent } = await import('../dist/proofs/test/support/builders/agents.js');
  const { startReceiver } = await import('../dist/proofs/test/support/http/receiver.js');
  const receiver = await startReceiver();
  receiver.standing(({ headers }) => ({ body: { seen: headers.authorization } }));
  const root = asRoot(server);
  (await root.put('/api/v1/secrets/canary', { value, origins: [receiver.url] })).expect(201);
  const connector = { type: 'http', method: 'POST', url: `${receiver.url}/`, headers: { authorization: 'Bearer {secrets.canary}' } };
  (await root.post('/api/v1/capabilities', { name: 'crm.canary', description: 'Shows a secret.', connector })).expect(201);
  const agent = await anAgent(server).granted('crm.canary').create();
  (await agent.client.post('/api/v1/execute', { capability: 'crm.canary' })).expect(200);
  if (receiver.requests[0]?.headers.authorization !== `Bearer ${value}`) throw new Error('the secret was not shown: this proves nothing');
  await receiver.close();
}

/** Says where the texts are. What a table holds stands in a dump as lines below its COPY; those are named, not shown. */
function report(when, texts, dump, dataDir, archive) {
  const [files, archived] = [filesOf(dataDir, LEFT_OUT), filesOf(archive)];
  const inDump = texts.filter((text) => dump.includes(text));
  const tables = new Set();
  let table = '';
  for (const line of dump.split('\n')) {
    table = /^COPY (\S+)/.exec(line)?.[1] ?? (line === '\\.' ? '' : table);
    if (table !== '' && texts.some((text) => line.includes(text))) tables.add(table);
  }
  const found = new Map();
  let bytes = 0;
  for (const file of files) {
    const content = readFileSync(file);
    bytes += content.length;
    const present = texts.filter((text) => content.includes(text, 0, 'utf8'));
    for (const text of present) found.set(text, [...(found.get(text) ?? []), file.slice(dataDir.length + 1)]);
  }
  process.stdout.write(`${when}: ${inDump.length} of ${texts.length} texts in the dump (${dump.length} characters)`
    + `${tables.size === 0 ? '' : `, in ${[...tables].sort().join(', ')}`}\n`
    + `${when}: ${found.size} of ${texts.length} texts in ${files.length} data files (${(bytes / 1e6).toFixed(0)} MB)`
    + `${found.size === 0 ? '' : `, in ${[...new Set([...found.values()].flat())].sort().slice(0, 12).join(', ')}`}\n`);
  const unpacked = archived.map((file) => (file.endsWith('.gz') ? gunzipSync(readFileSync(file)) : readFileSync(file)));
  const inArchive = texts.filter((text) => unpacked.some((content) => content.includes(text, 0, 'utf8')));
  process.stdout.write(`${when}: ${inArchive.length} of ${texts.length} texts in ${archived.length} files of the archive\n`);
  return { inDump: inDump.length, inFiles: found.size, inArchive: inArchive.length };
}

function filesOf(from, leftOut = new Set()) {
  return readdirSync(from, { withFileTypes: true }).flatMap((entry) => {
    if (leftOut.has(entry.name)) return [];
    const path = join(from, entry.name);
    return entry.isDirectory() ? filesOf(path) : entry.isFile() ? [path] : [];
  });
}

async function uncompressed(url) {
  const columns = await query(url, `select format('alter table %I alter column %I set storage external', c.relname, a.attname) as sql
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
      and a.attstorage in ('x', 'm')`);
  return columns.map(({ sql }) => sql);
}

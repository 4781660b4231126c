import { spawn } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type * as VerifierModule from '../../../verifier/verify.mjs';
import { DirectoryArchive } from '../../../src/modules/audit/retention/archives/directory-archive.js';
import { type RetentionConfig, runLogRetention, type RetentionOutcome } from '../../../src/modules/audit/retention/run-retention.js';
import { verifyArchivesOf, type VerifiedArchives } from '../../../src/modules/audit/retention/archives/verify-archives.js';
import { completeConfig, givenSecrets, loadConfig } from '../../../src/platform/config/config.js';
import { countersign, type CommandResult } from '../servers/command-line.js';
import type { TestDatabase } from '../servers/database.js';
import { namesIn, objectsIn } from './archive-objects.js';
import { eventually } from '../running/eventually.js';
import { CHECKOUT, TEST_ENVIRONMENT, runFolder, type Environment } from '../servers/test-run.js';

type Verifier = typeof VerifierModule;

/** A folder for archives. */
export function archiveFolder(): Promise<string> {
  return mkdtemp(join(runFolder(), 'archive-'));
}

const DAY_MS = 86_400_000;
/** Between the last checkpoint that is to be old, and the moment before which all is: more than a period is rounded by, or read late. */
const APART_MS = 500;
/** Until when all is old, by the database's address. */
const oldUntil = new Map<string, number>();

/**
 * Waits until all that was written is under checkpoints, and an anchor knows them; all that is there is old from then on, and nothing that
 * comes: a sweep has a period that reaches back to now. Nobody's clock is turned, since that is what a sweep must not fall for.
 */
export async function aged(database: TestDatabase): Promise<void> {
  await eventually(async () => {
    const [left] = await database.sql<{ queued: string; unsigned: string }>(
      `select (select count(*) from audit_tree_queue) as queued,
         (select count(*) from audit_trees t where not exists (
            select from audit_checkpoints c where c.organization_id = t.organization_id and c.size = t.size)) as unsigned`);
    if (left!.queued !== '0' || left!.unsigned !== '0') throw new Error(`${left!.queued} rows queued, ${left!.unsigned} trees not signed`);
  }, { every: 200 });
  await anchored(database);
  await pause(APART_MS);
  oldUntil.set(database.url, Date.now());
}

/** The period that reaches back to the moment at which everything was old; ten years where nothing is. */
export function retentionDays(database: TestDatabase): number {
  const moment = oldUntil.get(database.url);
  return moment === undefined ? 3_660 : Math.ceil(((Date.now() - moment) / DAY_MS) * 1e6 + 0.5) / 1e6;
}

async function anchored({ sql, anchors }: TestDatabase): Promise<void> {
  await sql(
    `insert into audit_anchors (destination, size) select $1, size from audit_trees where organization_id = 'platform'
     on conflict (destination) do update set size = greatest(audit_anchors.size, excluded.size)`,
    [anchors],
  );
}

export interface SweptLine {
  readonly organizationId: string;
  readonly entries: number;
  readonly chains: number;
  readonly more: boolean;
}

/** Runs `countersign audit sweep`. */
export function sweepCommand(
  database: TestDatabase, archive: string, words: readonly string[] = [], env: Environment = {},
): Promise<CommandResult> {
  return countersign(['audit', 'sweep', ...words], { ...sweepEnvironment(database, archive), ...env });
}

export function sweepEnvironment(database: TestDatabase, archive: string): Environment {
  return {
    ...TEST_ENVIRONMENT, DATABASE_URL: database.url, AUDIT_ANCHORS: database.anchors, AUDIT_ARCHIVE: archive,
    AUDIT_RETENTION_DAYS: retentionDays(database).toFixed(6),
  };
}

/** What a sweep in this process is told. */
export function sweepConfig(database: TestDatabase, archive: string, env: Environment = {}): RetentionConfig {
  const config = loadConfig({ ...sweepEnvironment(database, archive), ...env });
  return {
    ...completeConfig(config, { ...givenSecrets(config), databaseUrl: database.url }),
    // Read when the sweep begins: however long it took to get there, what came after that moment is no older for it.
    get auditRetentionDays() {
      return retentionDays(database);
    },
  };
}

/** Sweeps as the command does, without the time that a program takes to start, and tells what went of whom. */
export async function swept(database: TestDatabase, archive: string, atOnce?: number): Promise<SweptLine[]> {
  return (await sweepOutcomes(database, archive, atOnce)).flatMap((one) => {
    if ('failed' in one) throw one.failed;
    return one.entries > 0 ? [one] : [];
  });
}

/** The same, and what hindered it where. */
export async function sweepOutcomes(
  database: TestDatabase, archive: string, atOnce?: number, env: Environment = {},
): Promise<RetentionOutcome[]> {
  const outcomes: RetentionOutcome[] = [];
  await runLogRetention(sweepConfig(database, archive, env), atOnce ? { atOnce } : {}, (one) => void outcomes.push(one));
  return outcomes;
}

export interface Kept {
  readonly organization: string;
  readonly chain: string;
  readonly seq: number;
  readonly id: string;
  readonly hash: string;
}

/** The log as it stands, entry by entry. */
export async function liveLog(database: TestDatabase): Promise<Kept[]> {
  const rows = await database.sql<Omit<Kept, 'seq'> & { seq: string }>(
    `select organization_id as organization, chain, seq, id, hash from audit_entries order by organization_id, chain, seq`);
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
}

/** What the archives of recorded sweeps hold, entry by entry. */
export async function archivedLog(folder: string): Promise<Kept[]> {
  const archive = new DirectoryArchive(folder);
  const found: Kept[] = [];
  for (const name of await namesIn(folder)) {
    if (!name.endsWith('/skeleton.jsonl.gz')) continue;
    for await (const line of archive.read(name)) {
      const { kind, organizationId, chain, seq, id, hash } = JSON.parse(line) as Kept & { kind: string; organizationId: string };
      if (kind === 'entry') found.push({ organization: organizationId, chain, seq, id, hash });
    }
  }
  return found;
}

/** Both together, in the order of the log; an entry that both have stands there twice. */
export async function wholeLog(database: TestDatabase, folder: string): Promise<Kept[]> {
  const all = [...(await archivedLog(folder)), ...(await liveLog(database))];
  const key = ({ organization, chain, seq }: Kept) => `${organization} ${chain} ${String(seq).padStart(9, '0')}`;
  return all.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}

/**
 * Each archive's skeleton, by the verifier that knows nothing of this service: those that it finds fault with.
 *
 * @param most only the last ones
 */
export async function brokenArchives(folder: string, most = Infinity): Promise<string[]> {
  const found: string[] = [];
  const { linesOf, verify } = (await import(pathToFileURL(join(CHECKOUT, 'verifier', 'verify.mjs')).href)) as Verifier;
  const all = (await objectsIn(folder)).filter((name) => name.endsWith('skeleton.jsonl.gz'));
  for (const skeleton of all.slice(-Math.min(most, all.length))) {
    const result = await verify(linesOf([gunzipSync(await readFile(skeleton))]));
    if (result.verdict !== 'valid' || result.covers !== 'archive') found.push(`${skeleton}: ${JSON.stringify(result)}`);
  }
  return found;
}

/** What is wrong with the archives, by themselves and with the log. */
export async function verifiedArchives(database: TestDatabase, archive: string): Promise<VerifiedArchives & { readonly valid: boolean }> {
  const outcome = await verifyArchivesOf(database.url, new DirectoryArchive(archive));
  return { ...outcome, valid: outcome.breaks.length === 0 };
}

/** What `countersign audit verify` says of the log where the environment names the archives' folder. */
export async function verifiedWithArchives(
  database: TestDatabase, archive: string, ...words: string[]
): Promise<{ verdict: string; breaks: { kind: string; chain: string; detail: string }[]; archives?: { checked: number; breaks: number } }> {
  const env = { DATABASE_URL: database.url, AUDIT_ARCHIVE: archive };
  const { stdout, stderr } = await countersign(['audit', 'verify', '--no-remember', '--json', ...words], env);
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Awaited<ReturnType<typeof verifiedWithArchives>>;
}

/** Which of these texts stand anywhere in the bytes of the archives, unpacked. */
export async function inArchives(folder: string, texts: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const name of await objectsIn(folder)) {
    const bytes = await readFile(name);
    const content = name.endsWith('.gz') ? gunzipSync(bytes) : bytes;
    for (const text of texts) if (content.includes(text)) found.add(text);
  }
  return [...found].sort();
}

/** Begins `countersign audit sweep` and does not wait for it: for whoever kills it. */
export function sweepProcess(database: TestDatabase, archive: string, ...words: readonly string[]): {
  kill(): Promise<void>; readonly ended: Promise<number | null>;
} {
  const child = spawn(process.execPath, [join(CHECKOUT, 'bin', 'countersign.mjs'), 'audit', 'sweep', ...words], {
    cwd: CHECKOUT, env: { PATH: process.env.PATH, ...sweepEnvironment(database, archive) }, stdio: 'ignore',
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { ended, kill: async () => {
    child.kill('SIGKILL');
    await ended;
  } };
}

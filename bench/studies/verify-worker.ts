// A process that reads the log once, or verifies it once, on two threads, and says how fast and in how much memory. In a process of
// its own, so that what one leaves behind is not counted to the other.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import type { EntryRange } from '../../src/domain/audit/integrity/log-source.js';
import { sqlLogSource } from '../../src/modules/audit/verification/source/log-source.query.js';
import { openSnapshot } from '../../src/modules/audit/query/snapshots.query.js';
import { verifyDatabase } from '../../src/modules/audit/verification/verify-database.js';

export interface VerifyOrder {
  readonly side: 'read' | 'verify';
  readonly databaseUrl: string;
}

export interface VerifiedOnce {
  readonly entries: number;
  readonly seconds: number;
  /** Bytes above what the process took before it began, at the highest. */
  readonly growth: number;
  readonly verdict?: string;
}

const THREADS = 2;
const SAMPLE_MS = 50;

async function main({ side, databaseUrl }: VerifyOrder): Promise<VerifiedOnce> {
  const before = process.memoryUsage.rss();
  let highest = before;
  const sampling = setInterval(() => (highest = Math.max(highest, process.memoryUsage.rss())), SAMPLE_MS);
  const begun = performance.now();
  const found = side === 'read' ? { entries: await readAll(databaseUrl) } : await verifyAll(databaseUrl);
  clearInterval(sampling);
  return { ...found, seconds: (performance.now() - begun) / 1_000, growth: highest - before };
}

async function verifyAll(databaseUrl: string): Promise<{ entries: number; verdict: string }> {
  const { entries, verdict, breaks } = await verifyDatabase({ databaseUrl, organizations: 'all', threads: THREADS });
  if (breaks.length > 0) throw new Error(`the log does not verify: ${JSON.stringify(breaks[0])}`);
  return { entries, verdict };
}

/** The same rows by the same driver in the same ranges, on as many threads, and nothing done with them. */
async function readAll(databaseUrl: string): Promise<number> {
  const connection = await openSnapshot(databaseUrl, 'countersign audit verify');
  const { ranges } = await sqlLogSource(connection.run, 'all').header();
  await connection.close();
  const shares = Array.from({ length: THREADS }, (_, n) => ranges.filter((_range, at) => at % THREADS === n));
  const counts = await Promise.all(shares.map((share) => new Promise<number>((done, failed) => {
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { databaseUrl, ranges: share } });
    worker.once('message', done);
    worker.once('error', failed);
  })));
  return counts.reduce((sum, one) => sum + one, 0);
}

async function readRanges({ databaseUrl, ranges }: { databaseUrl: string; ranges: readonly EntryRange[] }): Promise<number> {
  const connection = await openSnapshot(databaseUrl, 'countersign audit verify');
  const source = sqlLogSource(connection.run, 'all');
  let entries = 0;
  for (const range of ranges) for await (const batch of source.read(range).entries) entries += batch.length;
  await connection.close();
  return entries;
}

if (isMainThread) process.send!(await main(JSON.parse(process.env['VERIFY_ORDER']!) as VerifyOrder));
else parentPort!.postMessage(await readRanges(workerData as { databaseUrl: string; ranges: EntryRange[] }));

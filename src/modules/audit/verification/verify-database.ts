import { verifierKey } from '../../../domain/audit/notes/note.js';
import { given } from '../../../domain/given.js';
import type { LogCheck, VerifyOptions } from '../../../domain/audit/integrity/verify-log.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import type { LogSource } from '../../../domain/audit/integrity/log-source.js';
import type { AskedAnchors } from '../anchors/ask-anchors.js';
import { sqlLogSource } from './source/log-source.query.js';
import { verification, type Verification } from './verification-result.js';
import { instanceName } from '../checkpoints/checkpoint.query.js';
import { openSnapshot } from '../query/snapshots.query.js';
import { startThreads, VERIFICATION } from './worker-threads.js';

export interface DatabaseToVerify extends Pick<VerifyOptions, 'agentId' | 'remembered' | 'verifierKeys' | 'onProgress'> {
  readonly databaseUrl: string;
  readonly organizations: readonly string[] | 'all';
  /** Base64 of the Ed25519 seed of whoever verifies: what is kept as signing now must be its key, or lead back to it. */
  readonly seed?: string | undefined;
  /** Asks the anchors; done before the moment at which the log is read, since what they have the database must have had. */
  readonly anchors?: () => Promise<AskedAnchors>;
  /** A check of the same moment. */
  readonly check?: (run: ReadStatement, source: LogSource) => Promise<LogCheck>;
  /** Threads beside the caller's, each with a connection; 0: the caller's alone, as it is for a short log in any case. */
  readonly threads: number;
  readonly niceness?: number;
}

/** Fewer entries are verified before a thread has loaded what it runs. */
const WORTH_THREADS = 2_000;

/** Verifies the log of a database as it stands at one moment, by connections of its own. Nothing is written. */
export async function verifyDatabase(
  { databaseUrl, organizations, seed, anchors, check, threads, niceness = 0, ...options }: DatabaseToVerify,
): Promise<Verification> {
  const begun = performance.now();
  const asked = await anchors?.();
  const connection = await openSnapshot(databaseUrl, VERIFICATION);
  try {
    const runner = threads > 0 && await isLong(connection.run, organizations, options.agentId)
      ? startThreads(threads, { databaseUrl, snapshot: await connection.export(), organizations, niceness })
      : undefined;
    try {
      const source = sqlLogSource(connection.run, organizations);
      const ownKey = seed === undefined ? undefined : verifierKey(await instanceName(connection.run), seed);
      const { shown, notCompared: anchorsNotCompared } = asked ?? {};
      const read = given({ anchors: shown, anchorsNotCompared, ownKey, runner, check: await check?.(connection.run, source) });
      return await verification(source, begun, { ...options, ...read });
    } finally {
      await runner?.end();
    }
  } finally {
    await connection.close();
  }
}

/** By where the chains have got to: what a sweep has taken counts as well. */
async function isLong(run: ReadStatement, organizations: readonly string[] | 'all', agentId: string | undefined): Promise<boolean> {
  const [row] = await run(
    `select coalesce(sum(seq), 0) >= $1 as "isLong" from audit_heads
     where ($2::text[] is null or organization_id = any ($2)) and ($3::text is null or chain = $3)`,
    [WORTH_THREADS, organizations === 'all' ? null : organizations, agentId ?? null],
  ) as { isLong: boolean }[];
  return row!.isLong;
}

import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { originOf, PLATFORM_TREE } from '../../domain/audit/notes/checkpoint.js';
import type { LogFound } from '../../domain/audit/integrity/verify-log.js';
import { keptByCaller } from '../../domain/audit/tree/verify-platform.js';
import { UnbelievedMemory } from '../../domain/audit/export/superseded/recalled-checkpoints.js';
import { verifyLines, type LinesOptions } from '../../domain/audit/export/superseded/verify-lines.js';
import { configuredAnchors } from '../../modules/audit/anchors/configured-anchors.js';
import { askAnchors, type AnchorNotCompared, type AskedAnchors } from '../../modules/audit/anchors/ask-anchors.js';
import { logChecksOf } from '../../modules/audit/verification/log-checks.js';
import { instanceName } from '../../modules/audit/checkpoints/checkpoint.query.js';
import type { ReadUpTo } from '../../domain/audit/integrity/superseded/verify-parts.js';
import { outcomeOf, type NewerMember, type Verification } from '../../modules/audit/verification/verification-result.js';
import { snapshotConnection } from '../../modules/audit/verification/source/snapshot-connection.js';
import { verifyDatabase } from '../../modules/audit/verification/verify-database.js';
import { grantRecords } from '../../modules/capabilities/grant-records.query.js';
import { executionRecords } from '../../modules/executions/execution-records.query.js';
import { requestRecords } from '../../modules/hitl/requests/request-records.query.js';
import { voteRecords } from '../../modules/hitl/decisions/vote-records.query.js';
import { erasureRecords } from '../../modules/privacy/requests/erasure-records.query.js';
import { loadConfig } from '../../platform/config/config.js';
import type { ServerLocation } from './log-location.js';
import { serverCheckpoint, serverExport } from './server-export.js';
import { ownKeyOf } from '../signing-key.js';
import { commandOutput } from '../command-output.js';
import { withArchives } from './with-archives.js';

/** What is asked, wherever the log is read from. */
export interface VerifySourceOptions {
  readonly agentId?: string;
  /** Notes of checkpoints from earlier verifications, of this and other installations. */
  readonly remembered: readonly string[];
  /** Of a database: only what is newer than this is to be read. */
  readonly since?: readonly ReadUpTo[];
  /** Of a database: whether to tell up to where it was read. */
  readonly remembers: boolean;
  /** Only these keys are believed, where any are given. */
  readonly verifierKeys: readonly string[];
  /** Of a database: nothing is compared with its rows, and nothing decided anew. */
  readonly integrityOnly: boolean;
  readonly onProgress: (entries: number, total: number) => void;
}

const { say } = commandOutput('audit verify');

const OLDER_KEY = 'where the key was replaced since, give the one before as well (--verifier-key may be repeated), if you know it as such';
const THREADS = 2;
/** Those that modules register in a server. */
export const RECORD_KEEPERS = [executionRecords, requestRecords, voteRecords, grantRecords, erasureRecords];

/** With the anchors that the environment names, where they can be asked; of the whole log, with the archives, too. */
export async function verifyFromDatabase(databaseUrl: string, env: NodeJS.ProcessEnv, how: VerifySourceOptions): Promise<Verification> {
  const { agentId, remembered, since, remembers, verifierKeys, integrityOnly, onProgress } = how;
  const pinned = verifierKeys.length > 0 ? { verifierKeys } : {};
  const found = await verifyDatabase({
    databaseUrl, organizations: 'all', threads: THREADS, seed: ownKeyOf(databaseUrl, env), remembered, remembers, onProgress,
    anchors: () => askNamed(databaseUrl, env),
    ...(integrityOnly ? {} : { judges: (run, source) => logChecksOf(run, source, RECORD_KEEPERS, { organizations: 'all', agentId, ...pinned }) }),
    ...(agentId === undefined ? {} : { agentId }),
    ...(since ? { since } : {}),
    ...pinned,
  });
  // Of an agent's chain alone nothing is said of what was swept: archives hold all chains of an organization. What they hold is old.
  const { newer } = found.members as unknown as Partial<NewerMember>;
  return agentId === undefined && newer?.everything !== false ? withArchives(found, databaseUrl, env) : found;
}

/** No anchor is shown anything: a verification must leave everything as it was. */
async function askNamed(databaseUrl: string, env: NodeJS.ProcessEnv): Promise<AskedAnchors> {
  const connection = await snapshotConnection(databaseUrl);
  const instance = await instanceName(connection.run).finally(() => connection.end());
  return askAnchors(configuredAnchors(loadConfig(ofAnchors(env))), originOf(instance, PLATFORM_TREE), undefined, ({ name }, error) =>
    say(`the anchor ${name} cannot be asked: ${error instanceof Error ? error.message : String(error)}`));
}

/** What anchors hang on; that a server would not start with the rest is nothing to a verification. */
function ofAnchors(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = ['AUDIT_ANCHORS', 'DATA_DIR', 'OUTBOUND_ALLOW'];
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

/** Reads a server's export and verifies it here: nothing that the server says of it is believed. */
export async function verifyFromServer(place: ServerLocation, env: NodeJS.ProcessEnv, how: VerifySourceOptions): Promise<Verification> {
  const { agentId, remembered } = how;
  const since = remembered.length === 0 ? undefined : await platformSince(place, remembered);
  const selection = { ...(agentId === undefined ? {} : { agent_id: agentId }), ...(since === undefined ? {} : { platform_since: since }) };
  return ofLines(await serverExport(place, { format: 'jsonl', ...selection }), env, how);
}

/**
 * The remembered size of the platform's tree, from which the export is to prove that it goes on; undefined where it has not come so far:
 * that is for the verification of the file to say.
 */
async function platformSince(place: ServerLocation, remembered: readonly string[]): Promise<number | undefined> {
  const now = await serverCheckpoint(place);
  const then = now && keptByCaller(remembered, now.origin.split('/')[0]!).find(({ tree }) => tree === PLATFORM_TREE);
  return then && then.size > 0 && then.size <= now.size ? then.size : undefined;
}

/** An export as a file, packed or not. */
export function verifyFromFile(file: string, env: NodeJS.ProcessEnv, how: VerifySourceOptions): Promise<Verification> {
  return ofLines(bytesOf(file), env, how);
}

async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  const stored = createReadStream(file);
  const unpacked = file.endsWith('.gz') ? createGunzip() : undefined;
  if (unpacked) stored.on('error', (error) => unpacked.destroy(error));
  try {
    yield* (unpacked ? stored.pipe(unpacked) : stored) as AsyncIterable<Uint8Array>;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const what = code?.startsWith('Z_') ? 'is no file that gzip has packed, or not the whole of it' : 'cannot be read';
    throw new Error(`--file ${file} ${what} (${message}): give an export as it was written`, { cause: error });
  }
}

async function ofLines(bytes: AsyncIterable<Uint8Array>, env: NodeJS.ProcessEnv, how: VerifySourceOptions): Promise<Verification> {
  const { agentId, remembered, verifierKeys, onProgress } = how;
  const begun = performance.now();
  const options: LinesOptions = { remembered, pinned: verifierKeys, onProgress: (entries) => onProgress(entries, 0) };
  const verified = verifyLines(linesOf(bytes), { ...options, ...(agentId === undefined ? {} : { agentId }) });
  const found: LogFound = await verified.catch((error: unknown) => {
    if (error instanceof UnbelievedMemory && verifierKeys.length > 0) throw new Error(`${error.message}: ${OLDER_KEY}`, { cause: error });
    throw error;
  });
  return outcomeOf(found, { anchorsNotCompared: notAsked(env) }, begun);
}

/** Those that somebody has named: beside an export nobody expects the folder that a server has by default. */
function notAsked(env: NodeJS.ProcessEnv): AnchorNotCompared[] {
  if (!env['AUDIT_ANCHORS']) return [];
  return loadConfig(ofAnchors(env)).auditAnchors.map((name) => ({ name, because: 'export_read' }));
}

const NEWLINE = 10;

/** Whole lines without their ends; what follows the last end is a line, too. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to >= 0; from = to + 1, to = chunk.indexOf(NEWLINE, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, to)]);
      rest = [];
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}

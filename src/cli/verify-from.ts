import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { originOf, PLATFORM_TREE } from '../domain/audit/checkpoint.js';
import type { ShownAnchor } from '../domain/audit/entry-source.js';
import type { LogFound } from '../domain/audit/verify.js';
import { verifyLines, type LinesOptions } from '../domain/audit/verify-lines.js';
import { anchorsOf } from '../modules/audit/anchors/anchors-of.js';
import { judgesOf } from '../modules/audit/judging/judges.js';
import { instanceName } from '../modules/audit/trees/checkpoint.query.js';
import type { ReadUpTo } from '../domain/audit/verify-parts.js';
import { outcomeOf, type NewerMember, type Verification } from '../modules/audit/verification.js';
import { snapshotConnection } from '../modules/audit/verification/snapshot-connection.js';
import { verifyDatabase } from '../modules/audit/verification/verify-database.js';
import { grantRecords } from '../modules/capabilities/grant-records.query.js';
import { executionRecords } from '../modules/executions/execution-records.query.js';
import { requestRecords } from '../modules/hitl/hitl-records.query.js';
import { voteRecords } from '../modules/hitl/vote-records.query.js';
import { loadConfig } from '../platform/config/config.js';
import { reason } from './reason.js';
import { ownKeyOf } from './signing-key-of.js';
import { withArchives } from './with-archives.js';

/** What is asked, wherever the log is read from. */
export interface VerifyFrom {
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

const THREADS = 2;
/** Those that modules register in a server. */
export const KEEPERS = [executionRecords, requestRecords, voteRecords, grantRecords];

/** With the anchors that the environment names, where they can be asked; of the whole log, with the archives, too. */
export async function fromDatabase(databaseUrl: string, env: NodeJS.ProcessEnv, how: VerifyFrom): Promise<Verification> {
  const { agentId, remembered, since, remembers, verifierKeys, integrityOnly, onProgress } = how;
  const pinned = verifierKeys.length > 0 ? { verifierKeys } : {};
  const found = await verifyDatabase({
    databaseUrl, organizations: 'all', threads: THREADS, seed: ownKeyOf(databaseUrl, env), remembered, remembers, onProgress,
    anchors: () => askAnchors(databaseUrl, env),
    ...(integrityOnly ? {} : { judges: (run, source) => judgesOf(run, source, KEEPERS, { organizations: 'all', agentId, ...pinned }) }),
    ...(agentId === undefined ? {} : { agentId }),
    ...(since ? { since } : {}),
    ...pinned,
  });
  // Of an agent's chain alone nothing is said of what was swept: archives hold all chains of an organization. What they hold is old.
  const { newer } = found.members as unknown as Partial<NewerMember>;
  return agentId === undefined && newer?.everything !== false ? withArchives(found, databaseUrl, env) : found;
}

async function askAnchors(databaseUrl: string, env: NodeJS.ProcessEnv): Promise<ShownAnchor[]> {
  const connection = await snapshotConnection(databaseUrl);
  const instance = await instanceName(connection.run).finally(() => connection.end());
  const asked = await Promise.all(anchorsOf(loadConfig(ofAnchors(env))).map(async (anchor): Promise<ShownAnchor[]> => {
    const newest = await anchor.newest(originOf(instance, PLATFORM_TREE)).catch((error: unknown) => {
      process.stderr.write(`the anchor ${anchor.name} cannot be asked: ${reason(error, 'no answer')}\n`);
      return undefined;
    });
    if (newest?.root === undefined || newest.note === undefined) return [];
    return [{ name: anchor.name, size: newest.size, root: newest.root, note: newest.note }];
  }));
  return asked.flat();
}

/** What anchors hang on; that a server would not start with the rest is nothing to a verification. */
function ofAnchors(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = ['AUDIT_ANCHORS', 'DATA_DIR', 'OUTBOUND_ALLOW'];
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

/** Reads a server's export and verifies it here: nothing that the server says of it is believed. */
export async function fromServer(url: string, key: string | undefined, how: VerifyFrom): Promise<Verification> {
  const address = new URL('/api/v1/audit/export?format=jsonl', url);
  if (how.agentId !== undefined) address.searchParams.set('agent_id', how.agentId);
  const reply = await fetch(address, { headers: key === undefined ? {} : { authorization: `Bearer ${key}` } });
  if (!reply.ok || !reply.body) throw new Error(`${address.host} answered ${reply.status}: ${(await reply.text()).slice(0, 300)}`);
  return ofLines(Readable.fromWeb(reply.body as Parameters<typeof Readable.fromWeb>[0]), how);
}

/** An export as a file, packed or not. */
export function fromFile(file: string, how: VerifyFrom): Promise<Verification> {
  const stored = createReadStream(file);
  if (!file.endsWith('.gz')) return ofLines(stored, how);
  const unpacked = createGunzip();
  stored.on('error', (error) => unpacked.destroy(error));
  return ofLines(stored.pipe(unpacked), how);
}

async function ofLines(bytes: AsyncIterable<Uint8Array>, how: VerifyFrom): Promise<Verification> {
  const { agentId, remembered, verifierKeys, onProgress } = how;
  const begun = performance.now();
  const options: LinesOptions = { remembered, pinned: verifierKeys, onProgress: (entries) => onProgress(entries, 0) };
  const found: LogFound = await verifyLines(linesOf(bytes), { ...options, ...(agentId === undefined ? {} : { agentId }) });
  return outcomeOf(found, [], begun);
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

import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { PLATFORM_TREE } from '../../domain/audit/notes/checkpoint.js';
import { keptByCaller } from '../../domain/audit/tree/verify-platform.js';
import { isJsonObject, parseJson } from '../../domain/json.js';
import { fileVerifier } from '../../modules/audit/exports/stand-alone-verifier.js';
import { loadConfig } from '../../platform/config/config.js';
import type { Remembered, Result } from '../../../verifier/verify.mjs';
import type { FileLocation, ServerLocation } from './log-location.js';
import { serverCheckpoint, serverExport } from './server-export.js';
import { anchorEnvironment, type VerifySourceOptions } from './verify-options.js';

const OLDER_KEY = 'where the key was replaced since, give the one before as well (--verifier-key may be repeated), if you know it as such';
const LISTED = 10;

export interface ExportVerification {
  /** The answer as JSON. */
  readonly members: ReturnType<typeof membersOf>;
  /** The answer for a person. */
  readonly report: string;
  /** Checkpoints to remember. */
  readonly notes: readonly string[];
  /** Why the export does not show that the history goes on from remembered checkpoints, though an export could. */
  readonly notShown?: string;
}

interface AnchorNotAsked {
  readonly name: string;
  readonly because: 'export_read';
}

/** Verifies a server's export, or a file of one, by the stand-alone verifier. Nothing that the server says of the log is believed. */
export async function verifyExport(
  location: FileLocation | ServerLocation, env: NodeJS.ProcessEnv, { agentId, remembered, verifierKeys, onProgress }: VerifySourceOptions,
): Promise<ExportVerification> {
  const { verify, linesOf, inWords } = await fileVerifier();
  const begun = performance.now();
  const bytes = location.kind === 'file' ? bytesOf(location.file) : await exportOf(location, remembered, agentId);
  const lines = agentId === undefined ? linesOf(bytes) : linesOfAgent(linesOf(bytes), agentId);
  const options = { keys: verifierKeys, remembered, onProgress: ({ entries }: { entries: number }) => onProgress(entries, 0) };
  const result = await verify(lines, options).catch((error: unknown) => {
    const isUnbelieved = error instanceof Error && error.message.startsWith('the remembered checkpoint') && verifierKeys.length > 0;
    throw isUnbelieved ? new Error(`${error.message}: ${OLDER_KEY}`, { cause: error }) : error;
  });
  const members = membersOf(result, anchorsNamedBy(env), Math.round(performance.now() - begun));
  const silent = members.anchorsNotCompared.map(({ name }) => `Not compared with the anchor ${name}: verify the database.\n`);
  const unproven = unprovenIn(result, location);
  return {
    members, report: `${inWords(result)}\n${silent.join('')}`, notes: result.notes,
    ...(unproven.length > 0 ? { notShown: notShown(unproven, location) } : {}),
  };
}

function membersOf(
  { verdict, covers, breaks, counts, checkpoint, keys, remembered }: Result, anchors: readonly AnchorNotAsked[], durationMs: number,
) {
  return {
    valid: verdict !== 'tampered', verdict, covers, chains: counts.chains, entries: counts.entries, uncovered: counts.unanchored,
    checkpoint: checkpoint && { origin: checkpoint.origin, size: checkpoint.size, root: checkpoint.root, madeAt: checkpoint.timestamp },
    anchorsNotCompared: anchors, breaks, breaksFound: counts.breaks, durationMs, keys, remembered,
  };
}

/** Asks a server for the proof that the platform's tree goes on from the remembered size. */
async function exportOf(
  server: ServerLocation, remembered: readonly string[], agentId: string | undefined,
): Promise<AsyncIterable<Uint8Array>> {
  const since = remembered.length === 0 ? undefined : await platformSince(server, remembered);
  const selection = { ...(agentId === undefined ? {} : { agent_id: agentId }), ...(since === undefined ? {} : { platform_since: since }) };
  return serverExport(server, { format: 'jsonl', ...selection });
}

/** Undefined where the server's tree has not come to the remembered size: the verification of the file reports that. */
async function platformSince(server: ServerLocation, remembered: readonly string[]): Promise<number | undefined> {
  const now = await serverCheckpoint(server);
  const then = now && keptByCaller(remembered, now.origin.split('/')[0]!).find(({ tree }) => tree === PLATFORM_TREE);
  return then && then.size > 0 && then.size <= now.size ? then.size : undefined;
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

/** @throws Error where the export's own first line does not say that the export is of this agent */
async function* linesOfAgent(lines: AsyncIterable<Uint8Array>, agentId: string): AsyncGenerator<Uint8Array> {
  let isHeader = true;
  for await (const line of lines) {
    const text = isHeader ? Buffer.from(line).toString('utf8').replace(/,$/, '') : '';
    // The JSON form begins with a line of its own.
    if (isHeader && text !== '{"lines":[') {
      isHeader = false;
      if (!text.startsWith('{') || agentIn(text) !== agentId) throw new Error(`the file is not an export of agent ${agentId}`);
    }
    yield line;
  }
}

function agentIn(header: string): unknown {
  const read = parseJson(header);
  return isJsonObject(read) ? read['agentId'] : undefined;
}

/** Only anchors that AUDIT_ANCHORS names: nobody expects the folder that a server has by default beside an export. */
function anchorsNamedBy(env: NodeJS.ProcessEnv): AnchorNotAsked[] {
  if (!env['AUDIT_ANCHORS']) return [];
  return loadConfig(anchorEnvironment(env)).auditAnchors.map((name) => ({ name, because: 'export_read' }));
}

/**
 * The remembered checkpoints that the export was to prove and did not: of organizations, in each file that could; of the platform's tree,
 * where a server was asked for the proof, since a file holds that proof only where somebody asked for it.
 */
function unprovenIn({ verdict, remembered }: Result, { kind }: FileLocation | ServerLocation): readonly Remembered[] {
  if (verdict === 'tampered') return [];
  return remembered.filter(({ origin, ask }) => ask !== undefined && (kind === 'server' || !origin.endsWith(`/${PLATFORM_TREE}`)));
}

function notShown(unproven: readonly Remembered[], { kind }: FileLocation | ServerLocation): string {
  const shown = unproven.slice(0, LISTED);
  const more = unproven.length > LISTED ? ` and ${(unproven.length - LISTED).toLocaleString('en')} more` : '';
  const whence = kind === 'server' ? 'the server did not show' : 'the file does not show';
  return `${whence} that the history goes on from what is remembered (${shown.map(({ origin, size }) => `${origin} at ${size}`).join(', ')}`
    + `${more}), which stays as it was: verify an export with ${shown.map(({ ask }) => ask).join(', or ')} (countersign audit export), or `
    + 'the database; --no-remember compares with nothing';
}

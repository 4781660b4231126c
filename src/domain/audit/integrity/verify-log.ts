import type { JsonObject } from '../../json.js';
import { type Finding, Findings } from './findings.js';
import type { StoredCheckpoint } from '../notes/checkpoint.js';
import type { LogHeader, LogSource } from './log-source.js';
import type { LogCheckResult, LogCheck } from './log-check.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { pinnedAlone, pinnedHeader } from '../notes/verify-pinned-keys.js';
import { LogVerification, type LogReading, type LogVerificationOptions } from './log-verification.js';

/** Which part of the log is read: everything that the source may show, or some chains of it. */
export interface Selection {
  readonly organizationId?: string;
  readonly chain?: string;
}

export interface VerifyOptions extends LogVerificationOptions {
  /** Only these keys are believed, whatever the log says of others. */
  readonly verifierKeys?: readonly string[];
  /** They see every entry in a pass of their own, since chains may be read on other threads. */
  readonly checks?: readonly LogCheck[];
}

/** What a verification has found. */
export interface LogFound {
  readonly chains: number;
  readonly entries: number;
  /** At most `MAX_BREAKS`; `breaksFound` counts all. */
  readonly breaks: readonly Finding[];
  readonly breaksFound: number;
  /** Entries that no checkpoint covers yet. */
  readonly uncovered: number;
  readonly instance: string;
  /** The newest of the platform's tree; whether it is believed is for the breaks to say. */
  readonly checkpoint?: StoredCheckpoint;
  /** The newest of every tree that was read, for remembering. */
  readonly notes: readonly string[];
  readonly members: JsonObject;
}

/**
 * Verifies a log: each entry, each chain, every organization's tree against its chains and both ways, trees against checkpoints, these
 * against the platform's tree and the map, and that against what anchors have. Chains and trees are read apart, each in the order
 * in which it is stored; a keyed sum says whether both hold the same, and only where it does not is an organization read again, sorted,
 * to name what is wrong.
 */
export async function verifyLog(source: LogSource, options: VerifyOptions = {}): Promise<LogFound> {
  const { agentId, checks = [] } = options;
  const run = new LogVerification(source, await headerOf(source, options, source.whole && agentId === undefined), options);
  const [read] = await Promise.all([
    agentId === undefined ? run.readAll() : run.readAgent([agentId]), runChecks(source, run.header, options),
  ]);
  return foundBy(run, read, checks);
}

async function headerOf(source: LogSource, { agentId, verifierKeys }: VerifyOptions, isWhole: boolean): Promise<LogHeader> {
  const header = await source.header(agentId);
  if (!verifierKeys) return header;
  return isWhole ? pinnedHeader(header, verifierKeys) : pinnedAlone(header, verifierKeys, agentId);
}

async function foundBy(run: LogVerification, read: LogReading, checks: readonly LogCheck[]): Promise<LogFound> {
  const breaks = new Findings();
  const settled = await run.settle(read, breaks);
  const results: LogCheckResult[] = await Promise.all(checks.map((check) => check.end()));
  for (const { breaks: listed, breaksFound } of results) breaks.add(listed, breaksFound);
  const { entries: { chains, entries } } = read;
  return {
    chains,
    entries,
    breaks: breaks.listed,
    breaksFound: breaks.found,
    uncovered: settled.uncovered,
    instance: run.header.instance,
    ...(settled.platform.newest ? { checkpoint: settled.platform.newest } : {}),
    notes: settled.notes,
    members: Object.assign({}, ...results.map(({ members }) => members)) as JsonObject,
  };
}

/**
 * Beside the threads, which leave the caller's with little to do. What a sweep has not deleted yet counts as gone: of an execution that
 * it parts, the end alone may be left.
 */
async function runChecks(source: LogSource, { ranges, cutPoints }: LogHeader, { checks = [], agentId }: VerifyOptions): Promise<void> {
  if (checks.length === 0) return;
  const cutAt = new Map(cutPoints.map(({ organizationId, chain, seq }) => [`${organizationId} ${chain}`, seq]));
  const isGone = ({ organizationId, chain, seq }: StoredEntry) => seq <= (cutAt.get(`${organizationId} ${chain}`) ?? 0);
  for (const range of agentId === undefined ? ranges : [{ chains: [agentId] }]) {
    for await (const batch of source.read(range).entries) {
      for (const entry of batch) {
        if (cutAt.size > 0 && isGone(entry)) continue;
        for (const check of checks) {
          const reading = check.entry(entry);
          if (reading) await reading;
        }
      }
    }
  }
}

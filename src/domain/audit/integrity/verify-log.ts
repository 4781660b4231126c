import type { JsonObject } from '../../json.js';
import { type Finding, Findings } from './findings.js';
import type { StoredCheckpoint } from '../notes/checkpoint.js';
import type { LogHeader, LogSource } from './log-source.js';
import { chainKey } from '../entry/chain.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { pinnedAlone, pinnedHeader } from '../notes/verify-pinned-keys.js';
import { LogVerification, type LogVerificationOptions } from './log-verification.js';

/** Which part of the log is read: everything that the source may show, or some chains of it. */
export interface Selection {
  readonly organizationId?: string;
  readonly chain?: string;
}

/**
 * A check beside the pass that verifies chains: completeness, replay. Given each chain's entries together and in their order, chains in any
 * order. It leaves to the pass whether entries are what was written, and whether they can be read.
 */
export interface LogCheck {
  /** @returns what to wait for before the next entry, where the check reads something first */
  entry(entry: StoredEntry): void | Promise<void>;
  /** After the last entry, within the same reading. */
  end(): Promise<LogCheckResult>;
}

/** As many findings as an answer shows, how many there are, and what the check adds to the answer, under the names there. */
export type LogCheckResult = Pick<LogFound, 'breaks' | 'breaksFound' | 'members'>;

export interface VerifyOptions extends LogVerificationOptions {
  /** Only these keys are believed, whatever the log says of others. */
  readonly verifierKeys?: readonly string[] | undefined;
  /** It sees every entry in a pass of its own, since chains may be read on other threads. */
  readonly check?: LogCheck;
}

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
 * against the platform's tree and the map, and that against anchors. Chains and trees are read apart, as stored; only where keyed sums
 * differ is an organization read again, sorted, to name what is wrong.
 */
export async function verifyLog(source: LogSource, options: VerifyOptions = {}): Promise<LogFound> {
  const { agentId, check } = options;
  const run = new LogVerification(source, await headerOf(source, options), options);
  const [read] = await Promise.all([
    agentId === undefined ? run.readAll() : run.readAgent([agentId]), runCheck(source, run.header, options),
  ]);
  const breaks = new Findings();
  const { uncovered, platform: { newest }, notes } = await run.settle(read, breaks);
  const checked = await check?.end();
  if (checked) breaks.add(checked.breaks, checked.breaksFound);
  const { entries: { chains, entries } } = read;
  return {
    chains, entries, uncovered, notes, breaks: breaks.listed, breaksFound: breaks.found, instance: run.header.instance,
    ...(newest ? { checkpoint: newest } : {}), members: checked?.members ?? {},
  };
}

async function headerOf(source: LogSource, { agentId, verifierKeys }: VerifyOptions): Promise<LogHeader> {
  const header = await source.header(agentId);
  if (!verifierKeys) return header;
  const isWhole = source.whole && agentId === undefined;
  return isWhole ? pinnedHeader(header, verifierKeys) : pinnedAlone(header, verifierKeys, agentId);
}

/** Beside the threads, which leave the caller's with little to do. Entries that a retention run has not deleted yet count as gone. */
async function runCheck(source: LogSource, { ranges, cutPoints }: LogHeader, { check, agentId }: VerifyOptions): Promise<void> {
  if (!check) return;
  const cutAt = new Map(cutPoints.map((cutPoint) => [chainKey(cutPoint), cutPoint.seq]));
  const isGone = (entry: StoredEntry) => entry.seq <= (cutAt.get(chainKey(entry)) ?? 0);
  for (const range of agentId === undefined ? ranges : [{ chains: [agentId] }]) {
    for await (const batch of source.read(range).entries) {
      for (const entry of batch) {
        if (cutAt.size > 0 && isGone(entry)) continue;
        const reading = check.entry(entry);
        if (reading) await reading;
      }
    }
  }
}

import type { Break } from '../../domain/audit/breaks.js';
import type { LogJudge } from '../../domain/audit/log-judge.js';
import { verifyLog, type LogSource } from '../../domain/audit/verify.js';
import type { JsonObject } from '../../domain/json.js';
import { watched } from './judging/judges.js';

/** `valid_unanchored`: nothing is wrong, and no checkpoint outside of this database vouches for the newest entries yet. */
export type Verdict = 'valid' | 'valid_unanchored' | 'tampered';

export interface Verification {
  readonly valid: boolean;
  readonly verdict: Verdict;
  readonly chains: number;
  readonly entries: number;
  readonly checkpoint: null;
  /** At most `MAX_BREAKS`: a log rewritten from its beginning would break at every entry. */
  readonly breaks: readonly Break[];
  readonly breaksFound: number;
  readonly durationMs: number;
  /** What judges beside the pass have found, by name: `completeness`, `replay`. */
  readonly judged?: JsonObject;
}

export const MAX_BREAKS = 1_000;

/** Runs a verification to its end. The server and the command line share it; they differ in where the rows come from. */
export async function verification(
  source: LogSource,
  agentId: string | undefined,
  onProgress: (entries: number) => void = () => undefined,
  judges: readonly LogJudge[] = [],
): Promise<Verification> {
  const begun = performance.now();
  const breaks: Break[] = [];
  let breaksFound = 0;
  let chains = 0;
  let entries = 0;
  for await (const progress of verifyLog(watched(source, judges, agentId), agentId)) {
    ({ chains, entries } = progress);
    breaksFound += progress.breaks.length;
    breaks.push(...progress.breaks.slice(0, MAX_BREAKS - breaks.length));
    onProgress(entries);
  }
  let judged: JsonObject = {};
  for (const judge of judges) {
    const judgement = await judge.end();
    breaksFound += judgement.breaksFound;
    breaks.push(...judgement.breaks.slice(0, MAX_BREAKS - breaks.length));
    judged = { ...judged, ...judgement.members };
  }
  const valid = breaksFound === 0;
  const verdict = valid ? 'valid_unanchored' : 'tampered';
  const durationMs = Math.round(performance.now() - begun);
  return { valid, verdict, chains, entries, checkpoint: null, breaks, breaksFound, durationMs, ...(judges.length === 0 ? {} : { judged }) };
}

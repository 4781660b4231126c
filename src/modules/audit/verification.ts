import type { Break } from '../../domain/audit/breaks.js';
import { verifyLog, type LogSource } from '../../domain/audit/verify.js';

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
}

export const MAX_BREAKS = 1_000;

/** Runs a verification to its end. The server and the command line share it; they differ in where the rows come from. */
export async function verification(
  source: LogSource,
  agentId: string | undefined,
  onProgress: (entries: number) => void = () => undefined,
): Promise<Verification> {
  const begun = performance.now();
  const breaks: Break[] = [];
  let breaksFound = 0;
  let chains = 0;
  let entries = 0;
  for await (const progress of verifyLog(source, agentId)) {
    ({ chains, entries } = progress);
    breaksFound += progress.breaks.length;
    breaks.push(...progress.breaks.slice(0, MAX_BREAKS - breaks.length));
    onProgress(entries);
  }
  const valid = breaksFound === 0;
  const verdict = valid ? 'valid_unanchored' : 'tampered';
  const durationMs = Math.round(performance.now() - begun);
  return { valid, verdict, chains, entries, checkpoint: null, breaks, breaksFound, durationMs };
}

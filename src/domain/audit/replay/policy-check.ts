import { findingAt, Findings, MAX_FINDINGS } from '../integrity/findings.js';
import type { LogCheck, LogCheckResult } from '../integrity/verify-log.js';
import { NAMING_IN_VALUES } from '../entry/prepare-entry.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { Completeness, type RecordSources } from '../completeness/completeness.js';
import { SubjectIndexCheck, type SubjectSources } from '../completeness/subject-index-check.js';
import { isolateFailure } from './isolate-failure.js';
import { metadataFindings, openCheckedEntry, readsValues } from '../completeness/metadata-check.js';
import { isStamped } from '../entry/open-entry.js';
import type { RecordGaps } from '../completeness/record-gaps.js';
import { type OrderedLeaves, Replay, REPLAY_EVENTS } from './replay.js';
import { SHARED_EVENTS, type SharedFacts } from './state/shared-facts.js';
import { RECORD_EVENTS, WITH_VALUES as RECORDS_WITH_VALUES } from '../completeness/recorded-state.js';

const CHECKED: ReadonlySet<string> = new Set([...RECORD_EVENTS, ...REPLAY_EVENTS, ...SHARED_EVENTS]);
/** Events of which committed values are needed. */
const WITH_VALUES: ReadonlySet<string> = new Set([...RECORDS_WITH_VALUES, ...NAMING_IN_VALUES, ...[...CHECKED].filter(readsValues)]);

export interface PolicyCheckScope {
  /** At least 16 random bytes, new for each verification. */
  readonly key: Uint8Array;
  readonly shared: SharedFacts;
  readonly gaps: RecordGaps;
  /** Only one agent's chain is read. */
  readonly ofOneAgent: boolean;
}

export interface PolicyCheckSources extends RecordSources, SubjectSources {
  readonly leaves: OrderedLeaves;
}

/**
 * Completeness, replay and the subject index in one pass. An entry that cannot be read, or no server writes, is a finding, and ends no
 * check.
 */
export function policyCheck({ key, shared, gaps, ofOneAgent }: PolicyCheckScope, sources: PolicyCheckSources): LogCheck {
  const completeness = new Completeness(key, shared, gaps, ofOneAgent);
  const replay = new Replay(shared, sources.leaves);
  const people = new SubjectIndexCheck(key, shared);
  const odd = new Findings();
  const check = (stored: StoredEntry): void => {
    const { event } = stored;
    const problems = new Set<string>();
    const named = (problem: string) => void problems.add(problem);
    const open = () => (CHECKED.has(event) ? openCheckedEntry(stored, WITH_VALUES.has(event)) : undefined);
    const opened = isolateFailure(open, named) ?? undefined;
    if (!isStamped(stored)) named('it is stamped with no time');
    if (opened) for (const name of metadataFindings(opened)) named(`no server writes such ${name}`);
    isolateFailure(() => completeness.entry(stored, RECORD_EVENTS.has(event) ? opened : undefined), named);
    isolateFailure(() => replay.entry(stored, REPLAY_EVENTS.has(event) ? opened : undefined), named);
    isolateFailure(() => people.entry(stored, opened), named);
    const why = shared.whyUntaken(stored.id);
    if (why !== undefined) named(why);
    if (problems.size > 0) odd.add([findingAt(stored, 'gate_wrong', `(${event}): ${[...problems].join('; ')}`)]);
  };
  return {
    entry: (stored) => replay.begin(stored)?.then(() => check(stored)) ?? check(stored),
    async end(): Promise<LogCheckResult> {
      const { checked, swept, breaks, breaksFound } = await completeness.end(sources);
      const unnamed = await people.end(sources);
      const { right, wrong, notReplayable } = replay.found;
      return {
        breaks: [...odd.listed, ...breaks, ...wrong.listed, ...unnamed.breaks].slice(0, MAX_FINDINGS),
        breaksFound: odd.found + breaksFound + wrong.found + unnamed.breaksFound,
        members: {
          completeness: { checked, breaks: breaksFound, ...(swept === 0 ? {} : { swept }) },
          replay: { right, wrong: wrong.found, notReplayable: { ...notReplayable } },
        },
      };
    },
  };
}

import type { LogJudge, Judgement } from '../log-judge.js';
import { NAMING_IN_VALUES } from '../entry.js';
import type { StoredEntry } from '../stored-entry.js';
import type { OrderedLeaves } from './commit-order.js';
import { Completeness, type RecordSources } from './completeness.js';
import { NamedPeople, type SubjectSources } from './named-people.js';
import { type OpenEntry, openEntry } from './open-entry.js';
import type { RecordGaps } from './record-gaps.js';
import { Replay, REPLAY_EVENTS } from './replay.js';
import type { SharedFacts } from './shared-facts.js';
import { RECORD_EVENTS, WITH_VALUES as RECORDS_WITH_VALUES } from './told-records.js';

/** Events of which committed values are needed. */
const WITH_VALUES: ReadonlySet<string> = new Set([
  ...RECORDS_WITH_VALUES, ...NAMING_IN_VALUES, 'agent.registered', 'agent.updated',
]);
const SHOWN = 1_000;

export interface Judged {
  /** At least 16 random bytes, new for each judge. */
  readonly key: Uint8Array;
  readonly shared: SharedFacts;
  readonly gaps: RecordGaps;
  /** Only one agent's chain is read. */
  readonly ofOneAgent: boolean;
}

export interface JudgeSources extends RecordSources, SubjectSources {
  readonly leaves: OrderedLeaves;
}

/** Completeness, replay and whom entries name in one pass: each entry is read once for all of them. */
export function gateJudge({ key, shared, gaps, ofOneAgent }: Judged, sources: JudgeSources): LogJudge {
  const completeness = new Completeness(key, shared, gaps, ofOneAgent);
  const replay = new Replay(shared, openReplayed);
  const people = new NamedPeople(key, shared);
  return {
    entry(stored: StoredEntry): void {
      const [isRecord, isReplayed] = [RECORD_EVENTS.has(stored.event), REPLAY_EVENTS.has(stored.event)];
      const opened = isRecord || isReplayed ? openEntry(stored, WITH_VALUES.has(stored.event)) : undefined;
      completeness.entry(stored, isRecord ? opened : undefined);
      replay.entry(stored, isReplayed ? opened : undefined);
      people.entry(stored, opened);
    },
    async end(): Promise<Judgement> {
      const { checked, swept, breaks, breaksFound } = await completeness.end(sources);
      const unnamed = await people.end(sources);
      const { right, wrong, notReplayable, breaks: wrongs } = await replay.end(sources);
      return {
        breaks: [...breaks, ...wrongs, ...unnamed.breaks].slice(0, SHOWN),
        breaksFound: breaksFound + wrong + unnamed.breaksFound,
        members: {
          completeness: { checked, breaks: breaksFound, ...(swept === 0 ? {} : { swept }) },
          replay: { right, wrong, notReplayable: { ...notReplayable } },
        },
      };
    },
  };
}

function openReplayed(stored: StoredEntry): OpenEntry | undefined {
  return REPLAY_EVENTS.has(stored.event) ? openEntry(stored, WITH_VALUES.has(stored.event)) : undefined;
}

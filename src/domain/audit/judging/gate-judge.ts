import type { LogJudge, Judgement } from '../log-judge.js';
import type { StoredEntry } from '../stored-entry.js';
import { Completeness, type RecordSources } from './completeness.js';
import { openEntry } from './open-entry.js';
import { Replay, REPLAY_EVENTS } from './replay.js';
import type { SharedFacts } from './shared-facts.js';
import { RECORD_EVENTS } from './told-records.js';

/** Events of which committed values are needed. */
const WITH_VALUES: ReadonlySet<string> = new Set([
  'execution.started', 'execution.blocked', 'hitl.created', 'hitl.edited', 'capability.granted', 'capability.config_updated',
  'agent.registered', 'agent.updated',
]);
const SHOWN = 1_000;

/**
 * Completeness and replay in one pass: each entry is read once for both.
 *
 * @param key at least 16 random bytes, new for each judge
 * @param ofOneAgent only one agent's chain is read
 */
export function gateJudge(shared: SharedFacts, sources: RecordSources, key: Uint8Array, ofOneAgent: boolean): LogJudge {
  const completeness = new Completeness(key, shared, ofOneAgent);
  const replay = new Replay(shared);
  return {
    entry(stored: StoredEntry): void {
      const [isRecord, isReplayed] = [RECORD_EVENTS.has(stored.event), REPLAY_EVENTS.has(stored.event)];
      const opened = isRecord || isReplayed ? openEntry(stored, WITH_VALUES.has(stored.event)) : undefined;
      completeness.entry(stored, isRecord ? opened : undefined);
      replay.entry(stored, isReplayed ? opened : undefined);
    },
    async end(): Promise<Judgement> {
      const { checked, swept, breaks, breaksFound } = await completeness.end(sources);
      const { right, wrong, notReplayable, breaks: wrongs } = replay.end();
      return {
        breaks: [...breaks, ...wrongs].slice(0, SHOWN),
        breaksFound: breaksFound + wrong,
        members: {
          completeness: { checked, breaks: breaksFound, ...(swept === 0 ? {} : { swept }) },
          replay: { right, wrong, notReplayable: { ...notReplayable } },
        },
      };
    },
  };
}

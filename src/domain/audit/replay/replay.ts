import { type Finding, MAX_FINDINGS } from '../integrity/findings.js';
import { isAgentChain, organizationChain } from '../entry/chain.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { ClockSteps, CommitOrder, type OrderedLeaves } from './superseded/commit-order.js';
import { chainKey } from './chain-followers.js';
import { isolateFailure } from './isolate-failure.js';
import { type OpenEntry, stampOf } from '../entry/open-entry.js';
import type { Moment } from './superseded/overlap.js';
import { type MomentOf, type Replayed, ReplayedChain } from './replay-chain.js';
import type { SharedFacts } from './state/shared-facts.js';
import { readTwice, type ReplayResult, type NotReplayableReason, wrong } from './replay-result.js';

/** Events of agents' chains that decisions rest on, or that tell of one. */
export const REPLAY_EVENTS: ReadonlySet<string> = new Set([
  'execution.started', 'execution.retried', 'execution.completed', 'execution.failed', 'execution.blocked', 'execution.cancelled',
  'hitl.created', 'hitl.approved', 'hitl.rejected', 'hitl.escalated', 'hitl.timed_out', 'hitl.cancelled', 'hitl.voted', 'hitl.edited',
  'capability.granted', 'capability.config_updated', 'capability.revoked', 'admin.stop_started', 'admin.stop_ended',
  'agent.registered', 'agent.updated', 'agent.deactivated', 'agent.activated', 'agent.removed', 'agent.transferred',
  'agent.tokens_revoked', 'agent.token_refreshed', 'auth.agent_jwt_issued',
]);

export interface ReplayFound {
  /** Decisions that come out as they were made. */
  readonly right: number;
  readonly wrong: number;
  /** Decisions of which not enough is left to make them again, by why. */
  readonly notReplayable: Readonly<Partial<Record<NotReplayableReason, number>>>;
  readonly breaks: readonly Finding[];
}

/** What is asked only where something is wrong. */
export interface ReplaySources {
  /** The entries that were judged, once more. */
  entries(): AsyncIterable<readonly StoredEntry[]>;
  readonly leaves: OrderedLeaves;
}

/** Opens an entry if its event counts here. */
export type Open = (stored: StoredEntry) => OpenEntry | undefined;

interface Followed {
  readonly key: string;
  readonly replayed: ReplayedChain | undefined;
}

/**
 * Decides anew, from entries alone, what the gate decided: what began, what was asked, what was approved and what was blocked. Wrong is
 * only what was so in no order in which overlapping commits may have come. What is wrong by its stamp is decided once more in a second
 * reading, when it is known in which order entries came and where clocks stepped back: so nothing has to be kept of it meanwhile.
 */
export class Replay {
  private chain: Followed | undefined;
  private right = 0;
  private readonly notReplayable: Partial<Record<NotReplayableReason, number>> = {};
  /** Chains with something that is wrong by its stamp, by organization. */
  private readonly suspected = new Map<string, Set<string>>();
  /** Of chains that show any. */
  private readonly steps = new Map<string, ClockSteps>();
  private looked = new ClockSteps();

  constructor(private readonly shared: SharedFacts, private readonly open: Open) {}

  /** @param opened of the events in `REPLAY_EVENTS` */
  entry(stored: StoredEntry, opened: OpenEntry | undefined): void {
    const { organizationId, chain } = stored;
    const before = this.chain;
    this.chain = this.followed(before, stored);
    if (this.chain !== before) this.looked = new ClockSteps();
    if (isAgentChain(chain)) this.look(this.chain.key, stampOf(stored));
    const again = opened && this.chain.replayed?.entry(opened);
    if (!again) return;
    const verdict = this.decided(again);
    if (verdict.kind !== 'wrong') return this.count(verdict);
    const chains = this.suspected.get(organizationId);
    if (chains) chains.add(chain);
    else this.suspected.set(organizationId, new Set([chain]));
  }

  async end(sources: ReplaySources): Promise<ReplayFound> {
    const breaks: Finding[] = [];
    let count = 0;
    if (this.suspected.size > 0) {
      for await (const found of this.stillWrong(sources)) {
        count++;
        if (breaks.length < MAX_FINDINGS) breaks.push(found);
      }
    }
    return { right: this.right, wrong: count, notReplayable: this.notReplayable, breaks };
  }

  /** Where clocks stepped back meanwhile, times say less: it is asked again with that much more room. */
  private async *stillWrong({ entries, leaves }: ReplaySources): AsyncGenerator<Finding> {
    const orders = new Map<string, CommitOrder>();
    for (const [id, chains] of this.suspected) {
      orders.set(id, await CommitOrder.read(organizationChain(id).chain, this.shared.stampsOf(id), chains, leaves(id)));
    }
    const momentsIn = ({ organizationId: id, chain }: StoredEntry): MomentOf => (seq, at) =>
      orders.get(id)!.momentOf(chain, seq, at, this.steps.get(chainKey(id, chain))?.around(at));
    let followed: Followed | undefined;
    for await (const batch of entries()) {
      for (const stored of batch) {
        if (this.suspected.get(stored.organizationId)?.has(stored.chain) !== true) continue;
        const momentOf = momentsIn(stored);
        followed = this.followed(followed, stored, momentOf);
        const opened = this.open(stored);
        // What could not be judged before is told already.
        const again = opened && isolateFailure(() => followed!.replayed?.entry(opened), () => undefined);
        if (!again || isolateFailure(() => this.decided(again).kind, () => undefined) !== 'wrong') continue;
        const verdict = isolateFailure(() => this.decided(again, momentOf(stored.seq, opened.at)), wrong);
        if (verdict.kind === 'wrong') yield breakOf(stored, verdict.detail);
        else this.count(verdict);
      }
    }
  }

  private followed(last: Followed | undefined, stored: StoredEntry, momentOf?: MomentOf): Followed {
    const key = chainKey(stored.organizationId, stored.chain);
    if (last?.key === key) return last;
    return { key, replayed: isAgentChain(stored.chain) ? new ReplayedChain(stored, this.shared, momentOf) : undefined };
  }

  private decided(again: Replayed, moment?: Moment): ReplayResult {
    return readTwice((reading) => again(this.shared.read(reading), moment));
  }

  private count(verdict: Exclude<ReplayResult, { kind: 'wrong' }>): void {
    if (verdict.kind === 'right') this.right++;
    else this.notReplayable[verdict.because] = (this.notReplayable[verdict.because] ?? 0) + 1;
  }

  private look(key: string, at: number): void {
    this.looked.look(at);
    if (!this.looked.isNone) this.steps.set(key, this.looked);
  }
}

function breakOf({ chain, seq, id, event }: StoredEntry, detail: string): Finding {
  return { chain, position: seq, entryId: id, kind: 'gate_wrong', detail: `entry ${seq} of chain ${chain} (${event}): ${detail}` };
}

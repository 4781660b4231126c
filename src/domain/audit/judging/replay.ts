import type { Break } from '../breaks.js';
import { isAgentChain, organizationChain } from '../chain.js';
import type { StoredEntry } from '../stored-entry.js';
import type { OpenEntry } from './open-entry.js';
import { type Moment, OVERLAP_MS } from './overlap.js';
import { type Replayed, ReplayedChain } from './replayed-chain.js';
import type { SharedFacts } from './shared-facts.js';
import { momentsInOrder, type OrderedLeaves } from './stamps-in-order.js';
import { readTwice, type ReplayVerdict, type Unplayable } from './verdict.js';

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
  readonly notReplayable: Readonly<Partial<Record<Unplayable, number>>>;
  readonly breaks: readonly Break[];
}

interface Wrong {
  readonly stored: StoredEntry;
  readonly at: number;
  readonly detail: string;
  readonly again: Replayed;
}

/** More are counted, and not listed. */
const LISTED = 1_000;

/**
 * Decides anew, from entries alone, what the gate decided: what began, what was asked, what was approved and what was blocked. Wrong is
 * only what was so in no order in which overlapping commits may have come.
 */
export class Replay {
  private chain: { readonly key: string; readonly replayed: ReplayedChain | undefined; newest: number } | undefined;
  private right = 0;
  private unlisted = 0;
  private readonly notReplayable: Partial<Record<Unplayable, number>> = {};
  private readonly suspected: Wrong[] = [];
  /** Times through which some server's clock ran twice. */
  private readonly repeated: Moment[] = [];

  constructor(private readonly shared: SharedFacts) {}

  /** @param opened of the events in `REPLAY_EVENTS` */
  entry(stored: StoredEntry, opened: OpenEntry | undefined): void {
    const key = `${stored.organizationId} ${stored.chain}`;
    if (this.chain?.key !== key) {
      this.chain = { key, newest: -Infinity, replayed: isAgentChain(stored.chain) ? new ReplayedChain(stored, this.shared) : undefined };
    }
    this.look(this.chain, Date.parse(stored.timestamp));
    const again = opened && this.chain.replayed?.entry(opened);
    if (!again) return;
    const verdict = this.decided(again);
    if (verdict.kind !== 'wrong') this.count(verdict);
    else if (this.suspected.length < LISTED) this.suspected.push({ stored, at: opened.at, again, detail: verdict.detail });
    else this.unlisted++;
  }

  /** @param leaves asked only where something is wrong */
  async end(leaves: OrderedLeaves): Promise<ReplayFound> {
    const left = this.suspected.flatMap((one) => this.stillWrong(one, this.repeated.filter((moment) => isWithin(one.at, moment))));
    const breaks: Break[] = [];
    for (const organizationId of new Set(left.map(({ stored }) => stored.organizationId))) {
      const suspected = left.filter(({ stored }) => stored.organizationId === organizationId);
      const own = organizationChain(organizationId).chain;
      const stampOf = ({ chain, seq }: { chain: string; seq: number }) =>
        chain === own ? this.shared.stampOf(organizationId, seq) : undefined;
      const moments = await momentsInOrder(suspected, stampOf, leaves(organizationId));
      for (const one of suspected) {
        const moment = moments.get(one.stored.id);
        for (const { stored, detail } of this.stillWrong(one, moment ? [moment] : [])) breaks.push(breakOf(stored, detail));
      }
    }
    const wrong = breaks.length + this.unlisted;
    return { right: this.right, wrong, notReplayable: this.notReplayable, breaks };
  }

  private decided(again: Replayed, moment?: Moment): ReplayVerdict {
    return readTwice((reading) => again(this.shared.read(reading), moment));
  }

  private count(verdict: Exclude<ReplayVerdict, { kind: 'wrong' }>): void {
    if (verdict.kind === 'right') this.right++;
    else this.notReplayable[verdict.because] = (this.notReplayable[verdict.because] ?? 0) + 1;
  }

  /** Where clocks stepped back meanwhile, times say less: it is asked again with that much more room. */
  private stillWrong(one: Wrong, moments: readonly Moment[]): Wrong[] {
    if (moments.length === 0) return [one];
    const from = Math.min(one.at, ...moments.map((moment) => moment.from)) - OVERLAP_MS;
    const to = Math.max(one.at, ...moments.map((moment) => moment.to)) + OVERLAP_MS;
    const verdict = this.decided(one.again, { from, to });
    if (verdict.kind === 'wrong') return [{ ...one, detail: verdict.detail }];
    this.count(verdict);
    return [];
  }

  private look(chain: { newest: number }, at: number): void {
    if (at < chain.newest - OVERLAP_MS) this.repeat({ from: at, to: chain.newest });
    chain.newest = Math.max(chain.newest, at);
  }

  private repeat(moment: Moment): void {
    const last = this.repeated.at(-1);
    if (last && last.to === moment.to) this.repeated[this.repeated.length - 1] = { from: Math.min(last.from, moment.from), to: last.to };
    else if (this.repeated.length < LISTED) this.repeated.push(moment);
  }
}

function isWithin(at: number, { from, to }: Moment): boolean {
  return at >= from - OVERLAP_MS && at <= to + OVERLAP_MS;
}

function breakOf({ chain, seq, id, event }: StoredEntry, detail: string): Break {
  return { chain, position: seq, entryId: id, kind: 'gate_wrong', detail: `entry ${seq} of chain ${chain} (${event}): ${detail}` };
}

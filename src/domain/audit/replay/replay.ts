import { isAgentChain, organizationChain, PLATFORM_ORGANIZATION } from '../entry/chain.js';
import type { OpenEntry } from '../entry/open-entry.js';
import type { StoredEntry, StoredLeaf } from '../entry/stored-entry.js';
import { findingAt, Findings } from '../integrity/findings.js';
import { basisIn, delegatorsIn } from './recorded-basis.js';
import { ReplayChain, type Replayed } from './replay-chain.js';
import type { Link } from './replay-decision.js';
import { readTwice, type ReplayResult, type Unplayable, wrong } from './replay-result.js';
import type { SharedFacts } from './state/shared-facts.js';
import { TreeOrder } from './tree-order.js';

/** Events of agents' chains that are decisions, or that decisions rest on. */
export const REPLAY_EVENTS: ReadonlySet<string> = new Set([
  'execution.started', 'execution.retried', 'execution.completed', 'execution.failed', 'execution.blocked', 'execution.cancelled',
  'hitl.created', 'hitl.approved', 'hitl.rejected', 'hitl.escalated', 'hitl.timed_out', 'hitl.cancelled', 'hitl.voted', 'hitl.edited',
  'capability.granted', 'capability.config_updated', 'capability.revoked', 'admin.stop_started', 'admin.stop_ended',
  'agent.registered', 'agent.updated', 'agent.deactivated', 'agent.activated', 'agent.removed', 'agent.transferred',
  'agent.tokens_revoked', 'agent.token_refreshed', 'agent.key_created', 'agent.key_deleted', 'auth.agent_jwt_issued',
]);

/** Leaves of an organization in the order of its tree, and what is queued behind. */
export type OrderedLeaves = (organizationId: string) => AsyncIterable<readonly Pick<StoredLeaf, 'chain' | 'seq'>[]>;

/**
 * Policy replay: decides again, from entries alone, what the gate and people decided. Each decision names the positions in the chains of
 * its shared facts and, where it is about a task, in those of the agents that gave the task; the tree of its organization shows that
 * nothing there changed between these and the decision.
 */
export class Replay {
  /** Decisions that come out as recorded, those that do not, and those whose facts are no longer complete, by the reason. */
  readonly found = { right: 0, wrong: new Findings(), notReplayable: {} as Partial<Record<Unplayable, number>> };
  private organizationId: string | undefined;
  private order: TreeOrder | undefined;
  private chain: { readonly first: StoredEntry; readonly replayed: ReplayChain } | undefined;

  constructor(private readonly shared: SharedFacts, private readonly leaves: OrderedLeaves) {}

  /** Before the first entry of an organization that is not the one before. @returns nothing where it is the same */
  begin({ organizationId }: StoredEntry): Promise<void> | undefined {
    return organizationId === this.organizationId ? undefined : this.readOrder(organizationId);
  }

  /** @param opened of the events in `REPLAY_EVENTS` */
  entry(stored: StoredEntry, opened: OpenEntry | undefined): void {
    if (!isAgentChain(stored.chain)) return;
    const replayed = opened && this.replayed(stored, opened);
    if (!replayed) return;
    const result = this.decided(opened, replayed);
    if (result.kind === 'right') this.found.right++;
    else if (result.kind === 'wrong') this.found.wrong.add([findingAt(stored, 'gate_wrong', `(${stored.event}): ${result.detail}`)]);
    else this.found.notReplayable[result.because] = (this.found.notReplayable[result.because] ?? 0) + 1;
  }

  private async readOrder(organizationId: string): Promise<void> {
    this.organizationId = organizationId;
    const followed = new Map([...this.shared.agentsOf(organizationId)].map(([chain, { changes }]) => [chain, changes]));
    followed.set(organizationChain(organizationId).chain, this.shared.of(organizationId).changes);
    this.order = await TreeOrder.read(followed, this.leaves(organizationId));
  }

  private replayed(stored: StoredEntry, opened: OpenEntry): Replayed | undefined {
    const { first } = this.chain ?? {};
    if (first?.organizationId !== stored.organizationId || first.chain !== stored.chain) {
      this.chain = { first: stored, replayed: new ReplayChain(stored, this.shared) };
    }
    return this.chain!.replayed.entry(opened);
  }

  private decided({ stored: { organizationId, chain, seq }, metadata }: OpenEntry, replayed: Replayed): ReplayResult {
    if (typeof replayed !== 'function') return replayed;
    const [basis, delegators] = [basisIn(metadata), delegatorsIn(metadata)];
    if (!basis || !delegators) return wrong('it does not tell what it rests on');
    const { organization, platform } = basis;
    if (organization > this.shared.of(organizationId).newest || platform > this.shared.of(PLATFORM_ORGANIZATION).newest) {
      return wrong('it rests on what no chain has recorded');
    }
    const outOfOrder = this.order!.whyNotAt(chain, seq, organizationChain(organizationId).chain, organization);
    if (outOfOrder !== undefined) return wrong(outOfOrder);
    const others: Link[] = [];
    for (const { agentId, position, ...grant } of delegators) {
      const at = this.shared.agentAt(organizationId, agentId, position);
      const problem = at ? position > 0 && this.order!.whyNotAt(chain, seq, agentId, position) : 'nothing is known of it';
      if (!at || typeof problem === 'string') return wrong(`${agentId}, which delegated it: ${problem}`);
      others.push({ agentId, at, ...grant });
    }
    return readTwice((reading) => replayed(this.shared.at(organizationId, basis, reading), others));
  }
}

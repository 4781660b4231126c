import { type OpenEntry, text } from '../../entry/open-entry.js';
import type { StoredEntry } from '../../entry/stored-entry.js';
import { UNKNOWN, type Unknown } from '../replay-result.js';
import { type AgentState, agentAfter, NEW_AGENT, UNKNOWN_AGENT } from './agent-state.js';
import { type GrantState, grantOf } from './grant-state.js';
import type { SharedFacts } from './shared-facts.js';

/** An agent by its own chain, up to the entry that was taken last. */
export class AgentChain {
  agent: AgentState;
  /** Grants that were revoked in the part of the chain that is left. */
  readonly revoked = new Set<string>();
  /** By capability; undefined once the grant is revoked. */
  private readonly grants = new Map<string, GrantState | undefined>();
  private readonly stops = new Set<string>();
  /** Where in the chain a stop of the agent's own was last in force. */
  private stoppedSeq = 0;
  /** Grants and stops before the first entry that is left are not known. */
  private isCut: boolean;

  constructor(first: StoredEntry, private readonly shared: SharedFacts) {
    const arrives = first.event === 'agent.transferred';
    this.isCut = first.seq > 1 && !arrives;
    this.agent = arrives ? shared.arrivingAt(first.chain, first.seq) : this.isCut ? UNKNOWN_AGENT : NEW_AGENT;
  }

  take(opened: OpenEntry): undefined {
    const { stored: { event, seq, chain, capability }, metadata } = opened;
    const [grantId, stopId] = [text(metadata, 'grantId') ?? '', text(metadata, 'stopId') ?? ''];
    if (event === 'capability.granted' || event === 'capability.config_updated') {
      const grant = grantOf(opened);
      if (grant) this.grants.set(grant.capability, grant);
    } else if (event === 'capability.revoked') {
      this.revoked.add(grantId);
      if (this.grants.get(capability ?? '')?.facts.id === grantId) this.grants.set(capability ?? '', undefined);
    } else if (event === 'admin.stop_started') this.stops.add(stopId);
    else if (event === 'admin.stop_ended') {
      this.stops.delete(stopId);
      this.stoppedSeq = seq;
    } else if (event === 'agent.transferred' && metadata['direction'] === 'in') this.arrive(chain, seq);
    else this.agent = agentAfter(this.agent, opened);
  }

  /** The agent's own grant that is not revoked. */
  grant(capability: string): GrantState | undefined | Unknown {
    return this.grants.has(capability) || !this.isCut ? this.grants.get(capability) : UNKNOWN;
  }

  /** Whether a stop of the agent's own is in force. */
  get isStopped(): boolean | Unknown {
    return this.stops.size > 0 || (this.isCut && UNKNOWN);
  }

  mayHaveBeenStoppedSince(seq: number): boolean {
    return this.isCut || this.stops.size > 0 || this.stoppedSeq > seq;
  }

  /** Back in an organization where the agent was before: its state comes from elsewhere, without grants, and without a stop. */
  private arrive(chain: string, seq: number): void {
    this.agent = this.shared.arrivingAt(chain, seq);
    this.isCut = false;
    this.grants.clear();
    this.stops.clear();
  }
}

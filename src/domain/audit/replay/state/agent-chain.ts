import { getOrInsert } from '../../../collections.js';
import { type OpenEntry, text } from '../../entry/open-entry.js';
import type { StoredEntry } from '../../entry/stored-entry.js';
import { UNKNOWN, type Unknown } from '../replay-result.js';
import { type AgentState, agentAfter, GONE_AGENT, NEW_AGENT, UNKNOWN_AGENT } from './agent-state.js';
import { type GrantState, grantOf } from './grant-state.js';
import { Versioned } from './versioned.js';

/** Entries that change what an agent may do by itself, whoever of its chain acts. Tokens are asked of the acting agent alone. */
export const AGENT_EVENTS: readonly string[] = [
  'agent.registered', 'agent.updated', 'agent.deactivated', 'agent.activated', 'agent.removed', 'agent.transferred',
  'capability.granted', 'capability.config_updated', 'capability.revoked', 'admin.stop_started', 'admin.stop_ended',
];

/** An agent at one position of its chain. */
export interface AgentAt {
  readonly agent: AgentState;
  /** Whether a stop of the agent's own is in force. */
  readonly isStopped: boolean | Unknown;
  /** The agent's own grant that is not revoked. */
  grant(capability: string): GrantState | undefined | Unknown;
  /** Whether the grant was revoked in the part of the chain that is left. */
  hasRevoked(grantId: string): boolean;
}

/** An agent that the organization has no more. */
export const GONE: AgentAt = { agent: GONE_AGENT, isStopped: false, grant: () => undefined, hasRevoked: () => false };

/** An agent whose chain a retention run has taken. */
export const SWEPT: AgentAt = { agent: UNKNOWN_AGENT, isStopped: UNKNOWN, grant: () => UNKNOWN, hasRevoked: () => false };

/** Knows agents as they left an organization, and which chains retention runs have cut. */
export interface Surroundings {
  arrivingAt(chain: string, seq: number): AgentState;
  sweptAt(organizationId: string, chain: string): number | undefined;
}

/** An agent by its own chain in one organization, at each position so far. Grows with changes of the agent, not with its actions. */
export class AgentChain {
  /** Rising positions of the entries that changed the agent, a grant or a stop. */
  readonly changes: number[] = [];
  private state: AgentState;
  private readonly states = new Versioned<AgentState>();
  /** By capability; null once the grant is revoked. */
  private readonly grants = new Map<string, Versioned<GrantState | null>>();
  private readonly revoked = new Map<string, number>();
  private readonly openStops = new Set<string>();
  private readonly stopped = new Versioned<boolean>();
  /** Where the agent last arrived from another organization. */
  private arrivedAt: number | undefined;
  private beginsWithArrival = false;

  constructor(private readonly first: StoredEntry, private readonly surroundings: Surroundings) {
    this.state = first.seq > 1 ? UNKNOWN_AGENT : NEW_AGENT;
  }

  take(opened: OpenEntry): undefined {
    const { stored: { event, seq, chain, capability }, metadata } = opened;
    const [grantId, stopId] = [text(metadata, 'grantId') ?? '', text(metadata, 'stopId') ?? ''];
    if (AGENT_EVENTS.includes(event)) this.changes.push(seq);
    if (event === 'capability.granted' || event === 'capability.config_updated') {
      const grant = grantOf(opened);
      if (grant) getOrInsert(this.grants, grant.capability, () => new Versioned<GrantState | null>()).set(seq, grant);
    } else if (event === 'capability.revoked') {
      this.revoked.set(grantId, seq);
      const grants = this.grants.get(capability ?? '');
      if (grants?.last?.facts.id === grantId) grants.set(seq, null);
    } else if (event === 'admin.stop_started' || event === 'admin.stop_ended') {
      if (event === 'admin.stop_started') this.openStops.add(stopId);
      else this.openStops.delete(stopId);
      this.stopped.set(seq, this.openStops.size > 0);
    } else if (event === 'agent.transferred' && metadata['direction'] === 'in') this.arrive(chain, seq);
    else {
      this.state = agentAfter(this.state, opened);
      if (AGENT_EVENTS.includes(event)) this.states.set(seq, event === 'agent.transferred' ? GONE_AGENT : this.state);
    }
  }

  /** After the entry that was taken last. */
  get now(): AgentAt {
    return this.viewOf(this.state, Infinity);
  }

  /** As of a position, without tokens. */
  at(position: number): AgentAt {
    return this.viewOf(this.states.at(position) ?? (this.isUnknownAt(position) ? UNKNOWN_AGENT : GONE_AGENT), position);
  }

  mayHaveBeenStoppedSince(seq: number): boolean {
    return this.isUnknownAt(Infinity) || this.stopped.during(seq, Infinity).includes(true);
  }

  private viewOf(agent: AgentState, position: number): AgentAt {
    const isUnknown = this.isUnknownAt(position);
    return {
      agent,
      isStopped: this.stopped.at(position) === true || (isUnknown && UNKNOWN),
      grant: (capability) => {
        const grant = this.grants.get(capability)?.at(position);
        return grant === undefined && isUnknown ? UNKNOWN : (grant ?? undefined);
      },
      hasRevoked: (grantId) => this.revoked.has(grantId) && this.revoked.get(grantId)! <= position,
    };
  }

  /** Grants and stops before the first entry that is left are not known, until the agent arrives anew. */
  private isUnknownAt(position: number): boolean {
    const { first: { organizationId, chain, seq }, arrivedAt } = this;
    if (seq === 1 || (arrivedAt !== undefined && position >= arrivedAt)) return false;
    return !this.beginsWithArrival || this.surroundings.sweptAt(organizationId, chain) !== undefined;
  }

  /** Back in an organization where the agent was before: its state comes from elsewhere, without grants, and without a stop. */
  private arrive(chain: string, seq: number): void {
    this.state = this.surroundings.arrivingAt(chain, seq);
    this.states.set(seq, this.state);
    this.arrivedAt = seq;
    if (seq === this.first.seq) this.beginsWithArrival = true;
    for (const grants of this.grants.values()) grants.set(seq, null);
    this.openStops.clear();
    this.stopped.set(seq, false);
  }
}

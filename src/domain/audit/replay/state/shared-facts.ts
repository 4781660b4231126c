import { getOrInsert } from '../../../collections.js';
import { isJsonObject } from '../../../json.js';
import { isAgentChain } from '../../entry/chain.js';
import type { OpenEntry } from '../../entry/open-entry.js';
import type { StoredEntry } from '../../entry/stored-entry.js';
import type { RecordedRetentionRuns } from '../../completeness/completeness.js';
import { openCheckedEntry } from '../../completeness/metadata-check.js';
import { isolateFailure } from '../isolate-failure.js';
import type { RecordedBasis } from '../recorded-basis.js';
import type { Reading } from '../replay-result.js';
import { type AgentAt, AgentChain, GONE, SWEPT } from './agent-chain.js';
import { type AgentState, transferred, UNKNOWN_AGENT } from './agent-state.js';
import { FactsAt } from './facts-at.js';
import { OrganizationFacts } from './organization-facts.js';

const SWEEP = 'admin.audit_retention_sweep';

/** Entries that concern many agents, which are read before the agents' own chains. */
export const SHARED_EVENTS: readonly string[] = [
  'capability.granted', 'capability.config_updated', 'capability.revoked', 'capability.defined', 'capability.definition_updated',
  'capability.definition_removed', 'admin.stop_started', 'admin.stop_ended', 'admin.user_created', 'admin.user_updated',
  'admin.user_deleted', 'admin.team_changed', 'admin.organization_created', SWEEP,
];
/** Those of them that concern deciders in other organizations of the tenant, too. */
export const PEOPLE_EVENTS: readonly string[] = ['admin.user_created', 'admin.user_updated', 'admin.user_deleted', SWEEP];

/** Whether the key that signs now has signed the entry of a retention run: anybody who may append could append one. */
export type IsAuthorizedRun = (entry: OpenEntry) => boolean;

const NOBODY = new OrganizationFacts();
const NO_AGENTS: ReadonlyMap<string, AgentChain> = new Map();

/** Facts from beside an agent's own chain: shared ones by organizations' chains, their retention runs, and other agents' chains. */
export class SharedFacts implements RecordedRetentionRuns {
  private readonly organizations = new Map<string, OrganizationFacts>();
  /** When chains were last cut, by organization and chain. */
  private readonly sweeps = new Map<string, Map<string, number>>();
  /** Agents as they left an organization, by chain and position of that entry. */
  private readonly departures = new Map<string, AgentState>();
  /** Why an entry could not be taken, by its id. */
  private readonly untaken = new Map<string, string>();
  /** Agents that gave tasks or were transferred, by organization. */
  private readonly agents = new Map<string, Map<string, AgentChain>>();

  /** @param tenants of organizations by their rows, for those whose first entry, which names the tenant, was swept */
  constructor(private readonly isOrdered: IsAuthorizedRun, private readonly tenants: ReadonlyMap<string, string> = new Map()) {}

  /** Organizations' entries in the order of their chains; and `AGENT_EVENTS` of agents that gave tasks or were transferred, by position. */
  add(stored: StoredEntry): void {
    isolateFailure(() => this.take(stored), (why) => void this.untaken.set(stored.id, why));
  }

  /** Why the facts of an entry are not known; undefined where they are. */
  whyUntaken(entryId: string): string | undefined {
    return this.untaken.get(entryId);
  }

  at(organizationId: string, basis: RecordedBasis, reading: Reading): FactsAt {
    return new FactsAt((id) => this.of(id), organizationId, basis, reading);
  }

  of(organizationId: string): OrganizationFacts {
    return this.organizations.get(organizationId) ?? NOBODY;
  }

  /** The agent as it was when the segment before this position ended, in whichever organization. */
  arrivingAt(chain: string, seq: number): AgentState {
    return this.departures.get(`${chain} ${seq - 1}`) ?? transferred(UNKNOWN_AGENT);
  }

  /** Of agents that gave tasks or were transferred. */
  agentsOf(organizationId: string): ReadonlyMap<string, AgentChain> {
    return this.agents.get(organizationId) ?? NO_AGENTS;
  }

  /** One of them at a position; undefined of an agent that the organization never had. */
  agentAt(organizationId: string, agentId: string, position: number): AgentAt | undefined {
    const known = this.agentsOf(organizationId).get(agentId);
    if (!known) return this.sweptAt(organizationId, agentId) === undefined ? undefined : SWEPT;
    // Position 0: the organization had the agent no more.
    return position > 0 ? known.at(position) : GONE;
  }

  sweptAt(organizationId: string, chain: string): number | undefined {
    return this.sweeps.get(organizationId)?.get(chain);
  }

  hasSwept(organizationId: string): boolean {
    return this.sweeps.has(organizationId);
  }

  private take(stored: StoredEntry): void {
    const { organizationId, chain, seq, event } = stored;
    if (isAgentChain(chain)) return this.agentChanged(stored);
    const facts = getOrInsert(this.organizations, organizationId, () => new OrganizationFacts(this.tenants.get(organizationId)));
    // The position counts also where the entry cannot be read.
    facts.reach(seq);
    const opened = SHARED_EVENTS.includes(event) ? openCheckedEntry(stored, true) : undefined;
    if (!opened) return;
    if (event !== SWEEP) facts.take(opened);
    else if (this.isOrdered(opened)) this.swept(opened);
  }

  private agentChanged(stored: StoredEntry): void {
    const opened = openCheckedEntry(stored, true);
    if (!opened) return;
    const { organizationId, chain, seq, event } = stored;
    const here = getOrInsert(this.agents, organizationId, () => new Map<string, AgentChain>());
    const agent = getOrInsert(here, chain, () => new AgentChain(stored, this));
    agent.take(opened);
    if (event === 'agent.transferred' && opened.metadata['direction'] === 'out') this.departures.set(`${chain} ${seq}`, agent.now.agent);
  }

  private swept({ stored: { organizationId }, at, metadata: { chains } }: OpenEntry): void {
    const cuts = getOrInsert(this.sweeps, organizationId, () => new Map<string, number>());
    for (const cut of Array.isArray(chains) ? chains : []) {
      if (isJsonObject(cut) && typeof cut['chain'] === 'string') cuts.set(cut['chain'], at);
    }
  }
}

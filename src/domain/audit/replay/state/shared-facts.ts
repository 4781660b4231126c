import { isJsonObject, type JsonObject } from '../../../json.js';
import { isAgentChain } from '../../entry/chain.js';
import type { StoredEntry } from '../../entry/stored-entry.js';
import { type AgentState, agentAfter, transferred, UNKNOWN_AGENT } from './agent-state.js';
import type { RecordedRetentionRuns } from '../../completeness/completeness.js';
import { isolateFailure } from '../isolate-failure.js';
import { openCheckedEntry } from '../../completeness/metadata-check.js';
import { type OpenEntry } from '../../entry/open-entry.js';
import { OrganizationFacts } from './organization-facts.js';
import type { RecordedBasis } from '../recorded-basis.js';
import type { Reading } from '../replay-result.js';
import { FactsAt } from './facts-at.js';

const SWEPT = 'admin.audit_retention_sweep';

/** Entries that concern many agents: what they tell has to be known before the agents' own chains are judged. */
export const SHARED_EVENTS: readonly string[] = [
  'capability.granted', 'capability.config_updated', 'capability.revoked', 'capability.defined', 'capability.definition_updated',
  'capability.definition_removed', 'admin.stop_started', 'admin.stop_ended', 'admin.user_created', 'admin.user_updated',
  'admin.user_deleted', 'admin.team_changed', 'admin.organization_created', SWEPT,
];
/** Those of them that tell who may decide in other organizations of the tenant, too. */
export const PEOPLE_EVENTS: readonly string[] = ['admin.user_created', 'admin.user_updated', 'admin.user_deleted', SWEPT];

/** Whether the key that signs now has signed what a sweep's entry says: anybody who may append could say it. */
export type IsAuthorizedRun = (entry: OpenEntry) => boolean;

interface Travelling {
  readonly organizationId: string;
  readonly seq: number;
  readonly hasLeft: boolean;
  readonly agent: AgentState;
}

const NOBODY = new OrganizationFacts();

/**
 * The shared facts of organizations as their chains tell them: definitions, grants of teams, stops, people and their roles, tenants,
 * sweeps. Grows with what administrators do, not with what agents do.
 */
export class SharedFacts implements RecordedRetentionRuns {
  private readonly organizations = new Map<string, OrganizationFacts>();
  /** When chains were last cut, by organization and chain. */
  private readonly sweeps = new Map<string, Map<string, number>>();
  /** What agents were when they left an organization, by chain and position of that entry. */
  private readonly departures = new Map<string, AgentState>();
  /** By the ids of entries that tell what nobody can follow: why. */
  private readonly untaken = new Map<string, string>();
  private readonly travelling = new Map<string, Travelling>();

  /** @param tenants of organizations, as their rows say: asked of those alone whose first entry, which tells it, was swept */
  constructor(private readonly isOrdered: IsAuthorizedRun, private readonly tenants: ReadonlyMap<string, string> = new Map()) {}

  /** Organizations' entries in the order of their chains; and all of `agent.*` of agents that were transferred, by position. */
  add(stored: StoredEntry): void {
    isolateFailure(() => this.take(stored), (why) => void this.untaken.set(stored.id, why));
  }

  /** Why what an entry tells is not known; undefined where it is. */
  whyUntaken(entryId: string): string | undefined {
    return this.untaken.get(entryId);
  }

  private take(stored: StoredEntry): void {
    if (isAgentChain(stored.chain)) return this.agent(stored);
    const facts = this.factsFor(stored.organizationId);
    facts.entry(stored.seq);
    const opened = SHARED_EVENTS.includes(stored.event) ? openCheckedEntry(stored, true) : undefined;
    if (!opened) return;
    if (stored.event !== SWEPT) facts.tell(opened);
    else if (this.isOrdered(opened)) this.swept(opened);
  }

  /** What an organization's agents share, as a decision saw it. */
  at(organizationId: string, basis: RecordedBasis, reading: Reading): FactsAt {
    return new FactsAt((id) => this.of(id), organizationId, basis, reading);
  }

  /** What an organization's own chain tells. */
  of(organizationId: string): OrganizationFacts {
    return this.organizations.get(organizationId) ?? NOBODY;
  }

  /** What the agent was when the segment before this position ended, wherever that was. */
  arrivingAt(chain: string, seq: number): AgentState {
    return this.departures.get(`${chain} ${seq - 1}`) ?? transferred(UNKNOWN_AGENT);
  }

  sweptAt(organizationId: string, chain: string): number | undefined {
    return this.sweeps.get(organizationId)?.get(chain);
  }

  hasSwept(organizationId: string): boolean {
    return this.sweeps.has(organizationId);
  }

  private factsFor(organizationId: string): OrganizationFacts {
    let facts = this.organizations.get(organizationId);
    if (!facts) this.organizations.set(organizationId, (facts = new OrganizationFacts(this.tenants.get(organizationId))));
    return facts;
  }

  private agent(stored: StoredEntry): void {
    const opened = openCheckedEntry(stored, true);
    if (!opened) return;
    const { organizationId, chain, seq, event } = stored;
    const last = this.travelling.get(chain);
    const agent = agentAfter(last && goesOn(last, opened) ? last.agent : UNKNOWN_AGENT, opened);
    const hasLeft = event === 'agent.transferred' && opened.metadata['direction'] === 'out';
    this.travelling.set(chain, { organizationId, seq, hasLeft, agent });
    if (hasLeft) this.departures.set(`${chain} ${seq}`, agent);
  }

  private swept({ stored: { organizationId }, at, metadata }: OpenEntry): void {
    const cuts = this.sweeps.get(organizationId) ?? new Map<string, number>();
    this.sweeps.set(organizationId, cuts);
    const chains = metadata['chains'];
    for (const cut of Array.isArray(chains) ? (chains as unknown as JsonObject[]) : []) {
      if (isJsonObject(cut) && typeof cut['chain'] === 'string') cuts.set(cut['chain'], at);
    }
  }
}

/** Organizations are swept one after another, so a stay between two that are told may be gone; within a stay only its beginning is. */
function goesOn(last: Travelling, { stored: { event, organizationId, seq }, metadata }: OpenEntry): boolean {
  const arrives = event === 'agent.transferred' && metadata['direction'] === 'in';
  return arrives ? last.hasLeft && seq === last.seq + 1 : !last.hasLeft && organizationId === last.organizationId;
}

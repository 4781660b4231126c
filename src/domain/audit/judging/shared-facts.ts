import type { Role } from '../../access/access.js';
import { ROLES } from '../../access/access.js';
import { builtIn, isHardcoded } from '../../gate/catalogue.js';
import type { HttpConnector } from '../../gate/connector.js';
import type { CapabilityFacts } from '../../gate/decide.js';
import { definitionDigest } from '../../gate/definition-digest.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { isAgentChain, PLATFORM_ORGANIZATION } from '../chain.js';
import type { StoredEntry } from '../stored-entry.js';
import type { KnownSweeps } from './completeness.js';
import { type GrantView, grantOf } from './grant-view.js';
import { type OpenEntry, openEntry, text } from './open-entry.js';
import { type Moment, Timeline } from './overlap.js';
import { type AgentView, agentAfter, UNKNOWN_AGENT } from './agent-view.js';

/** Entries that concern many agents: what they tell has to be known before the agents' own chains are judged. */
export const SHARED_EVENTS: readonly string[] = [
  'capability.granted', 'capability.config_updated', 'capability.revoked', 'capability.defined', 'capability.definition_updated',
  'capability.definition_removed', 'admin.stop_started', 'admin.stop_ended', 'admin.user_created', 'admin.user_updated',
  'admin.user_deleted', 'admin.team_changed', 'admin.audit_retention_sweep',
];

/** `erased`: part of it is, so its digest is all that is known. */
export type DefinitionView = { readonly facts: CapabilityFacts; readonly isErased: boolean };
export type TeamRole = 'member' | 'lead';

interface Stop {
  readonly from: number;
  to: number;
}

/** What an organization's own chain tells, over time. */
class OrganizationFacts {
  /** Its chain is there from its first entry on. */
  isWhole = false;
  readonly definitions = new Map<string, Timeline<DefinitionView | undefined>>();
  readonly teamGrants = new Map<string, Timeline<GrantView | undefined>>();
  readonly grantPlaces = new Map<string, string>();
  readonly stops = new Map<string, Stop>();
  readonly users = new Map<string, Timeline<Role | undefined>>();
  readonly members = new Map<string, Timeline<TeamRole | undefined>>();
  readonly sweeps = new Map<string, number>();
}

const NOBODY = new OrganizationFacts();

/**
 * The shared facts of organizations as their chains tell them: definitions, grants of teams, stops, people and their roles, sweeps. Grows
 * with what administrators do, not with what agents do.
 */
export class SharedFacts implements KnownSweeps {
  private readonly organizations = new Map<string, OrganizationFacts>();
  /** What agents were when they left an organization, by chain and position of that entry. */
  private readonly departures = new Map<string, AgentView>();
  private readonly travelling = new Map<string, AgentView>();

  /** Organizations' entries in the order of their chains; and all of `agent.*` of agents that were transferred, by position. */
  add(stored: StoredEntry): void {
    if (isAgentChain(stored.chain)) return this.agent(stored);
    const facts = this.factsFor(stored.organizationId);
    if (stored.seq === 1) facts.isWhole = true;
    const opened = SHARED_EVENTS.includes(stored.event) ? openEntry(stored, true) : undefined;
    if (opened) this.shared(facts, opened);
  }

  /** What the agent was when the segment before this position ended, wherever that was. */
  arrivingAt(chain: string, seq: number): AgentView {
    return this.departures.get(`${chain} ${seq - 1}`) ?? UNKNOWN_AGENT;
  }

  isWhole(organizationId: string): boolean {
    return this.of(organizationId).isWhole;
  }

  sweptAt(organizationId: string, chain: string): number | undefined {
    return this.of(organizationId).sweeps.get(chain);
  }

  hasSwept(organizationId: string): boolean {
    return this.of(organizationId).sweeps.size > 0;
  }

  definitions(organizationId: string, capability: string, moment: Moment): (DefinitionView | undefined)[] {
    const own = this.of(organizationId).definitions.get(capability);
    return own ? own.during(moment) : [catalogueDefinition(capability)];
  }

  teamGrants(organizationId: string, teamId: string | undefined, capability: string, moment: Moment): (GrantView | undefined)[] {
    if (teamId === undefined) return [undefined];
    return this.of(organizationId).teamGrants.get(`${teamId} ${capability}`)?.during(moment) ?? [undefined];
  }

  /** Whether a stop of the organization, or of everything, holds: surely or possibly. */
  stopped(organizationId: string, { from, to }: Moment): { readonly surely: boolean; readonly possibly: boolean } {
    let [surely, possibly] = [false, false];
    for (const facts of [this.of(organizationId), this.of(PLATFORM_ORGANIZATION)]) {
      for (const stop of facts.stops.values()) {
        possibly ||= stop.from <= to && stop.to >= from;
        surely ||= stop.from <= from && stop.to >= to;
      }
    }
    return { surely, possibly };
  }

  /** Undefined among them: no such account, or none any more. */
  roles(organizationId: string, userId: string, moment: Moment): (Role | undefined)[] {
    return this.of(organizationId).users.get(userId)?.during(moment) ?? [undefined];
  }

  knows(organizationId: string, userId: string): boolean {
    return this.of(organizationId).users.has(userId);
  }

  teamRoles(organizationId: string, teamId: string | undefined, userId: string, moment: Moment): (TeamRole | undefined)[] {
    if (teamId === undefined) return [undefined];
    return this.of(organizationId).members.get(`${teamId} ${userId}`)?.during(moment) ?? [undefined];
  }

  /** How many accounts were surely active all the time. */
  activeUsers(organizationId: string, moment: Moment): number {
    let active = 0;
    for (const user of this.of(organizationId).users.values()) if (user.during(moment).every((role) => role !== undefined)) active++;
    return active;
  }

  private of(organizationId: string): OrganizationFacts {
    return this.organizations.get(organizationId) ?? NOBODY;
  }

  private factsFor(organizationId: string): OrganizationFacts {
    let facts = this.organizations.get(organizationId);
    if (!facts) this.organizations.set(organizationId, (facts = new OrganizationFacts()));
    return facts;
  }

  private agent(stored: StoredEntry): void {
    const opened = openEntry(stored, true);
    if (!opened) return;
    const before = this.travelling.get(stored.chain) ?? UNKNOWN_AGENT;
    const after = agentAfter(before, opened);
    this.travelling.set(stored.chain, after);
    if (stored.event === 'agent.transferred' && opened.metadata['direction'] === 'out') {
      this.departures.set(`${stored.chain} ${stored.seq}`, after);
    }
  }

  private shared(facts: OrganizationFacts, opened: OpenEntry): void {
    const { stored, at, metadata } = opened;
    switch (stored.event) {
      case 'capability.defined':
      case 'capability.definition_updated':
        return timelineOf(facts.definitions, stored.capability ?? '', catalogueDefinition(stored.capability ?? ''))
          .set(at, definitionOf(opened));
      case 'capability.definition_removed':
        return timelineOf(facts.definitions, stored.capability ?? '', undefined).set(at, undefined);
      case 'capability.granted':
      case 'capability.config_updated': {
        const grant = grantOf(opened);
        if (!grant?.facts.teamId) return;
        facts.grantPlaces.set(grant.facts.id, `${grant.facts.teamId} ${grant.capability}`);
        return timelineOf(facts.teamGrants, `${grant.facts.teamId} ${grant.capability}`, undefined).set(at, grant);
      }
      case 'capability.revoked': {
        const place = facts.grantPlaces.get(text(metadata, 'grantId') ?? '');
        if (place !== undefined) timelineOf(facts.teamGrants, place, undefined).set(at, undefined);
        return;
      }
      case 'admin.stop_started':
        facts.stops.set(text(metadata, 'stopId') ?? '', { from: at, to: Infinity });
        return;
      case 'admin.stop_ended': {
        const stop = facts.stops.get(text(metadata, 'stopId') ?? '');
        if (stop) stop.to = at;
        return;
      }
      case 'admin.team_changed':
        return teamChanged(facts, opened);
      case 'admin.audit_retention_sweep':
        return swept(facts, opened);
      default:
        return userChanged(facts, opened);
    }
  }
}

/** The timeline of a name, made where there is none yet. */
function timelineOf<Value>(timelines: Map<string, Timeline<Value>>, name: string, before: Value): Timeline<Value> {
  let timeline = timelines.get(name);
  if (!timeline) timelines.set(name, (timeline = new Timeline(before)));
  return timeline;
}

function catalogueDefinition(capability: string): DefinitionView | undefined {
  const entry = builtIn(capability);
  return entry && { facts: { name: capability, hardcoded: entry.hardcoded, digest: definitionDigest({}) }, isErased: false };
}

function definitionOf({ stored, metadata, erased }: OpenEntry): DefinitionView {
  const name = stored.capability ?? '';
  const content = {
    ...(isJsonObject(metadata['inputSchema']) ? { inputSchema: metadata['inputSchema'] } : {}),
    ...(isJsonObject(metadata['connector']) ? { connector: metadata['connector'] as unknown as HttpConnector } : {}),
  };
  const isErased = erased.has('inputSchema') || erased.has('connector');
  const digest = isErased ? (text(metadata, 'definition') ?? '') : definitionDigest(content);
  return { facts: { name, hardcoded: isHardcoded(name), digest, ...(isErased ? {} : content) }, isErased };
}

function userChanged(facts: OrganizationFacts, { stored, at, metadata }: OpenEntry): void {
  const userId = text(metadata, 'userId');
  if (userId === undefined) return;
  const user = timelineOf<Role | undefined>(facts.users, userId, undefined);
  const told = metadata['role'];
  const role = (ROLES as readonly unknown[]).includes(told) ? (told as Role) : user.last;
  const status = text(metadata, 'status') ?? 'active';
  user.set(at, stored.event === 'admin.user_deleted' || status !== 'active' ? undefined : role);
}

function teamChanged(facts: OrganizationFacts, { at, metadata }: OpenEntry): void {
  const [teamId, userId, change] = [text(metadata, 'teamId'), text(metadata, 'userId'), text(metadata, 'change')];
  if (teamId === undefined || userId === undefined || !change?.startsWith('member_')) return;
  const place = timelineOf<TeamRole | undefined>(facts.members, `${teamId} ${userId}`, undefined);
  const role = metadata['role'] === 'lead' ? 'lead' : metadata['role'] === 'member' ? 'member' : (place.last ?? 'member');
  place.set(at, change === 'member_removed' ? undefined : role);
}

function swept(facts: OrganizationFacts, { at, metadata }: OpenEntry): void {
  const chains = metadata['chains'];
  for (const cut of Array.isArray(chains) ? (chains as unknown as JsonObject[]) : []) {
    if (isJsonObject(cut) && typeof cut['chain'] === 'string') facts.sweeps.set(cut['chain'], at);
  }
}

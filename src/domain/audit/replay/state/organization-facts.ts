import { ROLES, type Role } from '../../../access/access.js';
import { builtIn } from '../../../gate/catalogue.js';
import { definitionDigest } from '../../../gate/definition-digest.js';
import { type OpenEntry, text } from '../../entry/open-entry.js';
import { type Reading, UNKNOWN, type Unknown } from '../replay-result.js';
import { definitionOf, type DefinitionState } from './definition-state.js';
import { type GrantState, grantOf } from './grant-state.js';
import { Versioned } from './versioned.js';

export type TeamRole = 'member' | 'lead';

/** By name, over the positions of the chain; null: told that there is none any more. */
type Recorded<Value> = Map<string, Versioned<Value | null>>;

/** What an organization's own chain tells. Grows with what administrators do, not with what agents do. */
export class OrganizationFacts {
  readonly definitions: Recorded<DefinitionState> = new Map();
  /** By team and capability. */
  readonly teamGrants: Recorded<GrantState> = new Map();
  /** Of open accounts. A change after a cut may tell of one and not of its role. */
  readonly roles: Recorded<Role | Unknown> = new Map();
  /** By team and user. */
  readonly members: Recorded<TeamRole> = new Map();
  /** Positions of the entries that changed any of these, or stops. */
  readonly changes: number[] = [];
  private readonly stopped = new Versioned<boolean>();
  private readonly openStops = new Set<string>();
  /** Where the last of the stops ended whose beginning was swept. */
  private sweptStopEnded = 0;
  /** Whose account was made in the part that is left: of them nothing is unknown. */
  private readonly newcomers = new Set<string>();
  private readonly grantNames = new Map<string, string>();
  private readonly lastRoles = new Map<string, Role>();
  private first = 1;
  private last = 0;
  private toldTenant: string | undefined;

  /** @param tenantOfRow its tenant as its row says, which nothing vouches for */
  constructor(private readonly tenantOfRow?: string) {}

  /** The position of its newest entry. */
  get newest(): number {
    return this.last;
  }

  /** Part of its chain was swept. */
  get isCut(): boolean {
    return this.first > 1;
  }

  /** Whether what is not told of one of its people may be anything. */
  isOpenOf(userId: string): boolean {
    return this.isCut && !this.newcomers.has(userId);
  }

  /** The tenant that it belongs to. Where its first entry was swept, which tells it, its row only says what may excuse a decision. */
  tenantAs(reading: Reading): string | undefined {
    if (!this.isCut) return this.toldTenant;
    return reading === 'at best' ? this.tenantOfRow : undefined;
  }

  /** Whether a stop of all of it was in force at a position. */
  stoppedAt(position: number): boolean | Unknown {
    if (this.stopped.at(position) === true) return true;
    if (position >= this.first - 1 && position < this.sweptStopEnded) return true;
    return this.isCut ? UNKNOWN : false;
  }

  /** Whether one was, at any time between two positions. */
  wasStopped(from: number, to: number): boolean {
    return this.stopped.during(from, to).includes(true);
  }

  activeUsersAt(position: number): number {
    let active = 0;
    for (const role of this.roles.values()) if (typeof role.at(position) === 'string') active++;
    return active;
  }

  /** In the order of the chain, also entries that tell nothing here. */
  entry(seq: number): void {
    if (this.last === 0) this.first = seq;
    this.last = seq;
  }

  tell(opened: OpenEntry): void {
    const { stored: { event, seq, capability }, metadata } = opened;
    switch (event) {
      case 'admin.organization_created':
        // It opens the chain: what is appended later under that name moves no organization to another tenant.
        if (seq === 1) this.toldTenant = text(metadata, 'tenantId');
        return;
      case 'capability.defined':
      case 'capability.definition_updated':
        return this.set(this.definitions, capability ?? '', seq, definitionOf(opened));
      case 'capability.definition_removed':
        return this.set(this.definitions, capability ?? '', seq, null);
      case 'capability.granted':
      case 'capability.config_updated':
        return this.granted(opened);
      case 'capability.revoked': {
        const name = this.grantNames.get(text(metadata, 'grantId') ?? '');
        return name === undefined ? undefined : this.set(this.teamGrants, name, seq, null);
      }
      case 'admin.stop_started':
      case 'admin.stop_ended':
        return this.stopChanged(seq, text(metadata, 'stopId') ?? '', event === 'admin.stop_started');
      case 'admin.team_changed':
        return this.teamChanged(opened);
      case 'admin.user_created':
      case 'admin.user_updated':
      case 'admin.user_deleted':
        return this.userChanged(opened);
    }
  }

  private set<Value>(recorded: Recorded<Value>, name: string, position: number, value: Value | null): void {
    let fact = recorded.get(name);
    if (!fact) recorded.set(name, (fact = new Versioned<Value | null>()));
    fact.set(position, value);
    this.changes.push(position);
  }

  private granted(opened: OpenEntry): void {
    const grant = grantOf(opened);
    if (!grant?.facts.teamId) return;
    const name = `${grant.facts.teamId} ${grant.capability}`;
    this.grantNames.set(grant.facts.id, name);
    this.set(this.teamGrants, name, opened.stored.seq, grant);
  }

  private stopChanged(position: number, stopId: string, isStarted: boolean): void {
    if (isStarted) this.openStops.add(stopId);
    else if (!this.openStops.delete(stopId) && this.isCut) this.sweptStopEnded = position;
    this.stopped.set(position, this.openStops.size > 0);
    this.changes.push(position);
  }

  private userChanged({ stored: { event, seq }, metadata }: OpenEntry): void {
    const [userId, role, status] = [text(metadata, 'userId'), metadata['role'], text(metadata, 'status')];
    if (userId === undefined) return;
    if (event === 'admin.user_created') this.newcomers.add(userId);
    // Somebody's name or address is nothing that is decided by.
    if (event === 'admin.user_updated' && role === undefined && status === undefined) return;
    if ((ROLES as readonly unknown[]).includes(role)) this.lastRoles.set(userId, role as Role);
    const isActive = event !== 'admin.user_deleted' && (status ?? 'active') === 'active';
    this.set(this.roles, userId, seq, isActive ? (this.lastRoles.get(userId) ?? UNKNOWN) : null);
  }

  private teamChanged({ stored: { seq }, metadata }: OpenEntry): void {
    const [teamId, userId, change] = [text(metadata, 'teamId'), text(metadata, 'userId'), text(metadata, 'change')];
    if (teamId === undefined || userId === undefined || !change?.startsWith('member_')) return;
    const name = `${teamId} ${userId}`;
    const recorded = metadata['role'];
    const role = recorded === 'lead' || recorded === 'member' ? recorded : (this.members.get(name)?.last ?? 'member');
    this.set(this.members, name, seq, change === 'member_removed' ? null : role);
  }
}

/** What holds of a capability that nobody has defined. */
export function catalogueDefinition(capability: string): DefinitionState | undefined {
  const entry = builtIn(capability);
  return entry && { facts: { name: capability, hardcoded: entry.hardcoded, digest: definitionDigest({}) }, isErased: false };
}

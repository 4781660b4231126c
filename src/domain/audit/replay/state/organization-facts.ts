import { getOrInsert } from '../../../collections.js';
import { ROLES, type Role } from '../../../access/access.js';
import { type OpenEntry, text } from '../../entry/open-entry.js';
import { type Reading, UNKNOWN, type Unknown } from '../replay-result.js';
import { definitionOf, type DefinitionState } from './definition-state.js';
import { type GrantState, grantOf } from './grant-state.js';
import { Versioned } from './versioned.js';

export type TeamRole = 'member' | 'lead';

/** By name, over the positions of the chain; null once it has ended. */
type Recorded<Value> = Map<string, Versioned<Value | null>>;

/** The shared facts in an organization's own chain. Grows with the changes of administrators, not with the actions of agents. */
export class OrganizationFacts {
  readonly definitions: Recorded<DefinitionState> = new Map();
  /** By team and capability. */
  readonly teamGrants: Recorded<GrantState> = new Map();
  /** Of open accounts. After a cut an entry may concern an account and not name its role. */
  readonly roles: Recorded<Role | Unknown> = new Map();
  /** By team and user. */
  readonly members: Recorded<TeamRole> = new Map();
  readonly stopped = new Versioned<boolean>();
  /** Positions of the entries that changed any of these. */
  readonly changes: number[] = [];
  newest = 0;
  private first = 1;
  private readonly openStops = new Set<string>();
  /** Where the last of the stops ended whose beginning was swept. */
  private sweptStopEnded = 0;
  /** People whose account was made in the part that is left: nothing of them is unknown. */
  private readonly newcomers = new Set<string>();
  /** Names of team grants, by id. */
  private readonly grantNames = new Map<string, string>();
  private readonly lastRoles = new Map<string, Role>();
  private tenant: string | undefined;

  /** @param tenantOfRow the tenant in the organization's row, which nothing vouches for */
  constructor(private readonly tenantOfRow?: string) {}

  /** Part of its chain was swept. */
  get isCut(): boolean {
    return this.first > 1;
  }

  /** Whether a fact about a person that is not recorded may be anything. */
  isOpenOf(userId: string): boolean {
    return this.isCut && !this.newcomers.has(userId);
  }

  /** The tenant by the first entry of the chain. Where that was swept, the row counts only for what may excuse a decision. */
  tenantAs(reading: Reading): string | undefined {
    if (!this.isCut) return this.tenant;
    return reading === 'at best' ? this.tenantOfRow : undefined;
  }

  stoppedAt(position: number): boolean | Unknown {
    if (this.stopped.at(position) === true) return true;
    if (position >= this.first - 1 && position < this.sweptStopEnded) return true;
    return this.isCut ? UNKNOWN : false;
  }

  /** In the order of the chain, also entries without a shared fact. */
  reach(seq: number): void {
    if (this.newest === 0) this.first = seq;
    this.newest = seq;
  }

  take(opened: OpenEntry): void {
    const { stored: { event, seq, capability }, metadata } = opened;
    switch (event) {
      case 'admin.organization_created':
        // An entry of that name that is appended later moves no organization to another tenant.
        if (seq === 1) this.tenant = text(metadata, 'tenantId');
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
    getOrInsert(recorded, name, () => new Versioned<Value | null>()).set(position, value);
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
    // No decision rests on a person's name or address.
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

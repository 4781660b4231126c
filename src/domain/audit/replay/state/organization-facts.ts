import { ROLES, type Role } from '../../../access/access.js';
import { builtIn } from '../../../gate/catalogue.js';
import { definitionDigest } from '../../../gate/definition-digest.js';
import { definitionOf, type DefinitionState } from './definition-state.js';
import { type GrantState, grantOf } from './grant-state.js';
import { type OpenEntry, text } from '../../entry/open-entry.js';
import { type Point, Timeline } from '../superseded/overlap.js';
import { type Reading, UNKNOWN, type Unknown } from '../replay-result.js';

export type TeamRole = 'member' | 'lead';

interface Stop {
  readonly from: Point;
  to: Point;
}

const NEVER: Point = { seq: Infinity, at: Infinity };

type Told<Value> = Map<string, Timeline<Value | Unknown>>;

/** What an organization's own chain tells, over time. Before something is first told, it is unknown. */
export class OrganizationFacts {
  readonly definitions: Told<DefinitionState | undefined> = new Map();
  /** By team and capability. */
  readonly teamGrants: Told<GrantState | undefined> = new Map();
  readonly stops = new Map<string, Stop>();
  readonly users: Told<Role | undefined> = new Map();
  /** By team and user. */
  readonly members: Told<TeamRole | undefined> = new Map();
  /** Whose account was made in the part that is left: of them nothing is unknown. */
  readonly newcomers = new Set<string>();
  /** When its entries were made, by position, in milliseconds. */
  readonly stamps = new Map<number, number>();
  private readonly grantPlaces = new Map<string, string>();
  private readonly lastRoles = new Map<string, Role>();
  /** When the first entry that is left of a cut chain was made. */
  private beganAt: number | undefined;
  private toldTenant: string | undefined;

  /** @param tenantOfRow its tenant as its row says, which nothing vouches for */
  constructor(private readonly tenantOfRow?: string) {}

  /** Nothing of its chain was swept. */
  get isWhole(): boolean {
    return this.beganAt === undefined;
  }

  /** The tenant that it belongs to. Where its first entry was swept, which tells it, its row only says what may excuse a decision. */
  tenantAs(reading: Reading): string | undefined {
    if (this.isWhole) return this.toldTenant;
    return reading === 'at best' ? this.tenantOfRow : undefined;
  }

  /** In the order of the chain. */
  entry(seq: number, at: number): void {
    if (this.stamps.size === 0 && seq > 1) this.beganAt = at;
    this.stamps.set(seq, at);
  }

  tell(opened: OpenEntry): void {
    const { stored, metadata } = opened;
    const point = pointOf(opened);
    const capability = stored.capability ?? '';
    switch (stored.event) {
      case 'admin.organization_created':
        // It opens the chain: what is appended later under that name moves no organization to another tenant.
        if (stored.seq === 1) this.toldTenant = text(metadata, 'tenantId');
        return;
      case 'capability.defined':
      case 'capability.definition_updated':
        return timelineOf(this.definitions, capability).set(point, definitionOf(opened));
      case 'capability.definition_removed':
        return timelineOf(this.definitions, capability).set(point, undefined);
      case 'capability.granted':
      case 'capability.config_updated':
        return this.granted(opened);
      case 'capability.revoked': {
        const place = this.grantPlaces.get(text(metadata, 'grantId') ?? '');
        if (place !== undefined) timelineOf(this.teamGrants, place).set(point, undefined);
        return;
      }
      case 'admin.stop_started':
        this.stops.set(text(metadata, 'stopId') ?? '', { from: point, to: NEVER });
        return;
      case 'admin.stop_ended':
        return this.stopEnded(text(metadata, 'stopId') ?? '', point);
      case 'admin.team_changed':
        return this.teamChanged(opened);
      case 'admin.user_created':
      case 'admin.user_updated':
      case 'admin.user_deleted':
        return this.userChanged(opened);
    }
  }

  private granted(opened: OpenEntry): void {
    const grant = grantOf(opened);
    if (!grant?.facts.teamId) return;
    const place = `${grant.facts.teamId} ${grant.capability}`;
    this.grantPlaces.set(grant.facts.id, place);
    timelineOf(this.teamGrants, place).set(pointOf(opened), grant);
  }

  /** One whose start was swept was in force from the beginning of what is left. */
  private stopEnded(stopId: string, to: Point): void {
    const stop = this.stops.get(stopId);
    if (stop) stop.to = to;
    else if (this.beganAt !== undefined) this.stops.set(stopId, { from: { seq: 0, at: this.beganAt }, to });
  }

  private userChanged(opened: OpenEntry): void {
    const { stored, metadata } = opened;
    const userId = text(metadata, 'userId');
    if (userId === undefined) return;
    if (stored.event === 'admin.user_created') this.newcomers.add(userId);
    const role = metadata['role'];
    if ((ROLES as readonly unknown[]).includes(role)) this.lastRoles.set(userId, role as Role);
    const isActive = stored.event !== 'admin.user_deleted' && (text(metadata, 'status') ?? 'active') === 'active';
    timelineOf(this.users, userId).set(pointOf(opened), isActive ? (this.lastRoles.get(userId) ?? UNKNOWN) : undefined);
  }

  private teamChanged(opened: OpenEntry): void {
    const { metadata } = opened;
    const [teamId, userId, change] = [text(metadata, 'teamId'), text(metadata, 'userId'), text(metadata, 'change')];
    if (teamId === undefined || userId === undefined || !change?.startsWith('member_')) return;
    const place = timelineOf(this.members, `${teamId} ${userId}`);
    const role = metadata['role'] === 'lead' ? 'lead' : metadata['role'] === 'member' ? 'member' : (place.last ?? 'member');
    place.set(pointOf(opened), change === 'member_removed' ? undefined : role);
  }
}

/** What holds of a capability that nobody has defined. */
export function catalogueDefinition(capability: string): DefinitionState | undefined {
  const entry = builtIn(capability);
  return entry && { facts: { name: capability, hardcoded: entry.hardcoded, digest: definitionDigest({}) }, isErased: false };
}

function pointOf({ stored: { seq }, at }: OpenEntry): Point {
  return { seq, at };
}

/** The timeline of a name, made where there is none yet. */
function timelineOf<Value>(timelines: Told<Value>, name: string): Timeline<Value | Unknown> {
  let timeline = timelines.get(name);
  if (!timeline) timelines.set(name, (timeline = new Timeline<Value | Unknown>(UNKNOWN)));
  return timeline;
}

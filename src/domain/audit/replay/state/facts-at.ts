import type { Role } from '../../../access/access.js';
import { isHardcoded } from '../../../gate/catalogue.js';
import type { DeciderRecord } from '../../catalogue/basis.js';
import { PLATFORM_ORGANIZATION } from '../../entry/chain.js';
import type { RecordedBasis } from '../recorded-basis.js';
import { type Reading, UNKNOWN, type Unknown } from '../replay-result.js';
import type { DefinitionState } from './definition-state.js';
import type { GrantState } from './grant-state.js';
import { catalogueDefinition, type OrganizationFacts, type TeamRole } from './organization-facts.js';

/**
 * What an organization's agents share, as a decision saw it: told by the organization's chain and the platform's up to its basis. What may
 * have been swept is unknown, which `as told` counts for nothing told.
 */
export class FactsAt {
  private readonly facts: OrganizationFacts;

  constructor(
    private readonly of: (organizationId: string) => OrganizationFacts,
    private readonly organizationId: string,
    private readonly basis: RecordedBasis,
    private readonly reading: Reading,
  ) {
    this.facts = of(organizationId);
  }

  /** The instant that it saw, in milliseconds. */
  get at(): number {
    return this.basis.at;
  }

  definition(capability: string): DefinitionState | undefined {
    const recorded = this.facts.definitions.get(capability)?.at(this.basis.organization);
    if (recorded !== undefined) return recorded ?? catalogueDefinition(capability);
    return this.isOpen(this.facts.isCut) ? anyDefinition(capability) : catalogueDefinition(capability);
  }

  teamGrant(teamId: string | undefined | Unknown, capability: string): GrantState | undefined | Unknown {
    if (teamId === undefined || teamId === UNKNOWN) return teamId;
    const recorded = this.facts.teamGrants.get(`${teamId} ${capability}`)?.at(this.basis.organization);
    return recorded === undefined && this.isOpen(this.facts.isCut) ? UNKNOWN : (recorded ?? undefined);
  }

  /** Whether a stop of the organization, or of everything, is in force. */
  get isStopped(): boolean | Unknown {
    const stops = [this.facts.stoppedAt(this.basis.organization), this.of(PLATFORM_ORGANIZATION).stoppedAt(this.basis.platform)];
    return stops.includes(true) || (this.isOpen(stops.includes(UNKNOWN)) && UNKNOWN);
  }

  /** Whether one was, or may have been, at any time since another decision. */
  mayHaveBeenStoppedSince(earlier: RecordedBasis): boolean {
    const platform = this.of(PLATFORM_ORGANIZATION);
    return this.isOpen(this.facts.isCut || platform.isCut) || platform.wasStopped(earlier.platform, this.basis.platform)
      || this.facts.wasStopped(earlier.organization, this.basis.organization);
  }

  /**
   * The role of whoever decides or votes; undefined where there is no such account. Owners act in every organization of their tenant, and
   * nobody else from there does.
   */
  role(userId: string, { home }: DeciderRecord): Role | undefined | Unknown {
    if (!home || home.organization === this.organizationId) return this.roleIn(this.facts, userId, this.basis.organization);
    const there = this.of(home.organization);
    const tenant = this.facts.tenantAs(this.reading);
    if (tenant === undefined || there.tenantAs(this.reading) !== tenant) return undefined;
    const role = this.roleIn(there, userId, home.position);
    return role === 'owner' || role === UNKNOWN ? role : undefined;
  }

  /** The place that somebody has in a team. */
  teamRoleOf(teamId: string, userId: string): TeamRole | undefined | Unknown {
    const recorded = this.facts.members.get(`${teamId} ${userId}`)?.at(this.basis.organization);
    return recorded === undefined && this.isOpen(this.facts.isOpenOf(userId)) ? UNKNOWN : (recorded ?? undefined);
  }

  /** How many people, at least, could have decided in the place of this one, who is among them. */
  peopleBeside({ home }: DeciderRecord): number {
    const isHere = home?.organization === this.organizationId;
    return this.facts.activeUsersAt(this.basis.organization) + (isHere ? 0 : 1);
  }

  private roleIn(facts: OrganizationFacts, userId: string, position: number): Role | undefined | Unknown {
    const recorded = facts.roles.get(userId)?.at(position);
    if (recorded === null) return undefined;
    if (recorded !== undefined && recorded !== UNKNOWN) return recorded;
    return this.isOpen(facts.isOpenOf(userId)) ? UNKNOWN : undefined;
  }

  private isOpen(isUnknown: boolean): boolean {
    return this.reading === 'at best' && isUnknown;
  }
}

function anyDefinition(name: string): DefinitionState {
  return { facts: { name, hardcoded: isHardcoded(name), digest: '' }, isErased: true, isUnknown: true };
}

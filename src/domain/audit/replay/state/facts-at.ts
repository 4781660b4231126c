import type { Role } from '../../../access/access.js';
import { isHardcoded } from '../../../gate/catalogue.js';
import type { DeciderRecord } from '../../catalogue/basis.js';
import { PLATFORM_ORGANIZATION } from '../../entry/chain.js';
import type { RecordedBasis } from '../recorded-basis.js';
import { type Reading, UNKNOWN, type Unknown } from '../replay-result.js';
import { catalogueDefinition, type DefinitionState } from './definition-state.js';
import type { GrantState } from './grant-state.js';
import type { OrganizationFacts, TeamRole } from './organization-facts.js';

/**
 * The facts that an organization's agents share, as a decision read them: from the organization's chain and the platform's up to its basis.
 * A fact that may have been swept is unknown in the reading `at best`, and absent in the reading `as recorded`.
 */
export class FactsAt {
  /** The instant that conditions saw, in milliseconds. */
  readonly at: number;
  private readonly facts: OrganizationFacts;
  private readonly platform: OrganizationFacts;

  constructor(
    private readonly of: (organizationId: string) => OrganizationFacts, private readonly organizationId: string,
    private readonly basis: RecordedBasis, private readonly reading: Reading,
  ) {
    this.facts = of(organizationId);
    this.platform = of(PLATFORM_ORGANIZATION);
    this.at = basis.at;
  }

  definition(capability: string): DefinitionState | undefined {
    const recorded = this.facts.definitions.get(capability)?.at(this.basis.organization);
    if (recorded !== undefined || !this.isOpen(this.facts.isCut)) return recorded ?? catalogueDefinition(capability);
    return { facts: { name: capability, hardcoded: isHardcoded(capability), digest: '' }, isErased: true, isUnknown: true };
  }

  teamGrant(teamId: string | undefined | Unknown, capability: string): GrantState | undefined | Unknown {
    if (teamId === undefined || teamId === UNKNOWN) return teamId;
    const recorded = this.facts.teamGrants.get(`${teamId} ${capability}`)?.at(this.basis.organization);
    return recorded === undefined && this.isOpen(this.facts.isCut) ? UNKNOWN : (recorded ?? undefined);
  }

  /** Whether a stop of the organization, or of everything, is in force. */
  get isStopped(): boolean | Unknown {
    const stops = [this.facts.stoppedAt(this.basis.organization), this.platform.stoppedAt(this.basis.platform)];
    return stops.includes(true) || (this.isOpen(stops.includes(UNKNOWN)) && UNKNOWN);
  }

  /** Whether a stop was, or may have been, in force at any time since another decision. */
  mayHaveBeenStoppedSince(earlier: RecordedBasis): boolean {
    const { facts, platform, basis } = this;
    return this.isOpen(facts.isCut || platform.isCut) || platform.stopped.during(earlier.platform, basis.platform).includes(true)
      || facts.stopped.during(earlier.organization, basis.organization).includes(true);
  }

  /** The role of a decider, if there is an account. Owners, and nobody else, act in every organization of their tenant. */
  role(userId: string, { home }: DeciderRecord): Role | undefined | Unknown {
    if (!home || home.organization === this.organizationId) return this.roleIn(this.facts, userId, this.basis.organization);
    const there = this.of(home.organization);
    const tenant = this.facts.tenantAs(this.reading);
    if (tenant === undefined || there.tenantAs(this.reading) !== tenant) return undefined;
    const role = this.roleIn(there, userId, home.position);
    return role === 'owner' || role === UNKNOWN ? role : undefined;
  }

  teamRoleOf(teamId: string, userId: string): TeamRole | undefined | Unknown {
    const recorded = this.facts.members.get(`${teamId} ${userId}`)?.at(this.basis.organization);
    return recorded === undefined && this.isOpen(this.facts.isOpenOf(userId)) ? UNKNOWN : (recorded ?? undefined);
  }

  /** The least number of people, the decider among them, who could have decided. */
  peopleBeside({ home }: DeciderRecord): number {
    const isHere = home?.organization === this.organizationId;
    const roles = [...this.facts.roles.values()].map((role) => role.at(this.basis.organization));
    return roles.filter((role) => typeof role === 'string').length + (isHere ? 0 : 1);
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

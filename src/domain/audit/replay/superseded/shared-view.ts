import { ROLES, type Role } from '../../../access/access.js';
import { isHardcoded } from '../../../gate/catalogue.js';
import { PLATFORM_ORGANIZATION } from '../../entry/chain.js';
import type { DefinitionState } from '../state/definition-state.js';
import { ANY_GRANT, type GrantState } from '../state/grant-state.js';
import type { Houses } from './houses.js';
import { catalogueDefinition, type OrganizationFacts, type TeamRole } from '../state/organization-facts.js';
import { type Moment, spanOf, timeOf, type Timeline } from './overlap.js';
import { type Reading, UNKNOWN, type Unknown } from '../replay-result.js';

function anyDefinition(name: string): DefinitionState {
  return { facts: { name, hardcoded: isHardcoded(name), digest: '' }, isErased: true, isUnknown: true };
}

/**
 * What organizations' own chains tell at a moment: everything that it may have been, the likeliest first. Where part of a chain was
 * swept, each question may have an answer that is unknown, which is read in one of two ways.
 */
export class SharedView {
  constructor(
    private readonly of: (organizationId: string) => OrganizationFacts,
    private readonly houses: Houses,
    private readonly reading: Reading,
  ) {}

  definitions(organizationId: string, capability: string, moment: Moment): (DefinitionState | undefined)[] {
    const facts = this.of(organizationId);
    const any = this.isOpen(facts) ? [anyDefinition(capability)] : [];
    return answers(facts.definitions.get(capability), moment, catalogueDefinition(capability), any);
  }

  /** @param teamId where it is unknown, any that holds one */
  teamGrants(organizationId: string, teamId: string | undefined | Unknown, capability: string, moment: Moment): (GrantState | undefined)[] {
    if (teamId === undefined) return [undefined];
    const facts = this.of(organizationId);
    const any = this.isOpen(facts) ? [ANY_GRANT] : [];
    if (teamId !== UNKNOWN) return answers(facts.teamGrants.get(`${teamId} ${capability}`), moment, undefined, any);
    const told = [...facts.teamGrants].filter(([place]) => place.endsWith(` ${capability}`));
    return [undefined, ...told.flatMap(([, grant]) => answers(grant, moment, undefined, [])), ...any];
  }

  /** Whether a stop of the organization, or of everything, holds: surely or possibly. */
  stopped(organizationId: string, moment: Moment): { readonly surely: boolean; readonly possibly: boolean } {
    let [surely, possibly] = [false, false];
    const platform = byTimes(moment);
    for (const [id, asked] of [[organizationId, moment], [PLATFORM_ORGANIZATION, platform]] as const) {
      const facts = this.of(id);
      const { from, to } = spanOf(asked);
      possibly ||= this.isOpen(facts);
      for (const stop of facts.stops.values()) {
        const [begins, ends] = [timeOf(stop.from, asked), timeOf(stop.to, asked)];
        possibly ||= begins <= to && ends >= from;
        surely ||= begins <= from && ends >= to;
      }
    }
    return { surely, possibly };
  }

  /** Undefined among them: no such account, or none any more. */
  roles(organizationId: string, userId: string, moment: Moment): (Role | undefined)[] {
    const facts = this.of(organizationId);
    const here = answers(facts.users.get(userId), moment, undefined, this.isOpen(facts, userId) ? ROLES : []);
    return [...here, ...this.ownersRole(facts, userId, moment)];
  }

  /** Whether there is, or may be, an account that is called so. */
  knows(organizationId: string, userId: string): boolean {
    const facts = this.of(organizationId);
    return facts.users.has(userId) || this.isOpen(facts) || this.homesBeside(facts, userId).length > 0 || this.isUntold(facts, userId);
  }

  /** @param teamId where it is unknown, any that the user is in */
  teamRoles(organizationId: string, teamId: string | undefined | Unknown, userId: string, moment: Moment): (TeamRole | undefined)[] {
    if (teamId === undefined) return [undefined];
    const facts = this.of(organizationId);
    const any: TeamRole[] = this.isOpen(facts, userId) ? ['member', 'lead'] : [];
    if (teamId !== UNKNOWN) return answers(facts.members.get(`${teamId} ${userId}`), moment, undefined, any);
    const told = [...facts.members].filter(([place]) => place.endsWith(` ${userId}`));
    return [undefined, ...told.flatMap(([, role]) => answers(role, moment, undefined, [])), ...any];
  }

  /** How many accounts that act in it were surely active all the time. */
  activeUsers(organizationId: string, moment: Moment): number {
    const facts = this.of(organizationId);
    const tenant = facts.tenantAs('as told');
    let active = 0;
    for (const user of facts.users.values()) {
      if (user.during(moment).every((role) => role !== undefined && role !== UNKNOWN)) active++;
    }
    for (const other of tenant === undefined ? [] : this.houses.organizationsOf(tenant)) {
      if (other === facts || other.tenantAs('as told') !== tenant) continue;
      for (const user of other.users.values()) if (user.during(byTimes(moment)).every((role) => role === 'owner')) active++;
    }
    return active;
  }

  /** Whoever is an owner in another organization of the tenant acts in this one too, as an owner; nobody else from there does. */
  private ownersRole(facts: OrganizationFacts, userId: string, moment: Moment): Role[] {
    if (this.isUntold(facts, userId)) return ['owner'];
    return this.homesBeside(facts, userId).flatMap((home) =>
      answers(home.users.get(userId), byTimes(moment), undefined, this.isOpen(home, userId) ? ['owner'] : [])
        .filter((role) => role === 'owner'));
  }

  /** Other organizations of the tenant that tell of the account. */
  private homesBeside(facts: OrganizationFacts, userId: string): OrganizationFacts[] {
    const tenant = facts.tenantAs(this.reading);
    if (tenant === undefined) return [];
    return [...this.houses.homesOf(userId) ?? []].filter((home) => home !== facts && home.tenantAs(this.reading) === tenant);
  }

  /** Whether all that told of the account may have been swept with an organization of the tenant. */
  private isUntold(facts: OrganizationFacts, userId: string): boolean {
    const tenant = facts.tenantAs(this.reading);
    return this.reading === 'at best' && tenant !== undefined && this.houses.isCut(tenant) && !this.houses.homesOf(userId);
  }

  /** Whether what is not told of it, or of one of its people, may be anything. */
  private isOpen(facts: OrganizationFacts, userId?: string): boolean {
    return this.reading === 'at best' && !facts.isWhole && (userId === undefined || !facts.newcomers.has(userId));
  }
}

/** Of what another organization tells, no tree tells whether it came before: there it is times that count. */
function byTimes({ from, to }: Moment): Moment {
  return { from, to };
}

/** @param any what an unknown answer may be besides what holds where nothing is told */
function answers<Value>(
  told: Timeline<Value | Unknown> | undefined, moment: Moment, untold: Value, any: readonly NonNullable<Value>[],
): Value[] {
  const found: readonly (Value | Unknown)[] = told?.during(moment) ?? [UNKNOWN];
  return found.flatMap((one) => (one === UNKNOWN ? [untold, ...any] : [one as Value]));
}

import { ROLES, type Role } from '../../access/access.js';
import { isHardcoded } from '../../gate/catalogue.js';
import { PLATFORM_ORGANIZATION } from '../chain.js';
import type { DefinitionView } from './definition-view.js';
import { ANY_GRANT, type GrantView } from './grant-view.js';
import { catalogueDefinition, type OrganizationFacts, type TeamRole } from './organization-facts.js';
import { type Moment, spanOf, timeOf, type Timeline } from './overlap.js';
import { type Reading, UNKNOWN, type Unknown } from './verdict.js';

function anyDefinition(name: string): DefinitionView {
  return { facts: { name, hardcoded: isHardcoded(name), digest: '' }, isErased: true, isUnknown: true };
}

/**
 * What organizations' own chains tell at a moment: everything that it may have been, the likeliest first. Where part of a chain was
 * swept, each question may have an answer that is unknown, which is read in one of two ways.
 */
export class SharedView {
  constructor(
    private readonly of: (organizationId: string) => OrganizationFacts,
    private readonly reading: Reading,
  ) {}

  definitions(organizationId: string, capability: string, moment: Moment): (DefinitionView | undefined)[] {
    const facts = this.of(organizationId);
    const any = this.isOpen(facts) ? [anyDefinition(capability)] : [];
    return answers(facts.definitions.get(capability), moment, catalogueDefinition(capability), any);
  }

  /** @param teamId where it is unknown, any that holds one */
  teamGrants(organizationId: string, teamId: string | undefined | Unknown, capability: string, moment: Moment): (GrantView | undefined)[] {
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
    // No tree tells the order between an organization and the platform: there it is times that count.
    const platform = { from: moment.from, to: moment.to };
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
    return answers(facts.users.get(userId), moment, undefined, this.isOpen(facts, userId) ? ROLES : []);
  }

  /** Whether there is, or may be, an account that is called so. */
  knows(organizationId: string, userId: string): boolean {
    const facts = this.of(organizationId);
    return facts.users.has(userId) || this.isOpen(facts);
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

  /** How many accounts were surely active all the time. */
  activeUsers(organizationId: string, moment: Moment): number {
    let active = 0;
    for (const user of this.of(organizationId).users.values()) {
      if (user.during(moment).every((role) => role !== undefined && role !== UNKNOWN)) active++;
    }
    return active;
  }

  /** Whether what is not told of it, or of one of its people, may be anything. */
  private isOpen(facts: OrganizationFacts, userId?: string): boolean {
    return this.reading === 'at best' && !facts.isWhole && (userId === undefined || !facts.newcomers.has(userId));
  }
}

/** @param any what an unknown answer may be besides what holds where nothing is told */
function answers<Value>(
  told: Timeline<Value | Unknown> | undefined, moment: Moment, untold: Value, any: readonly NonNullable<Value>[],
): Value[] {
  const found: readonly (Value | Unknown)[] = told?.during(moment) ?? [UNKNOWN];
  return found.flatMap((one) => (one === UNKNOWN ? [untold, ...any] : [one as Value]));
}

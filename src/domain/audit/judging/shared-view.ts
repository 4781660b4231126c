import { ROLES, type Role } from '../../access/access.js';
import { isHardcoded } from '../../gate/catalogue.js';
import { DEFAULT_WINDOW_SECONDS } from '../../hitl/window.js';
import { PLATFORM_ORGANIZATION } from '../chain.js';
import type { GrantView } from './grant-view.js';
import { catalogueDefinition, type DefinitionView, type OrganizationFacts, type TeamRole } from './organization-facts.js';
import type { Moment, Timeline } from './overlap.js';
import { type Reading, UNKNOWN, type Unknown } from './verdict.js';

/** Whatever decides it: it may ask for anything, block, or let it run. */
const ANY_GRANT: GrantView = {
  facts: {
    id: '', version: 0, hitlMode: 'auto', conditions: [], limits: [], reminders: [],
    timeoutSeconds: DEFAULT_WINDOW_SECONDS, timeoutAction: 'approve',
  },
  capability: '', isErased: true, isUnknown: true,
};

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

  teamGrants(organizationId: string, teamId: string | undefined, capability: string, moment: Moment): (GrantView | undefined)[] {
    if (teamId === undefined) return [undefined];
    const facts = this.of(organizationId);
    return answers(facts.teamGrants.get(`${teamId} ${capability}`), moment, undefined, this.isOpen(facts) ? [ANY_GRANT] : []);
  }

  /** Whether a stop of the organization, or of everything, holds: surely or possibly. */
  stopped(organizationId: string, { from, to }: Moment): { readonly surely: boolean; readonly possibly: boolean } {
    let [surely, possibly] = [false, false];
    for (const facts of [this.of(organizationId), this.of(PLATFORM_ORGANIZATION)]) {
      possibly ||= this.isOpen(facts);
      for (const stop of facts.stops.values()) {
        possibly ||= stop.from <= to && stop.to >= from;
        surely ||= stop.from <= from && stop.to >= to;
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

  teamRoles(organizationId: string, teamId: string | undefined, userId: string, moment: Moment): (TeamRole | undefined)[] {
    if (teamId === undefined) return [undefined];
    const facts = this.of(organizationId);
    const any: TeamRole[] = this.isOpen(facts, userId) ? ['member', 'lead'] : [];
    return answers(facts.members.get(`${teamId} ${userId}`), moment, undefined, any);
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

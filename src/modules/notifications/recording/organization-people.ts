import { ROLES, type Role } from '../../../domain/access/access.js';
import type { Recipient } from '../../../domain/notifications/events.js';

/** An active person who may be notified of an organization's events. */
export interface PersonRow extends Record<string, unknown> {
  readonly organizationId: string;
  readonly id: string;
  readonly role: Role;
  readonly teams: { readonly teamId: string; readonly isLead: boolean }[] | null;
}

/** The active people of one organization, as they are now. */
export class OrganizationPeople {
  constructor(private readonly rows: readonly PersonRow[]) {}

  administrators(): string[] {
    return this.ofRole('admin');
  }

  /** Those with this role or one above, as in a quorum. */
  ofRole(role: Role): string[] {
    return this.rows.filter((row) => ROLES.indexOf(row.role) >= ROLES.indexOf(role)).map(({ id }) => id);
  }

  ofTeam(teamId: string, onlyLeads = false): string[] {
    return this.rows.filter(({ teams }) => teams?.some((one) => one.teamId === teamId && (one.isLead || !onlyLeads))).map(({ id }) => id);
  }

  isHere(userId: string): boolean {
    return this.rows.some(({ id }) => id === userId);
  }

  named(recipients: readonly Recipient[]): string[] {
    return recipients.flatMap((one) => {
      if ('userId' in one) return this.isHere(one.userId) ? [one.userId] : [];
      return 'teamId' in one ? this.ofTeam(one.teamId) : this.ofRole(one.role);
    });
  }
}

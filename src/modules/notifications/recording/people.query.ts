import { Inject, Injectable } from '@nestjs/common';
import { ROLES, type Role } from '../../../domain/access/access.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { joinProviderClaims } from '../../sign-in/ports/provider-claims.query.js';
import { OrganizationPeople, type PersonRow } from './organization-people.js';

/** Whom the events of some organizations may go to. */
export interface PeopleWanted {
  readonly organizationIds: readonly string[];
  readonly userIds: readonly string[];
  readonly teamIds: readonly string[];
  /** The lowest role that a recipient names. Administrators are read in any case. */
  readonly lowestRole: Role;
}

// An owner acts in every organization of their tenant, so events of each may go to them.
const PEOPLE = `
  select o.id as "organizationId", u.id, may.role, (
    select json_agg(json_build_object('teamId', m.team_id, 'isLead', m.role = 'lead')) from team_members m
    where m.organization_id = o.id and m.user_id = u.id and m.team_id = any ($3)) as teams
  from organizations o join organizations s on s.id = o.id or s.tenant_id = o.tenant_id
  join users u on u.organization_id = s.id ${joinProviderClaims('u', '$5')}
  where o.id = any ($1) and u.status = 'active' and (s.id = o.id or may.role = 'owner')
    and (u.id = any ($2) or may.role = any ($4) or exists (
      select from team_members m where m.organization_id = o.id and m.user_id = u.id and m.team_id = any ($3)))`;

@Injectable()
export class PeopleQuery {
  constructor(@Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'oidcIssuer'>) {}

  /** @returns the people of each organization: of the roles wanted, administrators, and those who are named or in a team that is */
  async read(
    tx: Tx, { organizationIds, userIds, teamIds, lowestRole }: PeopleWanted,
  ): Promise<(organizationId: string) => OrganizationPeople> {
    const roles = ROLES.slice(Math.min(ROLES.indexOf('admin'), ROLES.indexOf(lowestRole)));
    const rows = await tx.query<PersonRow>(PEOPLE, [organizationIds, userIds, teamIds, roles, this.config.oidcIssuer ?? null]);
    const peopleOf = (id: string) => new OrganizationPeople(rows.filter(({ organizationId }) => organizationId === id));
    const people = new Map(organizationIds.map((id) => [id, peopleOf(id)]));
    return (organizationId) => people.get(organizationId) ?? new OrganizationPeople([]);
  }
}

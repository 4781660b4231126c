import { Injectable } from '@nestjs/common';
import type { Recipient } from '../../../domain/notifications/events.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { invalid } from '../../../platform/http/fields/read-members.js';
import type { FieldError } from '../../../platform/http/reply/problem.js';
import { ActiveUsersQuery } from '../../organizations/users/active-users.query.js';
import { TeamStore } from '../../teams/team.store.js';
import type { RecipientDto } from './channels.dto.js';

/** Whom a channel notifies besides. Only people, teams and roles of the organization: a free address could be anybody's. */
@Injectable()
export class ChannelRecipients {
  constructor(
    private readonly users: ActiveUsersQuery,
    private readonly teams: TeamStore,
  ) {}

  /** @throws Problem VALIDATION_FAILED for one that names nobody, or who is not there */
  async checked(tx: Tx, organizationId: string, wanted: readonly RecipientDto[]): Promise<Recipient[]> {
    const errors: FieldError[] = [];
    const recipients = wanted.flatMap((one, at) => {
      const recipient = recipientOf(one);
      if (recipient === undefined) errors.push({ pointer: `/recipients/${at}`, message: 'must have one of userId, teamId and role' });
      return recipient === undefined ? [] : [recipient];
    });
    const teamIds = recipients.flatMap((one) => ('teamId' in one ? [one.teamId] : []));
    const missing = await this.teams.missing(tx, organizationId, teamIds);
    for (const [at, one] of wanted.entries()) {
      const pointer = `/recipients/${at}`;
      if (one.teamId !== undefined && missing.includes(one.teamId)) {
        errors.push({ pointer: `${pointer}/teamId`, message: 'there is no such team' });
      }
      if (one.userId !== undefined && !(await this.users.isActive(tx, organizationId, one.userId))) {
        errors.push({ pointer: `${pointer}/userId`, message: 'there is no such user' });
      }
    }
    if (errors.length > 0) throw invalid(errors);
    return recipients;
  }
}

function recipientOf({ userId, teamId, role }: RecipientDto): Recipient | undefined {
  if ([userId, teamId, role].filter((one) => one !== undefined).length !== 1) return undefined;
  return userId !== undefined ? { userId } : teamId !== undefined ? { teamId } : { role: role! };
}

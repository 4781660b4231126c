import { Injectable } from '@nestjs/common';
import type { Scope } from '../../../platform/auth/access/scope.js';
import { invalid } from '../../../platform/http/fields/read-members.js';
import { UsersQuery } from '../../organizations/users/users.query.js';
import type { AuditFilter } from './entry-selection.js';

/** Entries name people by id; people who look for entries know an e-mail address. */
@Injectable()
export class PeopleOfEntries {
  constructor(private readonly users: UsersQuery) {}

  /**
   * The filter with an account's id instead of its address.
   *
   * @returns undefined where the reader sees no account with the address
   * @throws Problem VALIDATION_FAILED where several accounts have it: in several organizations, or closed ones among them
   */
  async byAddress<Filter extends AuditFilter>(scope: Scope, filter: Filter): Promise<Filter | undefined> {
    const { userId, organizationId } = filter;
    if (!userId?.includes('@')) return filter;
    const [id, another] = await this.users.idsOfAddress(scope, userId, organizationId);
    if (another !== undefined) {
      throw invalid([{ pointer: '?userId', message: 'is the address of several accounts: give the id of one, from GET /api/v1/users' }]);
    }
    return id === undefined ? undefined : { ...filter, userId: id };
  }
}

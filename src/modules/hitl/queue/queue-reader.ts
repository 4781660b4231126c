import { Injectable } from '@nestjs/common';
import { isId } from '../../../domain/ids.js';
import { isOpen } from '../../../domain/hitl/transition.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { StatementsOnPool } from '../../../platform/database/statements/statements-on-pool.js';
import { invalid } from '../../../platform/http/fields/read-members.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { UsersQuery } from '../../organizations/users/users.query.js';
import type { RequestListQuery } from '../hitl.dto.js';
import type { RequestRow } from '../requests/hitl-requests.query.js';
import type { DecidableBy } from './decidable-by.js';
import { EligibleDecidersQuery } from './eligible-deciders.query.js';

/** What readers of requests ask about queues: whose one is meant, and who could answer. */
@Injectable()
export class QueueReader {
  constructor(
    private readonly users: UsersQuery,
    private readonly deciders: EligibleDecidersQuery,
    private readonly pool: StatementsOnPool,
  ) {}

  /** Only people have queues; root and agents have none. */
  async assigneeOf(
    { assignedTo, organizationId }: RequestListQuery, { principal, scope }: Caller,
  ): Promise<{ assignedTo?: string }> {
    if (assignedTo === undefined) return {};
    if (assignedTo === 'me') {
      if (principal.kind === 'user') return { assignedTo: principal.userId };
      throw new Problem('VALIDATION_FAILED', 'Only people have a queue. Name a user, or leave `assignedTo` out to list all requests.', {
        errors: [{ pointer: '?assignedTo', message: 'must be the id of a user, for this caller is none' }],
      });
    }
    if (principal.kind === 'agent') throw new Problem('FORBIDDEN', 'Queues are for people. Leave `assignedTo` out to list your requests.');
    const isAddress = assignedTo.includes('@');
    if (isId('usr', assignedTo)) return { assignedTo };
    const [id, another] = isAddress ? await this.users.idsOfAddress(scope, assignedTo, organizationId) : [];
    if (id !== undefined && another === undefined) return { assignedTo: id };
    const message = another === undefined
      ? 'must be `me`, or the id or e-mail address of a user' : 'is the address of several accounts: give the id of one';
    throw invalid([{ pointer: '?assignedTo', message }]);
  }

  /** Of the open ones among them. Left out where it cannot be read: what is answered besides must not fail for it. */
  async decidableBy(rows: readonly RequestRow[]): Promise<ReadonlyMap<RequestRow, DecidableBy>> {
    const open = rows.filter(({ status }) => isOpen(status));
    const found = await this.deciders.decidableBy(this.pool.run, open).catch(() => []);
    return new Map(found.map((each, i) => [open[i]!, each]));
  }
}

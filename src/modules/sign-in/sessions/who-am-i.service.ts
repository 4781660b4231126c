import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../platform/auth/access/principal.js';
import type { Page, PageRequest } from '../../../platform/http/fields/pagination.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { presentUser } from '../../organizations/users/users.presenter.js';
import { UsersQuery } from '../../organizations/users/users.query.js';
import { personOf } from './own-sessions.service.js';
import { presentSession, presentWhoAmI, type SessionReply, type WhoAmIReply } from './sessions.presenter.js';
import { SessionsQuery } from './sessions.query.js';

/** Who somebody is here, and where else they are signed in. */
@Injectable()
export class WhoAmIService {
  constructor(
    private readonly users: UsersQuery,
    private readonly sessions: SessionsQuery,
  ) {}

  /** @throws Problem NOT_FOUND for who was erased meanwhile */
  async read({ principal, scope }: Caller): Promise<WhoAmIReply> {
    const person = personOf(principal);
    const { organizationId, userId, credential } = person;
    const [user, home, session] = await Promise.all([
      this.users.find(scope, userId),
      this.sessions.home(scope, organizationId),
      credential.kind === 'session' ? this.sessions.find(scope, { organizationId, id: credential.id }) : undefined,
    ]);
    if (!user || !home) throw new Problem('NOT_FOUND', 'There is no such user.');
    return presentWhoAmI(presentUser(user), person, home, session);
  }

  async list({ principal, scope }: Caller, page: PageRequest): Promise<Omit<Page<SessionReply>, 'rows'> & { sessions: SessionReply[] }> {
    const { userId, credential } = personOf(principal);
    const { rows, ...rest } = await this.sessions.list(scope, userId, page);
    const current = credential.kind === 'session' ? credential.id : undefined;
    return { sessions: rows.map((row) => presentSession(row, current)), ...rest };
  }
}

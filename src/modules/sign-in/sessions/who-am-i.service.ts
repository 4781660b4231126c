import { Injectable } from '@nestjs/common';
import type { Caller, UserPrincipal } from '../../../platform/auth/access/principal.js';
import { type Scope, scopeOfOrganization } from '../../../platform/auth/access/scope.js';
import type { Page, PageRequest } from '../../../platform/http/fields/pagination.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { presentUser } from '../../organizations/users/users.presenter.js';
import { UsersQuery } from '../../organizations/users/users.query.js';
import { personOf } from './own-sessions.service.js';
import {
  permissionsOf, type PersonReply, presentAgent, presentPerson, presentSession, type SessionReply, type WhoAmIReply,
} from './sessions.presenter.js';
import { SessionsQuery } from './sessions.query.js';

/** Whom a credential names, and where else a person is signed in. */
@Injectable()
export class WhoAmIService {
  constructor(
    private readonly users: UsersQuery,
    private readonly sessions: SessionsQuery,
  ) {}

  /** @throws Problem NOT_FOUND for who was erased or removed meanwhile */
  async read({ principal, scope }: Caller): Promise<WhoAmIReply> {
    switch (principal.kind) {
      case 'user':
        return this.person(principal, scope);
      case 'agent': {
        const home = await this.sessions.home(scopeOfOrganization(principal.organizationId), principal.organizationId);
        if (!home) throw new Problem('NOT_FOUND', 'There is no such agent.');
        return presentAgent(principal, home);
      }
      case 'root':
      case 'internal':
        return { principal: principal.kind, permissions: permissionsOf(principal.kind) };
      case 'system':
        throw new Error('the service calls no route of its own');
    }
  }

  /** @throws Problem NOT_FOUND for who was erased meanwhile */
  async person(person: UserPrincipal, scope: Scope): Promise<PersonReply> {
    const { organizationId, userId, credential } = person;
    const [user, home, session] = await Promise.all([
      this.users.find(scope, userId),
      this.sessions.home(scope, organizationId),
      credential.kind === 'session' ? this.sessions.find(scope, { organizationId, id: credential.id }) : undefined,
    ]);
    if (!user || !home) throw new Problem('NOT_FOUND', 'There is no such user.');
    return presentPerson(presentUser(user), person, home, session);
  }

  async list({ principal, scope }: Caller, page: PageRequest): Promise<Omit<Page<SessionReply>, 'rows'> & { sessions: SessionReply[] }> {
    const { userId, credential } = personOf(principal);
    const { rows, ...rest } = await this.sessions.list(scope, userId, page);
    const current = credential.kind === 'session' ? credential.id : undefined;
    return { sessions: rows.map((row) => presentSession(row, current)), ...rest };
  }
}

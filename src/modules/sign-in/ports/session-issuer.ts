import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import { addressOf } from '../../../platform/auth/access/call-context.js';
import { Identification } from '../../../platform/auth/credentials/identification.js';
import type { Plan } from '../../../platform/database/transaction/plan.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { UserRef } from '../../organizations/users/user.store.js';
import { replacedBy, type SignInContext } from './sign-in-context.js';
import { type BegunSession, type SessionMethod, Sessions } from './sessions.js';

/** Lets browsers in, whichever way they come. A browser has one session: two people at one machine must not share it. */
@Injectable()
export class SessionIssuer {
  constructor(
    private readonly identification: Identification,
    private readonly sessions: Sessions,
  ) {}

  async of(request: Request): Promise<SignInContext> {
    return {
      agent: request.headers['user-agent'], address: addressOf(request), replaces: await this.identification.sessionOf(request),
    };
  }

  /** The heads under which somebody of this organization comes in by this browser. What agents are decided by stays as it is. */
  plan(organizationId: string, visit: SignInContext): Plan {
    const organizations = new Set([organizationId, replacedBy(visit)?.organizationId ?? organizationId]);
    return { chains: [...organizations].map((one) => organizationChain(one)), leavesFacts: true };
  }

  /** For a work by that plan that has read the account under its locks. */
  async letIn(tx: Tx, user: UserRef, method: SessionMethod, visit: SignInContext): Promise<BegunSession> {
    const replaced = replacedBy(visit);
    if (replaced !== undefined) await this.sessions.end(tx, [replaced], 'replaced', user.id);
    const { agent, address } = visit;
    return this.sessions.begin(tx, user, { method, agent, address });
  }
}

import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { organizationChain } from '../../../domain/audit/chain.js';
import { addressOf } from '../../../platform/auth/call-context.js';
import { Identification } from '../../../platform/auth/identification.js';
import type { Plan } from '../../../platform/database/plan.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { UserPlace } from '../../organizations/user.store.js';
import { type BegunSession, type SessionMethod, type SessionPlace, Sessions } from '../seams/sessions.js';

/** A browser that is about to be let in, and what it came with. */
export interface Arrival {
  readonly agent: string | undefined;
  readonly address: string | undefined;
  /** The session that it had, which ends when another begins: two people at one machine must not share one. */
  readonly before: SessionPlace | undefined;
}

/** Lets browsers in, whichever way they come. */
@Injectable()
export class Arrivals {
  constructor(
    private readonly identification: Identification,
    private readonly sessions: Sessions,
  ) {}

  async of(request: Request): Promise<Arrival> {
    const principal = (await this.identification.sessionOf(request))?.principal;
    const isSession = principal?.kind === 'user' && principal.credential.kind === 'session';
    return {
      agent: request.headers['user-agent'], address: addressOf(request),
      before: isSession ? { organizationId: principal.organizationId, id: (principal.credential as { id: string }).id } : undefined,
    };
  }

  /** The heads under which somebody of this organization comes in by this browser. What agents are decided by stays as it is. */
  plan(organizationId: string, { before }: Arrival): Plan {
    const organizations = new Set([organizationId, ...(before === undefined ? [] : [before.organizationId])]);
    return { chains: [...organizations].map((one) => organizationChain(one)), leavesFacts: true };
  }

  /** For a work by that plan, or a wider one, that has read the account under its locks. */
  async letIn(tx: Tx, user: UserPlace, method: SessionMethod, { agent, address, before }: Arrival): Promise<BegunSession> {
    if (before !== undefined) await this.sessions.end(tx, [before], 'replaced', user.id);
    return this.sessions.begin(tx, user, { method, agent, address });
  }
}

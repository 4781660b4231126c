import { Injectable } from '@nestjs/common';
import { mayLift, type StopRole } from '../../domain/access/stops.js';
import { agentChain, type ChainRef, organizationChain, PLATFORM_ORGANIZATION, platformChain } from '../../domain/audit/entry/chain.js';
import { newId } from '../../domain/ids.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import type { Plan } from '../../platform/database/transaction/plan.js';
import { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { invalid } from '../../platform/http/fields/read-members.js';
import type { Reply } from '../../platform/http/reply/replies.js';
import { AgentStore } from '../agents/agent.store.js';
import { PausedDeadlineStore } from '../hitl/expiry/paused-deadline.store.js';
import { OrganizationsQuery } from '../organizations/organizations.query.js';
import { sharedChange } from '../organizations/shared-change.js';
import { type Stop, type StopRef, StopStore } from '../organizations/stops/stop.store.js';
import type { MakeStopDto } from './stops.dto.js';
import { presentStop, type StopEnvelope, targetOf } from './stops.presenter.js';

type Target = Omit<StopRef, 'id'>;

/**
 * Stops agents and lets them go on. A stop is a fact like a grant, in the chain of what it holds. It is answered once everything that was
 * decided without it has ended. A stop of an organization waits for that before it commits, and nothing of the organization begins
 * meanwhile; a stop of everything commits first.
 */
@Injectable()
export class StopAgentsService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly stops: StopStore,
    private readonly agents: AgentStore,
    private readonly organizations: OrganizationsQuery,
    private readonly deadlines: PausedDeadlineStore,
  ) {}

  /** @throws Problem FORBIDDEN (`all` is root's), NOT_FOUND for what the caller does not reach */
  async make({ reason, ...wanted }: MakeStopDto, caller: Caller): Promise<Reply<StopEnvelope>> {
    const target = await this.target(wanted, caller);
    const { chain, ...plan } = planFor(target);
    return this.work.run(plan, async (tx) => {
      if (target.agentId !== null) await this.agents.read(tx, { organizationId: target.organizationId, id: target.agentId });
      const stop: Stop = {
        ...target, id: newId('stp'), reason, madeBy: caller.actorId, madeByRole: roleOf(caller), madeAt: await tx.now(),
        liftedBy: null, liftedAt: null,
      };
      await this.stops.insert(tx, stop);
      tx.record(chain, { type: 'admin.stop_started', metadata: { ...named(stop), reason } });
      return tx.reply(201, { stop: presentStop(stop) });
    });
  }

  /** @throws Problem FORBIDDEN for another's stop of no lower role, CONFLICT when it was lifted before */
  async lift(id: string, caller: Caller): Promise<Reply<undefined>> {
    const ref = await this.stops.findRef(caller.scope, id);
    // Checked before the plan locks the platform's chain.
    if (ref.scope === 'all') assertRoot(caller, 'Only root lets everything go on.');
    const { chain, ...plan } = planFor(ref);
    return this.work.run(plan, async (tx) => {
      const stop = await this.stops.read(tx, ref);
      if (!mayLift(stop, { actorId: caller.actorId, role: roleOf(caller) })) {
        throw new Problem('FORBIDDEN', `A stop is lifted by whoever made it, or by a higher role than ${stop.madeByRole}.`);
      }
      if (stop.liftedAt !== null) throw new Problem('CONFLICT', 'The stop was lifted before.');
      // Taken before the waits for the requests and for what flushing locks: a stop of another scope, over the same agents, may be
      // made or lifted meanwhile. So a request remembers up to when its deadline was credited (paused-deadline.store.ts).
      const now = await tx.now();
      // A clock that was set back makes no interval that ends before it begins.
      const lifted = { ...stop, liftedBy: caller.actorId, liftedAt: now < stop.madeAt ? stop.madeAt : now };
      await this.stops.lift(tx, lifted);
      const stopped = { organizationId: stop.scope === 'all' ? null : stop.organizationId, agentId: stop.agentId };
      await this.deadlines.resume(tx, stopped, lifted.liftedAt);
      tx.record(chain, { type: 'admin.stop_ended', metadata: named(stop) });
      return tx.reply(204, undefined);
    });
  }

  private async target({ scope, id }: Pick<MakeStopDto, 'scope' | 'id'>, caller: Caller): Promise<Target> {
    switch (scope) {
      case 'all':
        assertRoot(caller, 'Only root stops everything.');
        if (id !== undefined) throw invalid([{ pointer: '/id', message: 'must be left out: all is everything' }]);
        return { scope, organizationId: PLATFORM_ORGANIZATION, agentId: null };
      case 'organization':
        return { scope, organizationId: await this.organizations.choose(caller.scope, id), agentId: null };
      case 'agent': {
        if (id === undefined) throw invalid([{ pointer: '/id', message: 'is required: which agent' }]);
        const agent = await this.agents.findRef(caller.scope, id);
        return { scope, organizationId: agent.organizationId, agentId: agent.id };
      }
    }
  }
}

/** An agent's stop is ordered by its head; any other is a shared fact of each organization that it stops. */
function planFor({ scope, organizationId, agentId }: Target): Plan & { chain: ChainRef } {
  const under = (chain: ChainRef) => ({ chain, chains: [chain], urgent: true }) as const;
  if (agentId !== null) return under(agentChain(organizationId, agentId));
  if (scope === 'all') return { ...under(platformChain()), changesShared: 'all' };
  return { ...sharedChange(organizationId), ...under(organizationChain(organizationId)) };
}

function assertRoot({ principal }: Caller, refusal: string): void {
  if (principal.kind !== 'root') throw new Problem('FORBIDDEN', refusal);
}

function roleOf({ principal }: Caller): StopRole {
  if (principal.kind === 'root') return 'root';
  if (principal.kind === 'user' && (principal.role === 'owner' || principal.role === 'admin')) return principal.role;
  throw new Problem('FORBIDDEN', 'Only admins, owners and root stop agents.');
}

function named(stop: Stop) {
  const targetId = targetOf(stop);
  return { stopId: stop.id, scope: stop.scope, ...(targetId === undefined ? {} : { targetId }) };
}

import { Injectable } from '@nestjs/common';
import type { AgentTies } from '../../../domain/hitl/duties.js';
import { grantEffectiveMode } from '../../../domain/gate/decide.js';
import { given } from '../../../domain/given.js';
import { newId } from '../../../domain/ids.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { invalid } from '../../../platform/http/fields/read-members.js';
import type { Reply } from '../../../platform/http/reply/replies.js';
import { DefinitionStore } from '../../capabilities/definition.store.js';
import { GrantEntity } from '../../capabilities/grant.entity.js';
import { GrantStore, type Holder } from '../../capabilities/grant.store.js';
import { GrantUsageStore } from '../../capabilities/grant-usage.store.js';
import type { TeamRef } from '../../teams/team.store.js';
import type { AgentEntity } from '../agent.entity.js';
import { AgentStore } from '../agent.store.js';
import { assertUsable, chainOf, changesOf, defaultTerms, eventOf, holderOf, planOf, termsAfter } from './grant-terms.js';
import { type GrantContext, mayAsk, twinOf, warningsOf } from './grant-warnings.js';
import type { GrantSettingsDto, NewGrantDto } from './grants.dto.js';
import { presentGrant, WITHOUT_AGENT, type WrittenGrantReply } from './grants.presenter.js';
import { ReachableQuorum } from './reachable-quorum.js';

/**
 * Grants, changes and revokes capabilities, of one agent under the lock of its chain, of a team as a fact that its
 * organization shares: the very next call sees it.
 */
@Injectable()
export class GrantCapabilityService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly agents: AgentStore,
    private readonly quorums: ReachableQuorum,
    private readonly definitions: DefinitionStore,
    private readonly grants: GrantStore,
    private readonly usage: GrantUsageStore,
  ) {}

  async grant(agentId: string, wanted: NewGrantDto, caller: Caller): Promise<Reply<WrittenGrantReply>> {
    const ref = await this.agents.findRef(caller.scope, agentId);
    return this.work.run(planOf({ organizationId: ref.organizationId, agentId: ref.id }), async (tx) => {
      const agent = await this.agents.read(tx, ref);
      const { isNew, reply } = await this.grantWithin(tx, agent, wanted, caller.actorId);
      return tx.reply(isNew ? 201 : 200, reply);
    });
  }

  /** Grants to a team whose row the unit of work has locked. */
  shareWithin(tx: Tx, { organizationId, id: teamId }: TeamRef, wanted: NewGrantDto, actorId: string) {
    return this.write(tx, { organizationId, teamId }, undefined, wanted, actorId, '');
  }

  /** @param pointer JSON pointer of the grant in the body, for errors */
  grantWithin(tx: Tx, agent: AgentEntity, wanted: NewGrantDto, actorId: string, pointer = '') {
    return this.write(tx, { organizationId: agent.organizationId, agentId: agent.id }, agent, wanted, actorId, pointer);
  }

  /** Granting again keeps the id, what is left out and the counted uses, and raises the version. */
  private async write(tx: Tx, holder: Holder, agent: AgentEntity | undefined, wanted: NewGrantDto, actorId: string, pointer: string) {
    const { organizationId } = holder;
    const definition = await this.definitions.findToGrant(tx, organizationId, wanted.capability);
    if (!definition) throw new Problem('NOT_FOUND', await this.definitions.whyUnknown(organizationId, wanted.capability, tx));
    const former = await this.grants.unrevoked(tx, holder, wanted.capability);
    const now = await tx.now();
    if (former && !isAlive(former, now) && wanted.expiresAt === undefined) throw ranOut(former, pointer);
    const byDefault = defaultTerms(definition);
    const grant: GrantEntity = {
      agentId: null,
      teamId: null,
      ...holder,
      id: former?.id ?? newId('grt'),
      capability: wanted.capability,
      ...termsAfter(former ?? byDefault, byDefault, wanted, pointer),
      version: (former?.version ?? 0) + 1,
      grantedAt: now,
      grantedBy: actorId,
      revokedAt: null,
      revokedBy: null,
    };
    const effectiveMode = grantEffectiveMode(grant, definition, agent ?? WITHOUT_AGENT);
    assertUsable(grant, effectiveMode, pointer);
    await this.assertReachable(tx, grant, former, wanted, { effectiveMode, pointer, ...(agent ? { agent } : {}) });
    await (former ? this.grants.update(tx, grant) : this.grants.insert(tx, grant));
    await this.openUsage(tx, grant);
    tx.record(chainOf(holder), eventOf('capability.granted', grant));
    return { isNew: !former, reply: await this.replyOf(tx, grant, former, { effectiveMode, now, pointer, ...(agent ? { agent } : {}) }) };
  }

  /** A grant as its maker is answered: whole, with what has changed and what may not be what was meant. */
  private async replyOf(
    tx: Tx, grant: GrantEntity, former: GrantEntity | null, context: Omit<GrantContext, 'twin'>,
  ): Promise<WrittenGrantReply> {
    const [twin, approvers] = [await this.twinOf(tx, grant, context), await this.approversOf(tx, grant, context)];
    const warnings = warningsOf(grant, { ...context, twin, ...(approvers === undefined ? {} : { approvers }) });
    return {
      grant: presentGrant(grant, context.effectiveMode),
      ...(former ? { changed: changesOf(former, grant) } : {}),
      ...(warnings.length > 0 ? { warnings } : {}),
    };
  }

  /** Undefined where the grant makes nobody be asked. */
  private async approversOf(tx: Tx, grant: GrantEntity, { effectiveMode, agent }: Omit<GrantContext, 'twin'>): Promise<number | undefined> {
    if (!mayAsk(grant, effectiveMode)) return undefined;
    const { organizationId, quorum } = grant;
    return this.quorums.approvers(tx, { organizationId, effectiveMode, agent: tiesOf(grant, agent), wanted: quorum?.approvals ?? 1 });
  }

  private async twinOf(tx: Tx, grant: GrantEntity, { agent, now }: Omit<GrantContext, 'twin'>): Promise<GrantContext['twin']> {
    const twin = await this.grants.unrevoked(tx, holderOf(grant), twinOf(grant.capability));
    const definition = twin && isAlive(twin, now) ? await this.definitions.find(tx, grant.organizationId, twin.capability) : undefined;
    return definition && { capability: twin!.capability, effectiveMode: grantEffectiveMode(twin!, definition, agent ?? WITHOUT_AGENT) };
  }

  /** Of an agent's own grant; a team's is changed by granting it again, since it concerns others too. */
  async configure(agentId: string, capability: string, change: GrantSettingsDto, caller: Caller): Promise<Reply<WrittenGrantReply>> {
    const ref = await this.agents.findRef(caller.scope, agentId);
    const holder = { organizationId: ref.organizationId, agentId: ref.id };
    return this.work.run(planOf(holder), async (tx) => {
      const agent = await this.agents.read(tx, ref);
      const former = await this.grants.unrevoked(tx, holder, capability);
      const now = await tx.now();
      const definition = await this.definitions.findToGrant(tx, ref.organizationId, capability);
      if (!former || !definition || !isAlive(former, now)) throw await this.nothingToChange(tx, agent, capability, now);
      const grant = { ...former, ...termsAfter(former, defaultTerms(definition), change), version: former.version + 1 };
      const effectiveMode = grantEffectiveMode(grant, definition, agent);
      assertUsable(grant, effectiveMode, '');
      await this.assertReachable(tx, grant, former, change, { effectiveMode, agent, pointer: '' });
      await this.grants.update(tx, grant);
      await this.openUsage(tx, grant);
      tx.record(chainOf(holder), eventOf('capability.config_updated', grant));
      return tx.reply(200, await this.replyOf(tx, grant, former, { effectiveMode, agent, now, pointer: '' }));
    });
  }

  async revoke(grantId: string, caller: Caller): Promise<Reply<undefined>> {
    const found = await this.grants.find(caller.scope, grantId);
    if (!found) throw new Problem('NOT_FOUND', 'There is no such grant, or it was revoked.');
    const holder = holderOf(found);
    return this.work.run(planOf(holder), async (tx) => {
      const grant = await this.grants.unrevoked(tx, holder, found.capability);
      if (grant?.id !== grantId) throw new Problem('NOT_FOUND', 'There is no such grant, or it was revoked.');
      await this.revokeWithin(tx, grant, caller.actorId);
      return tx.reply(204, undefined);
    });
  }

  /** @param reason a code for the entries */
  async revokeAllWithin(tx: Tx, organizationId: string, agentId: string, actorId: string, reason?: string): Promise<void> {
    for (const grant of await this.grants.ofAgent(tx, organizationId, agentId)) await this.revokeWithin(tx, grant, actorId, reason);
  }

  private async revokeWithin(tx: Tx, grant: GrantEntity, actorId: string, reason?: string): Promise<void> {
    await this.grants.update(tx, { ...grant, revokedAt: await tx.now(), revokedBy: actorId });
    const { id: grantId, version, teamId, capability } = grant;
    tx.record(chainOf(holderOf(grant)), {
      type: 'capability.revoked',
      capability,
      metadata: { grantId, version, capability, ...(teamId === null ? {} : { teamId }), ...(reason === undefined ? {} : { reason }) },
    });
  }

  /** Opens the usage row in the transaction that sets the limits, so that every execution they count finds the row that orders them. */
  private async openUsage(tx: Tx, { organizationId, id, limits }: GrantEntity): Promise<void> {
    if (limits.length > 0) await this.usage.open(tx, organizationId, id);
  }

  /**
   * Asked where the call says a quorum, or a mode that parts with other approvers; a grant whose people have left since can still be
   * changed otherwise, and blocked.
   *
   * @throws Problem TARGET_NOT_ELIGIBLE where nobody can bring the quorum together
   */
  private async assertReachable(
    tx: Tx, grant: GrantEntity, former: GrantEntity | null, { quorum: said }: GrantSettingsDto,
    { effectiveMode, agent, pointer }: Pick<GrantContext, 'effectiveMode' | 'agent' | 'pointer'>,
  ): Promise<void> {
    const { organizationId, quorum } = grant;
    if (quorum === null || effectiveMode === 'block' || (!said && grant.hitlMode === former?.hitlMode)) return;
    await this.quorums.assert(tx, { organizationId, quorum, effectiveMode, agent: tiesOf(grant, agent), pointer });
  }

  private async nothingToChange(tx: Tx, { organizationId, teamId }: AgentEntity, capability: string, now: Date): Promise<Problem> {
    const shared = teamId === null ? null : await this.grants.unrevoked(tx, { organizationId, teamId }, capability);
    return new Problem('NOT_FOUND', shared && isAlive(shared, now)
      ? 'The agent holds this by its team. Change the team\'s grant by POST /api/v1/capabilities/grant, or give the agent one of its own.'
      : 'The agent holds no active grant of this capability.');
  }
}

/** A grant that ran out is granted again with a time, or with none: its other terms are kept, and so would be its end. */
function ranOut({ expiresAt }: GrantEntity, pointer: string): Problem {
  const message = `is required: the grant ran out at ${expiresAt!.toISOString()}; give a new time, or null for none`;
  return invalid([{ pointer: `${pointer}/expiresAt`, message }]);
}

export function isAlive({ expiresAt }: GrantEntity, now: Date): boolean {
  return expiresAt === null || expiresAt > now;
}

/** Who belongs to the agent that asks; of a team's grant the team alone. */
function tiesOf({ teamId }: GrantEntity, agent: GrantContext['agent']): AgentTies {
  const { ownerId, registeredBy, teamId: agentTeam } = agent ?? {};
  return given({ ownerId: ownerId ?? undefined, registeredBy, teamId: (agent ? agentTeam : teamId) ?? undefined });
}

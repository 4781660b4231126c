import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../../domain/audit/catalogue.js';
import { agentChain } from '../../domain/audit/chain.js';
import { grantEffectiveMode } from '../../domain/gate/decide.js';
import { type Condition, checkCondition } from '../../domain/gate/conditions.js';
import type { JsonValue } from '../../domain/json.js';
import { newId } from '../../domain/ids.js';
import type { Caller } from '../../platform/auth/principal.js';
import type { Tx } from '../../platform/database/tx.js';
import { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Problem } from '../../platform/http/problem.js';
import type { Reply } from '../../platform/http/replies.js';
import { DefinitionStore } from '../capabilities/definition.store.js';
import type { Definition } from '../capabilities/definition.js';
import { GrantEntity } from '../capabilities/grant.entity.js';
import { GrantStore } from '../capabilities/grant.store.js';
import type { AgentEntity } from './agent.entity.js';
import { AgentStore } from './agent.store.js';
import type { ConditionDto, GrantSettingsDto, NewGrantDto } from './grants.dto.js';
import { type GrantReply, presentGrant } from './grants.presenter.js';

/** Grants, changes and revokes capabilities of one agent, under the lock of its chain: the very next call sees it. */
@Injectable()
export class GrantCapabilityService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly agents: AgentStore,
    private readonly definitions: DefinitionStore,
    private readonly grants: GrantStore,
  ) {}

  async grant(agentId: string, wanted: NewGrantDto, caller: Caller): Promise<Reply<{ grant: GrantReply }>> {
    const place = await this.agents.place(caller.scope, agentId);
    return this.work.run({ chains: [agentChain(place.organizationId, place.id)] }, async (tx) => {
      const agent = await this.agents.read(tx, place);
      const { grant, isNew, definition } = await this.grantWithin(tx, agent, wanted, caller.actorId);
      return tx.reply(isNew ? 201 : 200, { grant: presentGrant(grant, effectiveModeOf(grant, definition, agent)) });
    });
  }

  /**
   * Granting again keeps the id and raises the version; what is left out returns to its default.
   *
   * @param pointer where in the body the grant stands, for errors
   */
  async grantWithin(tx: Tx, agent: AgentEntity, wanted: NewGrantDto, actorId: string, pointer = '') {
    const definition = await this.definitions.findToGrant(tx, agent.organizationId, wanted.capability);
    if (!definition) throw new Problem('NOT_FOUND', `There is no capability "${wanted.capability}". GET /api/v1/capabilities lists all.`);
    const former = await this.grants.unrevoked(tx, agent.organizationId, agent.id, wanted.capability);
    const grant: GrantEntity = {
      organizationId: agent.organizationId,
      id: former?.id ?? newId('grt'),
      agentId: agent.id,
      teamId: null,
      capability: wanted.capability,
      hitlMode: wanted.hitlMode ?? definition.defaultHitlMode,
      timeoutSeconds: wanted.hitlTimeoutSeconds ?? null,
      timeoutAction: wanted.hitlTimeoutAction ?? 'reject',
      conditions: plainConditions(wanted.conditions ?? []),
      limits: [],
      expiresAt: wanted.expiresAt ?? null,
      version: (former?.version ?? 0) + 1,
      grantedAt: await tx.now(),
      grantedBy: actorId,
      revokedAt: null,
      revokedBy: null,
    };
    assertUsable(grant, pointer);
    await (former ? this.grants.update(tx, grant) : this.grants.insert(tx, grant));
    tx.record(agentChain(agent.organizationId, agent.id), eventOf('capability.granted', grant));
    return { grant, isNew: !former, definition };
  }

  async configure(agentId: string, capability: string, change: GrantSettingsDto, caller: Caller): Promise<Reply<{ grant: GrantReply }>> {
    const place = await this.agents.place(caller.scope, agentId);
    return this.work.run({ chains: [agentChain(place.organizationId, place.id)] }, async (tx) => {
      const agent = await this.agents.read(tx, place);
      const former = await this.grants.unrevoked(tx, place.organizationId, place.id, capability);
      const now = await tx.now();
      const definition = await this.definitions.findToGrant(tx, place.organizationId, capability);
      if (!former || !definition || (former.expiresAt && former.expiresAt <= now)) {
        throw new Problem('NOT_FOUND', 'The agent holds no active grant of this capability.');
      }
      const grant = { ...former, ...changed(change), version: former.version + 1 };
      assertUsable(grant, '');
      await this.grants.update(tx, grant);
      tx.record(agentChain(place.organizationId, place.id), eventOf('capability.config_updated', grant));
      return tx.reply(200, { grant: presentGrant(grant, effectiveModeOf(grant, definition, agent)) });
    });
  }

  async revoke(grantId: string, caller: Caller): Promise<Reply<undefined>> {
    const found = await this.grants.find(caller.scope, grantId);
    if (!found) throw new Problem('NOT_FOUND', 'There is no such grant, or it was revoked.');
    const { organizationId, capability } = found;
    const agentId = found.agentId!;
    return this.work.run({ chains: [agentChain(organizationId, agentId)] }, async (tx) => {
      const grant = await this.grants.unrevoked(tx, organizationId, agentId, capability);
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
    tx.record(agentChain(grant.organizationId, grant.agentId!), {
      type: 'capability.revoked',
      capability: grant.capability,
      metadata: { grantId: grant.id, version: grant.version, capability: grant.capability, ...(reason === undefined ? {} : { reason }) },
    });
  }
}

export function effectiveModeOf(grant: GrantEntity, definition: Definition, agent: Pick<AgentEntity, 'riskLevel'>) {
  return grantEffectiveMode(grant, definition, agent);
}

/** Members that were sent; null returns to the default. */
function changed(change: GrantSettingsDto): Partial<GrantEntity> {
  const { hitlMode, hitlTimeoutSeconds, hitlTimeoutAction, conditions, expiresAt } = change;
  return {
    ...(hitlMode === undefined ? {} : { hitlMode }),
    ...(hitlTimeoutSeconds === undefined ? {} : { timeoutSeconds: hitlTimeoutSeconds }),
    ...(hitlTimeoutAction === undefined ? {} : { timeoutAction: hitlTimeoutAction }),
    ...(conditions === undefined ? {} : { conditions: plainConditions(conditions) }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

/** What is stored and hashed is data, not an instance of the class that read it. */
function plainConditions(conditions: readonly ConditionDto[]): Condition[] {
  return conditions.map(({ when, hitlMode, reason }) => ({ when, hitlMode, ...(reason === undefined ? {} : { reason }) }));
}

/** @throws Problem INVALID_CONDITION with the position */
function assertUsable(grant: GrantEntity, pointer: string): void {
  grant.conditions.forEach((condition, index) => {
    const check = checkCondition(condition.when);
    if (check.ok) return;
    const { line, column, offset } = check.position;
    throw new Problem('INVALID_CONDITION', `The condition cannot be used: ${check.message} (line ${line}, column ${column}).`, {
      errors: [{ pointer: `${pointer}/conditions/${index}/when`, message: check.message }],
      members: { position: { line, column, offset } },
    });
  });
}

function eventOf(type: 'capability.granted' | 'capability.config_updated', grant: GrantEntity): AuditEvent {
  return {
    type,
    capability: grant.capability,
    metadata: {
      grantId: grant.id,
      version: grant.version,
      capability: grant.capability,
      hitlMode: grant.hitlMode,
      timeoutAction: grant.timeoutAction,
      ...(grant.timeoutSeconds === null ? {} : { timeoutSeconds: grant.timeoutSeconds }),
      ...(grant.expiresAt === null ? {} : { expiresAt: grant.expiresAt.toISOString() }),
      ...(grant.conditions.length === 0 ? {} : { conditions: grant.conditions as unknown as JsonValue }),
    },
  };
}

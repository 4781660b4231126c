import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../../domain/audit/catalogue/audit-events.js';
import { organizationChain } from '../../domain/audit/entry/chain.js';
import { isCapabilityName, isHardcoded, resemblesHardcoded } from '../../domain/gate/catalogue.js';
import type { Connector } from '../../domain/gate/connector.js';
import { definitionDigest } from '../../domain/gate/definition-digest.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { invalid } from '../../platform/http/fields/read-members.js';
import type { Reply } from '../../platform/http/reply/replies.js';
import { OrganizationsQuery } from '../organizations/organizations.query.js';
import { sharedChange } from '../organizations/shared-change.js';
import type { CapabilityDefinitionEntity } from './capability-definition.entity.js';
import type { DefineCapabilityDto, UpdateCapabilityDto } from './capabilities.dto.js';
import { type CapabilityEnvelope, presentCapability } from './capabilities.presenter.js';
import { type Definition, definitionFrom, isBuiltIn } from './definition.js';
import { DefinitionStore } from './definition.store.js';
import { GrantStore } from './grant.store.js';
import { PrepareDefinitionService } from './prepare-definition.service.js';

/**
 * Defines an organization's own capabilities, and lays connectors and schemas over the catalogue's. A definition is
 * shared by every agent of the organization: its change raises the organization's revision, and the answer waits until
 * no call judged by the old one is in flight.
 */
@Injectable()
export class DefineCapabilityService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly organizations: OrganizationsQuery,
    private readonly definitions: DefinitionStore,
    private readonly grants: GrantStore,
    private readonly preparing: PrepareDefinitionService,
  ) {}

  async define(wanted: DefineCapabilityDto, caller: Caller): Promise<Reply<CapabilityEnvelope>> {
    const organizationId = await this.organizations.homeOf(caller.scope);
    const protectedName = resemblesHardcoded(wanted.name);
    if (protectedName !== undefined) throw new Problem('HARDCODED_CAPABILITY', `The name reads like the hardcoded ${protectedName}.`);
    if (!isCapabilityName(wanted.name)) {
      throw invalid([{ pointer: '/name', message: 'must be like crm.update or crm:update, in lower case' }]);
    }
    const prepared = await this.preparing.prepare(organizationId, wanted);
    const { connector } = prepared;
    const inputSchema = prepared.inputSchema ?? this.preparing.schemaOfTool(prepared);
    return this.work.run(sharedChange(organizationId), async (tx) => {
      await this.preparing.assertSecrets(tx, organizationId, prepared);
      if (await this.definitions.find(tx, organizationId, wanted.name)) throw new Problem('CONFLICT', `"${wanted.name}" exists already.`);
      const now = await tx.now();
      const row: CapabilityDefinitionEntity = {
        organizationId,
        name: wanted.name,
        custom: true,
        category: wanted.category ?? 'custom',
        description: wanted.description,
        defaultHitlMode: wanted.defaultHitlMode ?? 'propose',
        riskScore: wanted.riskScore ?? 50,
        inputSchema: inputSchema ?? null,
        connector: connector ?? null,
        digest: digestOf(inputSchema, connector),
        createdAt: now,
        updatedAt: now,
      };
      await this.definitions.insert(tx, row);
      return this.finish(tx, 201, 'capability.defined', row);
    });
  }

  async update(name: string, wanted: UpdateCapabilityDto, caller: Caller): Promise<Reply<CapabilityEnvelope>> {
    const organizationId = await this.organizations.homeOf(caller.scope);
    const prepared = await this.preparing.prepare(organizationId, wanted);
    return this.work.run(sharedChange(organizationId), async (tx) => {
      const now = await tx.now();
      const former = await this.definitions.find(tx, organizationId, name);
      if (!former) throw new Problem('NOT_FOUND', await this.definitions.whyUnknown(organizationId, name, tx));
      assertChangeable(former, wanted);
      await this.preparing.assertSecrets(tx, organizationId, prepared);
      const given = wanted.inputSchema === undefined ? former.inputSchema : (prepared.inputSchema ?? null);
      const inputSchema = given ?? this.preparing.schemaOfTool(prepared) ?? null;
      const connector = wanted.connector === undefined ? former.connector : (prepared.connector ?? null);
      const row: CapabilityDefinitionEntity = {
        organizationId,
        name,
        custom: former.custom,
        category: wanted.category ?? former.category,
        description: wanted.description ?? former.description,
        defaultHitlMode: wanted.defaultHitlMode ?? former.defaultHitlMode,
        riskScore: wanted.riskScore ?? former.riskScore,
        inputSchema,
        connector,
        digest: digestOf(inputSchema ?? undefined, connector ?? undefined),
        createdAt: (await this.definitions.row(tx, organizationId, name))?.createdAt ?? now,
        updatedAt: now,
      };
      await this.definitions.replace(tx, row);
      return this.finish(tx, 200, 'capability.definition_updated', row);
    });
  }

  async remove(name: string, caller: Caller): Promise<Reply<undefined>> {
    const organizationId = await this.organizations.homeOf(caller.scope);
    return this.work.run(sharedChange(organizationId), async (tx) => {
      if (isBuiltIn(name)) throw new Problem('CONFLICT', 'The catalogue\'s own capabilities stay.');
      if (!(await this.definitions.row(tx, organizationId, name))) throw new Problem('NOT_FOUND', `There is no capability "${name}".`);
      // The row is deleted first: a concurrent grant waits for its lock, and then finds no definition to grant.
      await this.definitions.remove(tx, organizationId, name);
      if (await this.grants.anyoneHolds(tx, organizationId, name)) throw new Problem('CONFLICT', 'Revoke its grants first.');
      const event: AuditEvent = { type: 'capability.definition_removed', capability: name, metadata: { capability: name } };
      tx.record(organizationChain(organizationId), event);
      return tx.reply(204, undefined);
    });
  }

  private finish(tx: Tx, status: number, type: 'capability.defined' | 'capability.definition_updated', row: CapabilityDefinitionEntity) {
    tx.record(organizationChain(row.organizationId), eventOf(type, row));
    return tx.reply(status, { capability: presentCapability(definitionFrom(row.name, row)!, true) });
  }
}

/** Of a hardcoded capability nobody changes the mode; of the catalogue's an organization sets what concerns itself. */
function assertChangeable(former: Definition, wanted: UpdateCapabilityDto): void {
  if (former.hardcoded && wanted.defaultHitlMode !== undefined && wanted.defaultHitlMode !== 'escalate') {
    throw new Problem('HARDCODED_CAPABILITY', `${former.name} always escalates.`);
  }
  if (former.custom) return;
  const fixed = (['description', 'category', 'riskScore'] as const).filter((member) => wanted[member] !== undefined);
  if (fixed.length === 0) return;
  throw new Problem('VALIDATION_FAILED', 'Of the catalogue\'s own capabilities, connector, inputSchema and defaultHitlMode can be set.', {
    errors: fixed.map((member) => ({ pointer: `/${member}`, message: 'is fixed for a capability of the catalogue' })),
  });
}

function digestOf(inputSchema: JsonObject | undefined, connector: Connector | undefined): string {
  return definitionDigest({ ...(inputSchema ? { inputSchema } : {}), ...(connector ? { connector } : {}) });
}

function eventOf(type: 'capability.defined' | 'capability.definition_updated', row: CapabilityDefinitionEntity): AuditEvent {
  return {
    type,
    capability: row.name,
    metadata: {
      capability: row.name,
      definition: row.digest,
      description: row.description,
      category: row.category,
      hitlMode: isHardcoded(row.name) ? 'escalate' : row.defaultHitlMode,
      riskScore: row.riskScore,
      ...(row.inputSchema ? { inputSchema: row.inputSchema } : {}),
      ...(row.connector ? { connector: row.connector as unknown as JsonValue } : {}),
    },
  };
}

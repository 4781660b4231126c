import { Controller, Delete, Get, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { reachOf } from '../../domain/access/access.js';
import { Access, Caller } from '../../platform/auth/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/principal.js';
import { kindOf } from '../../platform/auth/principal.js';
import { Idempotent } from '../../platform/http/idempotent.js';
import { JsonBody } from '../../platform/http/json-body.js';
import { PathParam } from '../../platform/http/path-param.js';
import { Replies } from '../../platform/http/replies.js';
import { OrganizationsQuery } from '../organizations/organizations.query.js';
import { DefineCapabilityDto, UpdateCapabilityDto } from './capabilities.dto.js';
import { CapabilityEnvelope, CapabilityListReply, presentCapability } from './capabilities.presenter.js';
import { DefineCapabilityService } from './define-capability.service.js';
import { DefinitionStore } from './definition.store.js';

@ApiTags('Capabilities and grants')
@Controller('api/v1/capabilities')
export class CapabilitiesController {
  constructor(
    private readonly organizations: OrganizationsQuery,
    private readonly definitions: DefinitionStore,
    private readonly defining: DefineCapabilityService,
  ) {}

  @Get()
  @Access('catalogue.read')
  @Replies(200, CapabilityListReply)
  async list(@Caller() caller: VerifiedCaller): Promise<CapabilityListReply> {
    const all = await this.definitions.list(await this.organizations.homeOf(caller.scope));
    const kind = kindOf(caller.principal);
    const withConnectors = kind !== 'system' && reachOf('capabilities.write', kind) !== 'denied';
    return { capabilities: all.map((definition) => presentCapability(definition, withConnectors)) };
  }

  @Post()
  @Access('capabilities.write')
  @Idempotent('capabilities.define')
  @Replies(201, CapabilityEnvelope, 'CONFLICT', 'HARDCODED_CAPABILITY', 'UNSAFE_URL', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  define(@JsonBody(DefineCapabilityDto) body: DefineCapabilityDto, @Caller() caller: VerifiedCaller) {
    return this.defining.define(body, caller);
  }

  @Patch(':name')
  @Access('capabilities.write')
  @Replies(200, CapabilityEnvelope, 'HARDCODED_CAPABILITY', 'UNSAFE_URL')
  update(@PathParam('name') name: string, @JsonBody(UpdateCapabilityDto) body: UpdateCapabilityDto, @Caller() caller: VerifiedCaller) {
    return this.defining.update(name, body, caller);
  }

  @Delete(':name')
  @Access('capabilities.write')
  @Replies(204, null, 'CONFLICT')
  remove(@PathParam('name') name: string, @Caller() caller: VerifiedCaller) {
    return this.defining.remove(name, caller);
  }
}

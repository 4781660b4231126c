import { Controller, Delete, Get, Patch, Post } from '@nestjs/common';
import { ApiExtraModels, ApiOperation, ApiTags } from '@nestjs/swagger';
import { reachOf } from '../../domain/access/access.js';
import { Access, Caller } from '../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/access/principal.js';
import { kindOf } from '../../platform/auth/access/principal.js';
import { Idempotent } from '../../platform/http/request/idempotent.js';
import { JsonBody } from '../../platform/http/request/json-body.js';
import { PathParam } from '../../platform/http/request/path-param.js';
import { Replies } from '../../platform/http/reply/replies.js';
import { OrganizationsQuery } from '../organizations/organizations.query.js';
import { DefineCapabilityDto, UpdateCapabilityDto } from './capabilities.dto.js';
import { CapabilityEnvelope, CapabilityListReply, presentCapability } from './capabilities.presenter.js';
import { CONNECTOR, CONNECTOR_REPLY } from './document/connector.dto.js';
import { DefineCapabilityService } from './define-capability.service.js';
import { DefinitionStore } from './definition.store.js';

@ApiTags('Capabilities and grants')
@ApiExtraModels(...CONNECTOR.forms, ...CONNECTOR_REPLY.forms)
@Controller('api/v1/capabilities')
export class CapabilitiesController {
  constructor(
    private readonly organizations: OrganizationsQuery,
    private readonly definitions: DefinitionStore,
    private readonly defining: DefineCapabilityService,
  ) {}

  @Get()
  @ApiOperation({ summary: 'The capability catalogue', description: "The built-in capabilities and the organization's own." })
  @Access('catalogue.read')
  @Replies(200, CapabilityListReply)
  async list(@Caller() caller: VerifiedCaller): Promise<CapabilityListReply> {
    const all = await this.definitions.list(await this.organizations.homeOf(caller.scope));
    const kind = kindOf(caller.principal);
    const withConnectors = kind !== 'system' && reachOf('capabilities.write', kind) !== 'denied';
    return { capabilities: all.map((definition) => presentCapability(definition, withConnectors)) };
  }

  @Post()
  @ApiOperation({
    summary: 'Define a capability of your own',
    description: 'With a `connector` the service makes the call itself; without one the agent does the work and reports.',
  })
  @Access('capabilities.write')
  @Idempotent('capabilities.define')
  @Replies(201, CapabilityEnvelope, 'CONFLICT', 'HARDCODED_CAPABILITY', 'UNSAFE_URL', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  define(@JsonBody(DefineCapabilityDto) body: DefineCapabilityDto, @Caller() caller: VerifiedCaller) {
    return this.defining.define(body, caller);
  }

  @Patch(':name')
  @ApiOperation({
    summary: 'Change a definition',
    description:
      'Of the built-in ones: `connector`, `inputSchema`, `defaultHitlMode`. Open requests asked under the old ' +
      'definition can no longer be approved.',
  })
  @Access('capabilities.write')
  @Replies(200, CapabilityEnvelope, 'HARDCODED_CAPABILITY', 'UNSAFE_URL', 'CONFLICT')
  update(@PathParam('name') name: string, @JsonBody(UpdateCapabilityDto) body: UpdateCapabilityDto, @Caller() caller: VerifiedCaller) {
    return this.defining.update(name, body, caller);
  }

  @Delete(':name')
  @ApiOperation({ summary: 'Remove a capability of your own', description: 'Once nobody holds it.' })
  @Access('capabilities.write')
  @Replies(204, null, 'CONFLICT')
  remove(@PathParam('name') name: string, @Caller() caller: VerifiedCaller) {
    return this.defining.remove(name, caller);
  }
}

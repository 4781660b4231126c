import { Controller, Delete, Get, Patch, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { Idempotent } from '../../../platform/http/request/idempotent.js';
import { JsonBody } from '../../../platform/http/request/json-body.js';
import { PageQuery, pageRequest } from '../../../platform/http/fields/pagination.js';
import { PathParam } from '../../../platform/http/request/path-param.js';
import { QueryParams } from '../../../platform/http/request/query-params.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { AgentStore } from '../agent.store.js';
import { GrantCapabilityService } from './grant-capability.service.js';
import { GrantToService } from './grant-to.service.js';
import { GrantListQuery, GrantSettingsDto, GrantToDto, NewGrantDto } from './grants.dto.js';
import { GrantListReply, WrittenGrantReply } from './grants.presenter.js';
import { type GrantFilter, GrantsQuery } from './grants.query.js';

const DEFAULT_LIMIT = 500;
const TERMS_CODES = ['INVALID_CONDITION', 'TIMEOUT_ACTION_NOT_ALLOWED', 'TARGET_NOT_ELIGIBLE'] as const;
const GRANT_CODES = [...TERMS_CODES, 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED'] as const;

@ApiTags('Capabilities and grants')
@Controller('api/v1')
export class GrantsController {
  constructor(
    private readonly granting: GrantCapabilityService,
    private readonly grantsTo: GrantToService,
    private readonly agents: AgentStore,
    private readonly grants: GrantsQuery,
  ) {}

  @Post('capabilities/grant')
  @ApiOperation({
    operationId: 'grants.create',
    summary: 'Grant a capability to an agent or a team',
    description: 'Granting again keeps the id and what is left out, and raises the version; null returns a member to its default.',
  })
  @Access('grants.write')
  @Idempotent('grants.grant')
  @Replies(201, WrittenGrantReply, 'TIER_REQUIRED', ...GRANT_CODES)
  @Replies(200, WrittenGrantReply)
  grantTo(@JsonBody(GrantToDto) body: GrantToDto, @Caller() caller: VerifiedCaller) {
    return this.grantsTo.grantTo(body, caller);
  }

  @Post('agents/:id/capabilities')
  @ApiOperation({
    operationId: 'grants.createForAgent',
    summary: 'Grant a capability to this agent',
    description: 'Granting again keeps the id and what is left out, and raises the version; null returns a member to its default.',
  })
  @Access('grants.write')
  @Idempotent('grants.grant')
  @Replies(201, WrittenGrantReply, ...GRANT_CODES)
  @Replies(200, WrittenGrantReply)
  grant(@PathParam('id', 'agt') id: string, @JsonBody(NewGrantDto) body: NewGrantDto, @Caller() caller: VerifiedCaller) {
    return this.granting.grant(id, body, caller);
  }

  @Patch('agents/:id/capabilities/:capability')
  @ApiOperation({ summary: 'Change an agent\'s own grant', description: 'Members left out stay. Takes effect on the very next call.' })
  @Access('grants.write')
  @Replies(200, WrittenGrantReply, ...TERMS_CODES)
  configure(
    @PathParam('id', 'agt') id: string,
    @PathParam('capability') capability: string,
    @JsonBody(GrantSettingsDto) body: GrantSettingsDto,
    @Caller() caller: VerifiedCaller,
  ) {
    return this.granting.configure(id, capability, body, caller);
  }

  @Get('agents/:id/capabilities')
  @ApiOperation({
    operationId: 'grants.listOfAgent',
    summary: 'What an agent holds',
    description: 'Active grants only: for each capability the one that counts, its own or its team\'s.',
  })
  @Access('grants.read')
  @Replies(200, GrantListReply)
  async ofAgent(@PathParam('id', 'agt') id: string, @QueryParams(PageQuery) query: PageQuery, @Caller() caller: VerifiedCaller) {
    const ref = await this.agents.findRef(caller.scope, id);
    return this.list({ agentId: ref.id }, query, caller);
  }

  @Get('capabilities/grants')
  @ApiOperation({ operationId: 'grants.list', summary: 'Who holds a capability', description: 'Active grants only.' })
  @Access('grants.read')
  @Replies(200, GrantListReply)
  holders(@QueryParams(GrantListQuery) query: GrantListQuery, @Caller() caller: VerifiedCaller) {
    return this.list(query, query, caller);
  }

  @Delete('capabilities/grant/:id')
  @ApiOperation({ summary: 'Revoke a grant', description: 'Nothing begins under it any more, from this answer on, on every replica.' })
  @Access('grants.write')
  @Replies(204, null)
  revoke(@PathParam('id', 'grt') id: string, @Caller() caller: VerifiedCaller) {
    return this.granting.revoke(id, caller);
  }

  private async list(filter: GrantFilter, page: PageQuery, caller: VerifiedCaller): Promise<GrantListReply> {
    const { rows, total, nextCursor } = await this.grants.list(caller.scope, filter, pageRequest(page, DEFAULT_LIMIT));
    return { grants: rows, total, ...(nextCursor ? { nextCursor } : {}) };
  }
}

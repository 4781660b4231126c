import { Controller, Get, Patch, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/access/principal.js';
import { Idempotent } from '../../platform/http/request/idempotent.js';
import { JsonBody } from '../../platform/http/request/json-body.js';
import { pageRequest } from '../../platform/http/fields/pagination.js';
import { PathParam } from '../../platform/http/request/path-param.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { QueryParams } from '../../platform/http/request/query-params.js';
import { Replies } from '../../platform/http/reply/replies.js';
import { ChangeOrganizationService } from './change-organization.service.js';
import { MakeOrganizationDto, OrganizationListQuery, UpdateOrganizationDto } from './organizations.dto.js';
import { OrganizationEnvelope, OrganizationListReply, presentOrganization } from './organizations.presenter.js';
import { OrganizationsQuery } from './organizations.query.js';

const DEFAULT_LIMIT = 500;

@ApiTags('Organizations and people')
@Controller('api/v1/organizations')
export class OrganizationsController {
  constructor(
    private readonly changes: ChangeOrganizationService,
    private readonly organizations: OrganizationsQuery,
  ) {}

  @Get()
  @ApiOperation({ summary: 'List organizations', description: "Root: all. An owner: those of their tenant. Everybody else: one's own." })
  @Access('organizations.read')
  @Replies(200, OrganizationListReply)
  async list(
    @QueryParams(OrganizationListQuery) query: OrganizationListQuery,
    @Caller() caller: VerifiedCaller,
  ): Promise<OrganizationListReply> {
    const { rows, total, nextCursor } = await this.organizations.list(caller.scope, pageRequest(query, DEFAULT_LIMIT));
    return { organizations: rows.map(presentOrganization), total, ...(nextCursor ? { nextCursor } : {}) };
  }

  @Post()
  @ApiOperation({
    summary: 'Make an organization',
    description: 'By root, or by an owner within their tenant. Its chain in the audit log begins here.',
  })
  @Access('organizations.create')
  @Idempotent('organizations.make')
  @Replies(201, OrganizationEnvelope, 'TIER_REQUIRED', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  create(@JsonBody(MakeOrganizationDto) body: MakeOrganizationDto, @Caller() caller: VerifiedCaller) {
    return this.changes.make(body, caller);
  }

  @Get(':id')
  @ApiOperation({ summary: 'One organization' })
  @Access('organizations.read')
  @Replies(200, OrganizationEnvelope)
  async get(@PathParam('id', 'org') id: string, @Caller() caller: VerifiedCaller): Promise<OrganizationEnvelope> {
    const organization = await this.organizations.find(caller.scope, id);
    if (!organization) throw new Problem('NOT_FOUND', 'There is no such organization.');
    return { organization: presentOrganization(organization) };
  }

  @Patch(':id')
  @ApiOperation({
    summary: "Change an organization's name or settings",
    description: 'What is left out stays. The answer comes once nothing judged by the former settings is under way.',
  })
  @Access('organizations.write')
  @Replies(200, OrganizationEnvelope)
  update(
    @PathParam('id', 'org') id: string,
    @JsonBody(UpdateOrganizationDto) body: UpdateOrganizationDto,
    @Caller() caller: VerifiedCaller,
  ) {
    return this.changes.update(id, body, caller);
  }
}

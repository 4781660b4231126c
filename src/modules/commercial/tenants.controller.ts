import { Controller, Delete, Get, Patch, Post, Put } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/access/principal.js';
import { Idempotent } from '../../platform/http/request/idempotent.js';
import { JsonBody } from '../../platform/http/request/json-body.js';
import { pageRequest } from '../../platform/http/fields/pagination.js';
import { PathParam } from '../../platform/http/request/path-param.js';
import { QueryParams } from '../../platform/http/request/query-params.js';
import { Replies } from '../../platform/http/reply/replies.js';
import { ChangeTenantService } from './change-tenant.service.js';
import { RemoveTenantService } from './remove-tenant.service.js';
import { TenantUsageService } from './tenant-usage.service.js';
import { MakeTenantDto, SubscriptionDto, TenantListQuery, UpdateTenantDto, UsageQueryDto } from './tenants.dto.js';
import { presentTenant, TenantEnvelope, TenantListReply, UsageEnvelope } from './tenants.presenter.js';
import { TenantsQuery } from './tenants.query.js';

const DEFAULT_LIMIT = 500;

@ApiTags('Internal')
@Controller('internal/v1/tenants')
export class TenantsController {
  constructor(
    private readonly tenants: TenantsQuery,
    private readonly changes: ChangeTenantService,
    private readonly removal: RemoveTenantService,
    private readonly usages: TenantUsageService,
  ) {}

  @Get()
  @ApiOperation({ summary: 'List tenants', description: 'Newest first; those in service, unless `status` asks for deleted ones.' })
  @Access('tenants.read')
  @Replies(200, TenantListReply)
  async list(@QueryParams(TenantListQuery) query: TenantListQuery, @Caller() caller: VerifiedCaller): Promise<TenantListReply> {
    const page = pageRequest(query, DEFAULT_LIMIT);
    const { rows, total, nextCursor } = await this.tenants.list(caller.scope, query.status ?? 'active', page);
    return { tenants: rows.map(presentTenant), total, ...(nextCursor ? { nextCursor } : {}) };
  }

  @Post()
  @ApiOperation({ summary: 'Make a tenant', description: 'With its first organization, in which people from the identity provider land.' })
  @Access('tenants.write')
  @Idempotent('tenants.make')
  @Replies(201, TenantEnvelope, 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  create(@JsonBody(MakeTenantDto) body: MakeTenantDto) {
    return this.changes.make(body);
  }

  @Get(':id')
  @ApiOperation({ summary: 'One tenant' })
  @Access('tenants.read')
  @Replies(200, TenantEnvelope)
  async get(@PathParam('id', 'ten') id: string, @Caller() caller: VerifiedCaller): Promise<TenantEnvelope> {
    return { tenant: presentTenant(await this.tenants.read(caller.scope, id)) };
  }

  @Patch(':id')
  @ApiOperation({ summary: 'Rename a tenant' })
  @Access('tenants.write')
  @Replies(200, TenantEnvelope, 'CONFLICT')
  update(@PathParam('id', 'ten') id: string, @JsonBody(UpdateTenantDto) body: UpdateTenantDto) {
    return this.changes.update(id, body);
  }

  @Delete(':id')
  @ApiOperation({
    summary: 'Delete a tenant',
    description:
      'Its people’s accounts are closed, their keys and sessions are dead, and its organizations stop, for good. Data and log stay. ' +
      'A call that broke off is repeated; what has been done is not done again.',
  })
  @Access('tenants.write')
  @Replies(204, null)
  remove(@PathParam('id', 'ten') id: string, @Caller() caller: VerifiedCaller) {
    return this.removal.remove(id, caller);
  }

  @Put(':id/subscription')
  @ApiOperation({
    summary: 'Say what a tenant has subscribed to',
    description: 'From the answer on nothing new comes over the limits; what is there already stays and goes on.',
  })
  @Access('tenants.write')
  @Replies(200, TenantEnvelope, 'CONFLICT')
  subscribe(@PathParam('id', 'ten') id: string, @JsonBody(SubscriptionDto) body: SubscriptionDto) {
    return this.changes.subscribe(id, body);
  }

  @Get(':id/usage')
  @ApiOperation({ summary: 'What a tenant has and does', description: 'Counts over all of its organizations.' })
  @Access('tenants.read')
  @Replies(200, UsageEnvelope)
  usage(@PathParam('id', 'ten') id: string, @QueryParams(UsageQueryDto) query: UsageQueryDto, @Caller() caller: VerifiedCaller) {
    return this.usages.of(id, query, caller);
  }
}

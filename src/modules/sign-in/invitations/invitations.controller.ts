import { Controller, Delete, Get, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { Idempotent } from '../../../platform/http/request/idempotent.js';
import { JsonBody } from '../../../platform/http/request/json-body.js';
import { pageRequest } from '../../../platform/http/fields/pagination.js';
import { PathParam } from '../../../platform/http/request/path-param.js';
import { QueryParams } from '../../../platform/http/request/query-params.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { InvitationListQuery, InviteDto } from './invitations.dto.js';
import { InvitationListReply, NewInvitationReply, presentInvitation } from './invitations.presenter.js';
import { InvitationsQuery } from './invitations.query.js';
import { InvitePersonService } from './invite-person.service.js';

const DEFAULT_LIMIT = 500;

@ApiTags('Organizations and people')
@Controller('api/v1/users/invitations')
export class InvitationsController {
  constructor(
    private readonly inviting: InvitePersonService,
    private readonly invitations: InvitationsQuery,
  ) {}

  @Post()
  @ApiOperation({
    operationId: 'invitations.create',
    summary: 'Invite somebody',
    description: 'To no role above your own. The link is good once, for 72 hours, and as long as you could still invite to that role. '
      + 'With a mail server it goes to the address alone. Without one you are given it, and count as one person with whoever comes in '
      + 'by it, under strict separation of duties and in a quorum.',
  })
  @Access('invitations.write')
  @Idempotent('users.invite')
  @Replies(201, NewInvitationReply, 'CONFLICT', 'TIER_REQUIRED', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  invite(@JsonBody(InviteDto) body: InviteDto, @Caller() caller: VerifiedCaller) {
    return this.inviting.invite(body, caller);
  }

  @Get()
  @ApiOperation({
    summary: 'List invitations', description: 'Newest first, with those that ended within the last 30 days. Never with links.',
  })
  @Access('invitations.read')
  @Replies(200, InvitationListReply)
  async list(
    @QueryParams(InvitationListQuery) query: InvitationListQuery, @Caller() caller: VerifiedCaller,
  ): Promise<InvitationListReply> {
    const { rows, total, nextCursor } = await this.invitations.list(caller.scope, query.organizationId, pageRequest(query, DEFAULT_LIMIT));
    return { invitations: rows.map(presentInvitation), total, ...(nextCursor ? { nextCursor } : {}) };
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Void an invitation', description: 'Its link lets nobody in any more.' })
  @Access('invitations.write')
  @Replies(204, null)
  void(@PathParam('id', 'inv') id: string, @Caller() caller: VerifiedCaller) {
    return this.inviting.void(id, caller);
  }
}

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
import { TokenReply } from '../agents.presenter.js';
import { IssueTokenService } from '../tokens/issue-token.service.js';
import { AgentKeyListQuery, MakeAgentKeyDto } from './agent-keys.dto.js';
import { AgentKeyListReply, NewAgentKeyReply, presentAgentKey } from './agent-keys.presenter.js';
import { AgentKeysService } from './agent-keys.service.js';

const DEFAULT_LIMIT = 500;

@ApiTags('Agents')
@Controller('api/v1/agents')
export class AgentKeysController {
  constructor(
    private readonly keys: AgentKeysService,
    private readonly tokens: IssueTokenService,
  ) {}

  @Get(':id/keys')
  @ApiOperation({ summary: "List an agent's keys", description: 'Newest first, without deleted and revoked ones. Never a secret.' })
  @Access('agents.read')
  @Replies(200, AgentKeyListReply)
  async list(
    @PathParam('id', 'agt') id: string, @QueryParams(AgentKeyListQuery) query: AgentKeyListQuery, @Caller() caller: VerifiedCaller,
  ): Promise<AgentKeyListReply> {
    const { rows, total, nextCursor } = await this.keys.list(id, pageRequest(query, DEFAULT_LIMIT), caller);
    return { keys: rows.map(presentAgentKey), total, ...(nextCursor ? { nextCursor } : {}) };
  }

  @Post(':id/keys')
  @ApiOperation({
    summary: 'Make a key for an agent',
    description: 'For an agent that sleeps longer than a token lives. As Bearer the key is its agent, with the grants of that moment. It '
      + 'lives until it is deleted, expires, or whatever ends the tokens of the agent ends it. The secret is shown once. By a session: '
      + 'within ten minutes of signing in (403).',
  })
  @Access('agents.issue-token')
  @Idempotent('agents.make-key')
  @Replies(201, NewAgentKeyReply, 'CONFLICT', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  create(@PathParam('id', 'agt') id: string, @JsonBody(MakeAgentKeyDto) body: MakeAgentKeyDto, @Caller() caller: VerifiedCaller) {
    return this.keys.make(id, body, caller);
  }

  @Delete(':id/keys/:keyId')
  @ApiOperation({
    summary: "Delete an agent's key",
    description: 'The key, and every token that it was exchanged for, end at once, on every replica. What its agent asked people for ' +
      'before stays open and runs once it is approved, as behind a token that ended: cancel such requests, or deactivate the agent.',
  })
  @Access('agents.issue-token')
  @Replies(204, null)
  delete(@PathParam('id', 'agt') id: string, @PathParam('keyId', 'key') keyId: string, @Caller() caller: VerifiedCaller) {
    return this.keys.delete(id, keyId, caller);
  }

  @Post('token')
  @ApiOperation({
    summary: 'Exchange an agent key for a token',
    description: 'The key as Bearer, no body. The token names the capabilities of this moment, and ends with the key at the latest.',
  })
  @Access('agents.exchange-key')
  @Idempotent('agents.exchange-key')
  @Replies(200, TokenReply, 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  exchange(@Caller() caller: VerifiedCaller) {
    return this.tokens.exchange(caller);
  }
}

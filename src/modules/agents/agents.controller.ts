import { Controller, Delete, Get, Patch, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/access/principal.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { Idempotent } from '../../platform/http/request/idempotent.js';
import { JsonBody } from '../../platform/http/request/json-body.js';
import { pageRequest } from '../../platform/http/fields/pagination.js';
import { PathParam } from '../../platform/http/request/path-param.js';
import { QueryParams } from '../../platform/http/request/query-params.js';
import { Replies } from '../../platform/http/reply/replies.js';
import { AgentListQuery, ReasonDto, RefreshTokenDto, RegisterAgentDto, RiskLevelDto, UpdateAgentDto } from './agents.dto.js';
import { AgentEnvelope, AgentListReply, RegistrationReply, TokenReply, presentAgent } from './agents.presenter.js';
import { AgentsQuery } from './agents.query.js';
import { ChangeAgentService } from './change-agent.service.js';
import { IssueTokenService } from './tokens/issue-token.service.js';
import { RegisterAgentService } from './register-agent.service.js';

const DEFAULT_LIMIT = 500;

@ApiTags('Agents')
@Controller('api/v1/agents')
export class AgentsController {
  constructor(
    private readonly registration: RegisterAgentService,
    private readonly changes: ChangeAgentService,
    private readonly tokens: IssueTokenService,
    private readonly agents: AgentsQuery,
  ) {}

  @Get()
  @ApiOperation({ summary: 'List agents', description: 'Newest first. An agent sees itself.' })
  @Access('agents.read')
  @Replies(200, AgentListReply)
  async list(@QueryParams(AgentListQuery) query: AgentListQuery, @Caller() caller: VerifiedCaller): Promise<AgentListReply> {
    const { rows, total, nextCursor } = await this.agents.list(caller.scope, query, pageRequest(query, DEFAULT_LIMIT));
    return { agents: rows.map(presentAgent), total, ...(nextCursor ? { nextCursor } : {}) };
  }

  @Post()
  @ApiOperation({
    summary: 'Register an agent',
    description:
      'Its chain in the audit log begins here. The answer holds its first token, which is shown once; `grants` ' +
      'in the body puts capabilities into it.',
  })
  @Access('agents.write')
  @Idempotent('agents.register')
  @Replies(
    201, RegistrationReply, 'TIER_REQUIRED', 'INVALID_CONDITION', 'TIMEOUT_ACTION_NOT_ALLOWED', 'TARGET_NOT_ELIGIBLE',
    'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED',
  )
  register(@JsonBody(RegisterAgentDto) body: RegisterAgentDto, @Caller() caller: VerifiedCaller) {
    return this.registration.register(body, caller);
  }

  @Get(':id')
  @ApiOperation({ summary: 'One agent' })
  @Access('agents.read')
  @Replies(200, AgentEnvelope)
  async get(@PathParam('id', 'agt') id: string, @Caller() caller: VerifiedCaller): Promise<AgentEnvelope> {
    const agent = await this.agents.find(caller.scope, id);
    if (!agent) throw new Problem('NOT_FOUND', 'There is no such agent.');
    return { agent: presentAgent(agent) };
  }

  @Patch(':id')
  @ApiOperation({
    summary: 'Change what an agent is said to be',
    description: 'Members left out stay; null clears description, owner and team.',
  })
  @Access('agents.write')
  @Replies(200, AgentEnvelope, 'TIER_REQUIRED')
  update(@PathParam('id', 'agt') id: string, @JsonBody(UpdateAgentDto) body: UpdateAgentDto, @Caller() caller: VerifiedCaller) {
    return this.changes.update(id, body, caller);
  }

  @Patch(':id/risk-level')
  @ApiOperation({
    summary: "Set an agent's risk level",
    description: 'Takes effect on the very next call, on every replica. From `high` on everything the agent does is flagged.',
  })
  @Access('agents.write')
  @Replies(200, AgentEnvelope)
  setRiskLevel(@PathParam('id', 'agt') id: string, @JsonBody(RiskLevelDto) body: RiskLevelDto, @Caller() caller: VerifiedCaller) {
    return this.changes.setRiskLevel(id, body.riskLevel, caller);
  }

  @Post(':id/deactivate')
  @ApiOperation({
    summary: 'Take an agent out of service',
    description: 'Its calls answer 403 `AGENT_INACTIVE` from the next one on. Open requests stay; their approval finds out.',
  })
  @Access('agents.write')
  @Replies(200, AgentEnvelope, 'CONFLICT')
  deactivate(@PathParam('id', 'agt') id: string, @JsonBody(ReasonDto) body: ReasonDto, @Caller() caller: VerifiedCaller) {
    return this.changes.deactivate(id, body.reason, caller);
  }

  @Post(':id/activate')
  @ApiOperation({ summary: 'Put an agent back into service', description: 'Every older token and key stays dead: make a new one.' })
  @Access('agents.write')
  @Replies(200, AgentEnvelope, 'CONFLICT')
  activate(@PathParam('id', 'agt') id: string, @Caller() caller: VerifiedCaller) {
    return this.changes.activate(id, caller);
  }

  @Post(':id/token')
  @ApiOperation({
    summary: 'Issue a token for an agent',
    description: 'With its capabilities of this moment. Lifetime: `AGENT_JWT_TTL`, by default 3600 seconds.',
  })
  @Access('agents.issue-token')
  @Idempotent('agents.issue-token')
  @Replies(200, TokenReply, 'AGENT_INACTIVE', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  issueToken(@PathParam('id', 'agt') id: string, @Caller() caller: VerifiedCaller) {
    return this.tokens.issue(id, caller);
  }

  @Post(':id/token/refresh')
  @ApiOperation({
    summary: 'Refresh a token',
    description:
      'By the agent itself. 409 `CAPABILITIES_CHANGED` when its grants have changed: repeat with the ' +
      '`currentCapabilities` of that answer.',
  })
  @Access('agents.refresh-token')
  @Idempotent('agents.refresh-token')
  @Replies(200, TokenReply, 'AGENT_INACTIVE', 'CAPABILITIES_CHANGED', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  refreshToken(@PathParam('id', 'agt') id: string, @JsonBody(RefreshTokenDto) body: RefreshTokenDto, @Caller() caller: VerifiedCaller) {
    return this.tokens.refresh(id, body.capabilities, caller);
  }

  @Delete(':id/tokens')
  @ApiOperation({ summary: 'End every token and key of an agent', description: 'At once, on every replica.' })
  @Access('agents.issue-token')
  @Replies(204, null)
  revokeTokens(@PathParam('id', 'agt') id: string, @Caller() caller: VerifiedCaller) {
    return this.tokens.revokeAll(id, caller);
  }
}

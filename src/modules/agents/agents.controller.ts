import { Controller, Delete, Get, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../platform/auth/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/principal.js';
import { Problem } from '../../platform/http/problem.js';
import { Idempotent } from '../../platform/http/idempotent.js';
import { JsonBody } from '../../platform/http/json-body.js';
import { pageRequest } from '../../platform/http/pagination.js';
import { PathParam } from '../../platform/http/path-param.js';
import { QueryParams } from '../../platform/http/query-params.js';
import { Replies } from '../../platform/http/replies.js';
import { AgentListQuery, ReasonDto, RefreshTokenDto, RegisterAgentDto, RiskLevelDto, UpdateAgentDto } from './agents.dto.js';
import { AgentEnvelope, AgentListReply, RegistrationReply, TokenReply, presentAgent } from './agents.presenter.js';
import { AgentsQuery } from './agents.query.js';
import { ChangeAgentService } from './change-agent.service.js';
import { IssueTokenService } from './issue-token.service.js';
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
  @Access('agents.read')
  @Replies(200, AgentListReply)
  async list(@QueryParams(AgentListQuery) query: AgentListQuery, @Caller() caller: VerifiedCaller): Promise<AgentListReply> {
    const { rows, total, nextCursor } = await this.agents.list(caller.scope, query, pageRequest(query, DEFAULT_LIMIT));
    return { agents: rows.map(presentAgent), total, ...(nextCursor ? { nextCursor } : {}) };
  }

  @Post()
  @Access('agents.write')
  @Idempotent('agents.register')
  @Replies(201, RegistrationReply, 'INVALID_CONDITION', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  register(@JsonBody(RegisterAgentDto) body: RegisterAgentDto, @Caller() caller: VerifiedCaller) {
    return this.registration.register(body, caller);
  }

  @Get(':id')
  @Access('agents.read')
  @Replies(200, AgentEnvelope)
  async get(@PathParam('id', 'agt') id: string, @Caller() caller: VerifiedCaller): Promise<AgentEnvelope> {
    const agent = await this.agents.find(caller.scope, id);
    if (!agent) throw new Problem('NOT_FOUND', 'There is no such agent.');
    return { agent: presentAgent(agent) };
  }

  @Patch(':id')
  @Access('agents.write')
  @Replies(200, AgentEnvelope)
  update(@PathParam('id', 'agt') id: string, @JsonBody(UpdateAgentDto) body: UpdateAgentDto, @Caller() caller: VerifiedCaller) {
    return this.changes.update(id, body, caller);
  }

  @Patch(':id/risk-level')
  @Access('agents.write')
  @Replies(200, AgentEnvelope)
  setRiskLevel(@PathParam('id', 'agt') id: string, @JsonBody(RiskLevelDto) body: RiskLevelDto, @Caller() caller: VerifiedCaller) {
    return this.changes.setRiskLevel(id, body.riskLevel, caller);
  }

  @Post(':id/deactivate')
  @Access('agents.write')
  @Replies(200, AgentEnvelope, 'CONFLICT')
  deactivate(@PathParam('id', 'agt') id: string, @JsonBody(ReasonDto) body: ReasonDto, @Caller() caller: VerifiedCaller) {
    return this.changes.deactivate(id, body.reason, caller);
  }

  @Post(':id/activate')
  @Access('agents.write')
  @Replies(200, AgentEnvelope, 'CONFLICT')
  activate(@PathParam('id', 'agt') id: string, @Caller() caller: VerifiedCaller) {
    return this.changes.activate(id, caller);
  }

  @Post(':id/token')
  @Access('agents.issue-token')
  @Idempotent('agents.issue-token')
  @Replies(200, TokenReply, 'AGENT_INACTIVE', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  issueToken(@PathParam('id', 'agt') id: string, @Caller() caller: VerifiedCaller) {
    return this.tokens.issue(id, caller);
  }

  @Post(':id/token/refresh')
  @Access('agents.refresh-token')
  @Replies(200, TokenReply, 'AGENT_INACTIVE', 'CAPABILITIES_CHANGED')
  refreshToken(@PathParam('id', 'agt') id: string, @JsonBody(RefreshTokenDto) body: RefreshTokenDto, @Caller() caller: VerifiedCaller) {
    return this.tokens.refresh(id, body.capabilities, caller);
  }

  @Delete(':id/tokens')
  @Access('agents.issue-token')
  @Replies(204, null)
  revokeTokens(@PathParam('id', 'agt') id: string, @Caller() caller: VerifiedCaller) {
    return this.tokens.revokeAll(id, caller);
  }
}

import { Controller, Delete, Get, Patch, Post } from '@nestjs/common';
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
import { ChangeMembersService } from './change-members.service.js';
import { ChangeTeamService } from './change-team.service.js';
import { NewMemberDto, NewTeamDto, TeamListQuery, UpdateTeamDto } from './teams.dto.js';
import { MemberEnvelope, TeamEnvelope, TeamListReply, presentTeam, presentTeamWithMembers } from './teams.presenter.js';
import { TeamsQuery } from './teams.query.js';

const DEFAULT_LIMIT = 500;

@ApiTags('Teams')
@Controller('api/v1/teams')
export class TeamsController {
  constructor(
    private readonly changes: ChangeTeamService,
    private readonly members: ChangeMembersService,
    private readonly teams: TeamsQuery,
  ) {}

  @Get()
  @ApiOperation({ summary: 'List teams', description: 'Newest first.' })
  @Access('teams.read')
  @Replies(200, TeamListReply)
  async list(@QueryParams(TeamListQuery) query: TeamListQuery, @Caller() caller: VerifiedCaller): Promise<TeamListReply> {
    const { rows, total, nextCursor } = await this.teams.list(caller.scope, query, pageRequest(query, DEFAULT_LIMIT));
    return { teams: rows.map(presentTeam), total, ...(nextCursor ? { nextCursor } : {}) };
  }

  @Post()
  @ApiOperation({ summary: 'Make a team', description: 'Without members at first.' })
  @Access('teams.write')
  @Idempotent('teams.create')
  @Replies(201, TeamEnvelope, 'TIER_REQUIRED', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  create(@JsonBody(NewTeamDto) body: NewTeamDto, @Caller() caller: VerifiedCaller) {
    return this.changes.create(body, caller);
  }

  @Get(':id')
  @ApiOperation({ summary: 'One team', description: 'With its members.' })
  @Access('teams.read')
  @Replies(200, TeamEnvelope)
  async get(@PathParam('id', 'team') id: string, @Caller() caller: VerifiedCaller): Promise<TeamEnvelope> {
    const team = await this.teams.find(caller.scope, id);
    if (!team) throw new Problem('NOT_FOUND', 'There is no such team.');
    return { team: presentTeamWithMembers(team) };
  }

  @Patch(':id')
  @ApiOperation({ summary: 'Change a team', description: 'Members left out stay; `description: null` clears it.' })
  @Access('teams.write')
  @Replies(200, TeamEnvelope)
  update(@PathParam('id', 'team') id: string, @JsonBody(UpdateTeamDto) body: UpdateTeamDto, @Caller() caller: VerifiedCaller) {
    return this.changes.update(id, body, caller);
  }

  @Post(':id/members')
  @ApiOperation({
    summary: 'Put a person into a team',
    description: 'Again: 200, with the role of this call. From this answer on it counts for every decision.',
  })
  @Access('teams.write')
  @Idempotent('teams.add-member')
  @Replies(201, MemberEnvelope, 'TIER_REQUIRED', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  @Replies(200, MemberEnvelope)
  addMember(@PathParam('id', 'team') id: string, @JsonBody(NewMemberDto) body: NewMemberDto, @Caller() caller: VerifiedCaller) {
    return this.members.addMember(id, body, caller);
  }

  @Delete(':id/members/:userId')
  @ApiOperation({ summary: 'Take a person out of a team', description: 'From this answer on they decide nothing as its member.' })
  @Access('teams.write')
  @Replies(204, null)
  removeMember(
    @PathParam('id', 'team') id: string,
    @PathParam('userId', 'usr') userId: string,
    @Caller() caller: VerifiedCaller,
  ) {
    return this.members.removeMember(id, userId, caller);
  }
}

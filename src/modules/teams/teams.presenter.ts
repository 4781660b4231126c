import { ApiProperty } from '@nestjs/swagger';
import { TEAM_ROLES } from './member.store.js';
import type { MemberRow, TeamRow, TeamWithMembers } from './teams.query.js';

export class TeamReply {
  @ApiProperty({ example: 'team_…' }) id!: string;
  @ApiProperty({ example: 'org_…' }) organizationId!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ required: false }) description?: string;
  @ApiProperty({ type: 'integer', description: 'Open accounts only.' }) memberCount!: number;
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
  @ApiProperty({ format: 'date-time', description: 'When name or description were last set.' }) updatedAt!: string;
}

export class MemberReply {
  @ApiProperty({ example: 'usr_…' }) userId!: string;
  @ApiProperty({ enum: TEAM_ROLES }) role!: string;
  @ApiProperty({ format: 'date-time', description: 'When the person joined.' }) since!: string;
}

export class TeamMemberReply extends MemberReply {
  @ApiProperty({ required: false }) name?: string;
  @ApiProperty({ required: false }) email?: string;
}

export class TeamWithMembersReply extends TeamReply {
  @ApiProperty({ type: TeamMemberReply, isArray: true, description: 'In the order in which they joined.' })
  members!: TeamMemberReply[];
}

export class TeamEnvelope {
  @ApiProperty({ type: TeamWithMembersReply }) team!: TeamWithMembersReply;
}

export class MemberEnvelope {
  @ApiProperty({ type: MemberReply }) member!: MemberReply;
}

export class TeamListReply {
  @ApiProperty({ type: TeamReply, isArray: true }) teams!: TeamReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

export function presentTeam(team: TeamRow): TeamReply {
  return {
    id: team.id,
    organizationId: team.organizationId,
    name: team.name,
    ...(team.description === null ? {} : { description: team.description }),
    memberCount: team.memberCount,
    createdAt: team.createdAt.toISOString(),
    updatedAt: team.updatedAt.toISOString(),
  };
}

export function presentTeamWithMembers(team: TeamWithMembers): TeamWithMembersReply {
  const members = team.members.map(presentMember);
  return { ...presentTeam({ ...team, memberCount: members.length }), members };
}

function presentMember({ userId, name, email, role, since }: MemberRow): TeamMemberReply {
  return {
    userId,
    ...(name === null ? {} : { name }),
    ...(email === null ? {} : { email }),
    role,
    since: new Date(since).toISOString(),
  };
}

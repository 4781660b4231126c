import { ApiProperty } from '@nestjs/swagger';
import { TaskEnvelope } from '../tasks/tasks.presenter.js';
import type { RoutingDecision } from './routing-decision.store.js';

const REJECTIONS = [
  'out_of_service', 'stopped', 'not_granted', 'blocked', 'other_team', 'no_tag', 'excluded', 'in_chain', 'no_fresh_node',
] as const;
const factor = (description: string) => ApiProperty({ type: 'number', minimum: 0, maximum: 1, description });

export class FactorsReply {
  @factor('1 for a node that is seen now, half after a minute; 0 without a node. Counts 0.3.') freshness!: number;
  @factor('1 without open tasks and requests, half with one. Counts 0.25.') load!: number;
  @factor('Share of its last executions that were executed, as gathered within the last minute; half where there are none. Counts 0.25.')
  success!: number;
  @factor('Share of the wanted tags that it has. Counts 0.1.') tags!: number;
  @factor('1 at risk minimal, 0.7 limited, 0.3 high, 0 unacceptable. Counts 0.1.') risk!: number;
}

export class RoutingCandidateReply {
  @ApiProperty({ example: 'agt_…' }) agentId!: string;
  @ApiProperty({ type: 'number', required: false, description: 'Sum of the weighted factors, 1 at most. Absent for the rejected.' })
  score?: number;
  @ApiProperty({ type: FactorsReply, required: false, description: 'What the score is made of.' }) factors?: FactorsReply;
  @ApiProperty({ required: false, enum: REJECTIONS, description: 'Why it is not eligible.' }) rejectedBecause?: string;
}

export class RoutingDecisionReply {
  @ApiProperty({ example: 'rte_…' }) id!: string;
  @ApiProperty({ example: 'org_…' }) organizationId!: string;
  @ApiProperty({ type: String, isArray: true, description: 'What the agent had to be able to do.' }) capabilities!: string[];
  @ApiProperty({ required: false }) description?: string;
  @ApiProperty({ type: String, isArray: true, required: false, description: 'The tags that were wanted.' }) tags?: string[];
  @ApiProperty({ required: false, example: 'team_…' }) teamId?: string;
  @ApiProperty({ type: String, isArray: true, required: false, description: 'Who was not to be found.' }) exclude?: string[];
  @ApiProperty({ required: false, example: 'agt_…', description: 'Absent where nobody was eligible.' }) agentId?: string;
  @ApiProperty({ required: false }) agentName?: string;
  @ApiProperty({ type: 'number', required: false }) score?: number;
  @ApiProperty({
    type: RoutingCandidateReply, isArray: true,
    description: 'The 20 best, best first, then 20 of the rejected. An agent is shown the one that was found alone.',
  })
  candidates!: RoutingCandidateReply[];
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
}

export class RoutingDecisionEnvelope {
  @ApiProperty({ type: RoutingDecisionReply }) decision!: RoutingDecisionReply;
}

export class DelegationReply extends TaskEnvelope {
  @ApiProperty({ type: RoutingDecisionReply, required: false, description: 'Where the agent was looked for.' })
  decision?: RoutingDecisionReply;
}

export class RoutingLogReply {
  @ApiProperty({ type: RoutingDecisionReply, isArray: true, description: 'Newest first.' }) decisions!: RoutingDecisionReply[];
  @ApiProperty({ type: 'integer', description: 'Of the log, which holds the last 200.' }) total!: number;
}

export function presentDecision(row: RoutingDecision): RoutingDecisionReply {
  return {
    id: row.id,
    organizationId: row.organizationId,
    capabilities: row.capabilities,
    ...(row.description === null ? {} : { description: row.description }),
    ...(row.tags.length === 0 ? {} : { tags: row.tags }),
    ...(row.teamId === null ? {} : { teamId: row.teamId }),
    ...(row.exclude.length === 0 ? {} : { exclude: row.exclude }),
    ...(row.agentId === null ? {} : { agentId: row.agentId }),
    ...(row.agentName === null ? {} : { agentName: row.agentName }),
    ...(row.score === null ? {} : { score: row.score }),
    candidates: row.candidates.map((one) => ({ ...one })),
    createdAt: row.createdAt.toISOString(),
  };
}

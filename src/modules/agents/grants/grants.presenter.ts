import { ApiProperty } from '@nestjs/swagger';
import type { HitlMode } from '../../../domain/gate/vocabulary.js';
import type { Quorum } from '../../../domain/hitl/quorum.js';
import type { Reminder } from '../../../domain/hitl/reminders.js';
import { DEFAULT_WINDOW_SECONDS } from '../../../domain/hitl/window.js';
import type { GrantEntity } from '../../capabilities/grant.entity.js';
import { GRANT_WORD, HITL_MODE, TIMEOUT_ACTION } from '../../capabilities/document/mode-words.js';
import { WarningReply } from './grant-warnings.js';
import { ConditionDto, LimitDto, QuorumDto, ReminderDto } from './grants.dto.js';

const EFFECTIVE =
  'What it means for this agent now, conditions and limits aside; for a team, what it means for an agent whose risk is below high.';

/** How a limit stands now. */
export class LimitStateReply extends LimitDto {
  @ApiProperty({ description: 'What is used of it: begun, or waiting for a decision.' }) used!: number;
  @ApiProperty() left!: number;
  @ApiProperty({ type: 'integer', required: false, description: 'Seconds until there is room again, where time makes it.' })
  retryAfter?: number;
}

/** Spelled exactly as the interface's grant table: both conventions in one object. */
export class GrantReply {
  @ApiProperty({ example: 'grt_…' }) id!: string;
  @ApiProperty({ example: 'agt_…', required: false, description: 'Absent in a grant of a team.' }) agentId?: string;
  @ApiProperty({ example: 'team_…', required: false, description: 'The team whose agents all hold it.' }) teamId?: string;
  @ApiProperty({ example: 'email.send' }) capability!: string;
  @ApiProperty({ ...GRANT_WORD.member, description: 'The word as it was given.' }) hitlMode!: string;
  @ApiProperty({ ...HITL_MODE.member, description: EFFECTIVE }) effectiveMode!: HitlMode;
  @ApiProperty({ format: 'date-time' }) grantedAt!: string;
  @ApiProperty({ description: 'The actor.', example: 'root' }) grantedBy!: string;
  @ApiProperty({ type: 'integer', description: 'Seconds.' }) hitl_timeout_seconds!: number;
  @ApiProperty(TIMEOUT_ACTION.member) hitl_timeout_action!: string;
  @ApiProperty({ type: 'integer', description: 'Rises with each change.' }) version!: number;
  @ApiProperty({ format: 'date-time', required: false }) expiresAt?: string;
  @ApiProperty({ type: () => ConditionDto, isArray: true, required: false }) conditions?: ConditionDto[];
  @ApiProperty({ type: () => LimitDto, isArray: true, required: false }) limits?: LimitDto[];
  @ApiProperty({ type: LimitStateReply, isArray: true, required: false, description: 'In lists: how each limit stands now.' })
  usage?: LimitStateReply[];
  @ApiProperty({ type: () => QuorumDto, required: false }) quorum?: Quorum;
  @ApiProperty({ type: () => ReminderDto, isArray: true, required: false }) reminders?: readonly Reminder[];
}

export class GrantEnvelope {
  @ApiProperty({ type: GrantReply }) grant!: GrantReply;
}

export class WrittenGrantReply extends GrantEnvelope {
  @ApiProperty({ type: String, isArray: true, required: false, description: 'Of a grant that was there: the members that differ now.' })
  changed?: string[];
  @ApiProperty({ type: WarningReply, isArray: true, required: false, description: 'What may not be what was meant.' })
  warnings?: WarningReply[];
}

export class GrantListReply {
  @ApiProperty({ type: GrantReply, isArray: true }) grants!: GrantReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

/** For whom the mode of a team's grant is shown where no agent is asked about: the risk level of an agent of which none is said. */
export const WITHOUT_AGENT = { riskLevel: 'limited' } as const;

export function presentGrant(grant: GrantEntity, effectiveMode: HitlMode): GrantReply {
  return {
    id: grant.id,
    ...(grant.agentId === null ? {} : { agentId: grant.agentId }),
    ...(grant.teamId === null ? {} : { teamId: grant.teamId }),
    capability: grant.capability,
    hitlMode: grant.hitlMode,
    effectiveMode,
    grantedAt: grant.grantedAt.toISOString(),
    grantedBy: grant.grantedBy,
    hitl_timeout_seconds: grant.timeoutSeconds ?? DEFAULT_WINDOW_SECONDS,
    hitl_timeout_action: grant.timeoutAction,
    version: grant.version,
    ...(grant.expiresAt ? { expiresAt: grant.expiresAt.toISOString() } : {}),
    ...(grant.conditions.length > 0 ? { conditions: grant.conditions } : {}),
    ...(grant.limits.length > 0 ? { limits: grant.limits } : {}),
    ...(grant.quorum ? { quorum: grant.quorum } : {}),
    ...(grant.reminders.length > 0 ? { reminders: grant.reminders } : {}),
  };
}

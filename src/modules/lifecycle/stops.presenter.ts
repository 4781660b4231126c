import { ApiProperty } from '@nestjs/swagger';
import { STOP_SCOPES } from '../../domain/access/stops.js';
import type { Stop } from '../organizations/stops/stop.store.js';

export class StopReply {
  @ApiProperty({ example: 'stp_…' }) id!: string;
  @ApiProperty({ enum: STOP_SCOPES }) scope!: string;
  @ApiProperty({ required: false, description: 'The agent or the organization that is stopped.' }) targetId?: string;
  @ApiProperty({ required: false, example: 'org_…', description: 'Not there for `all`.' }) organizationId?: string;
  @ApiProperty() reason!: string;
  @ApiProperty({ description: 'A user\'s id, or `root`.' }) madeBy!: string;
  @ApiProperty({ format: 'date-time' }) madeAt!: string;
  @ApiProperty({ required: false }) liftedBy?: string;
  @ApiProperty({ format: 'date-time', required: false, description: 'Not there while it is in force.' }) liftedAt?: string;
}

export class StopEnvelope {
  @ApiProperty({ type: StopReply }) stop!: StopReply;
}

export class StopListReply {
  @ApiProperty({ type: StopReply, isArray: true }) stops!: StopReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

/** The id of the agent or organization that is stopped; a stop of everything has none. */
export function targetOf({ scope, organizationId, agentId }: Pick<Stop, 'scope' | 'organizationId' | 'agentId'>): string | undefined {
  return scope === 'all' ? undefined : (agentId ?? organizationId);
}

export function presentStop(stop: Stop): StopReply {
  const targetId = targetOf(stop);
  return {
    id: stop.id,
    scope: stop.scope,
    ...(targetId === undefined ? {} : { targetId, organizationId: stop.organizationId }),
    reason: stop.reason,
    madeBy: stop.madeBy,
    madeAt: stop.madeAt.toISOString(),
    ...(stop.liftedAt === null ? {} : { liftedBy: stop.liftedBy!, liftedAt: stop.liftedAt.toISOString() }),
  };
}

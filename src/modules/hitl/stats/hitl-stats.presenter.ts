import { ApiProperty } from '@nestjs/swagger';
import { HITL_STATUSES } from '../../../domain/hitl/transition.js';
import type { DecidedByPeople, HitlStats } from './hitl-stats.query.js';

const COUNT = { type: 'integer' } as const;
const RATE = {
  type: 'number', nullable: true, minimum: 0, maximum: 1, description: 'Approved ÷ (approved + rejected), by people; null where none.',
} as const;
const SECONDS = { type: 'number', nullable: true, description: 'Of what people decided.' } as const;

class DecidedReply {
  @ApiProperty(COUNT) approved!: number;
  @ApiProperty(COUNT) rejected!: number;
  @ApiProperty(RATE) approvalRate!: number | null;
  @ApiProperty(SECONDS) averageDecisionSeconds!: number | null;
  @ApiProperty(SECONDS) p50DecisionSeconds!: number | null;
  @ApiProperty(SECONDS) p95DecisionSeconds!: number | null;
}

export class CapabilityStatsReply extends DecidedReply {
  @ApiProperty() capability!: string;
  @ApiProperty(COUNT) total!: number;
}

export class ReviewerStatsReply extends DecidedReply {
  @ApiProperty({ description: 'A user, or `root`.' }) reviewerId!: string;
}

export class HitlStatsReply extends DecidedReply {
  @ApiProperty(COUNT) total!: number;
  @ApiProperty({ type: 'object', additionalProperties: COUNT, description: 'Every status, also those of no request.' })
  byStatus!: Record<string, number>;
  @ApiProperty({ type: CapabilityStatsReply, isArray: true, description: 'The 100 most asked for.' })
  byCapability!: CapabilityStatsReply[];
  @ApiProperty({ type: ReviewerStatsReply, isArray: true, description: 'The 100 who decided most.' })
  byReviewer!: ReviewerStatsReply[];
}

export function presentStats({ byStatus, all, byCapability, byReviewer }: HitlStats): HitlStatsReply {
  const counts = new Map(byStatus.map(({ status, count }) => [status, count]));
  return {
    total: byStatus.reduce((sum, { count }) => sum + count, 0),
    byStatus: Object.fromEntries(HITL_STATUSES.map((status) => [status, counts.get(status) ?? 0])),
    ...decided(all),
    byCapability: byCapability.map((row) => ({ capability: row.capability, total: row.total, ...decided(row) })),
    byReviewer: byReviewer.map((row) => ({ reviewerId: row.reviewerId, ...decided(row) })),
  };
}

function decided({ approved, rejected, averageSeconds, p50Seconds, p95Seconds }: DecidedByPeople): DecidedReply {
  const people = approved + rejected;
  return {
    approved,
    rejected,
    approvalRate: people === 0 ? null : approved / people,
    averageDecisionSeconds: toMilliseconds(averageSeconds),
    p50DecisionSeconds: toMilliseconds(p50Seconds),
    p95DecisionSeconds: toMilliseconds(p95Seconds),
  };
}

/** Figures are no finer than the measurement. */
function toMilliseconds(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 1_000) / 1_000;
}

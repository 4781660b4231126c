import type { JsonValue } from '../../domain/json.js';
import { FreeValue, Integer, OneOf, Text, Timestamp } from '../../platform/http/fields/fields.js';
import { PageQuery } from '../../platform/http/fields/pagination.js';
import { EXECUTION_STATUSES } from './execution.entity.js';

export class ExecutionListQuery extends PageQuery {
  @Text({ max: 100, optional: true, doc: 'Only of this organization, for whoever sees several.' })
  organizationId?: string;

  @Text({ max: 100, optional: true, doc: 'Only this agent\'s.' })
  agentId?: string;

  @Text({ max: 200, optional: true, doc: 'Only of this capability.' })
  capability?: string;

  @OneOf(EXECUTION_STATUSES, { optional: true, doc: 'Only of this status.' })
  status?: string;

  @Timestamp({ optional: true, date: 'start', doc: 'Asked for at or after this moment.' })
  from?: Date;

  @Timestamp({ optional: true, date: 'end', doc: 'Asked for at or before this moment.' })
  to?: Date;
}

export class WaitQuery {
  @Integer({ min: 0, max: 55, optional: true, doc: 'Seconds to hold the answer until the thing is final.' })
  wait?: number;
}

/** What came of work, as whoever did it or looked into it says. */
export const OUTCOMES = ['success', 'failure'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export class ReportDto {
  @OneOf(OUTCOMES, { doc: 'What came of it.' })
  outcome!: Outcome;

  @FreeValue({ optional: true, doc: 'What the work gave: any JSON value.' })
  output?: JsonValue;

  @FreeValue({ optional: true, doc: 'What went wrong: any JSON value.' })
  error?: JsonValue;

  @Integer({ min: 0, max: 86_400_000, optional: true, doc: 'Milliseconds.' })
  durationMs?: number;
}

export class SettleDto {
  @OneOf(OUTCOMES, { doc: 'What became of it.' })
  outcome!: Outcome;

  @Text({ min: 1, max: 2_000, doc: 'How that was found out.' })
  note!: string;
}

import { ApiProperty } from '@nestjs/swagger';
import type { EscalationLevel } from '../../../domain/hitl/transition.js';

const COUNT = 'Active people who may approve it now, root and break-glass aside. 0: until somebody gets the right, only these can.';
const LEVEL = 'The level at which it stands, as `escalationLevel`.';
const ADMINS_ONLY = 'All of them are admins and owners: nobody nearer to the agent can answer.';

/** Who can answer an open request. */
export interface DecidableBy {
  readonly count: number;
  readonly level: EscalationLevel;
  readonly adminsOnly?: true;
}

export class DecidableByReply {
  @ApiProperty({ type: 'integer', description: COUNT }) count!: number;
  @ApiProperty({ type: 'integer', description: LEVEL }) level!: number;
  @ApiProperty({ required: false, description: ADMINS_ONLY }) adminsOnly?: boolean;
}

export class DecidableBySnakeReply {
  @ApiProperty({ type: 'integer', description: COUNT }) count!: number;
  @ApiProperty({ type: 'integer', description: LEVEL }) level!: number;
  @ApiProperty({ required: false, description: ADMINS_ONLY }) admins_only?: boolean;
}

/** As an additional member of the form of a request; nothing where the request is not open, or nobody asked. */
export function inSnakeForm(found: DecidableBy | undefined): { decidable_by?: DecidableBySnakeReply } {
  if (found === undefined) return {};
  const { adminsOnly, ...same } = found;
  return { decidable_by: { ...same, ...(adminsOnly ? { admins_only: adminsOnly } : {}) } };
}

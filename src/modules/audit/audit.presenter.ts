import { ApiProperty } from '@nestjs/swagger';
import { FINDING_KINDS } from '../../domain/audit/integrity/findings.js';
import { readEntry } from '../../domain/audit/entry/read-entry.js';
import type { StoredEntry } from '../../domain/audit/entry/stored-entry.js';
import { given } from '../../domain/given.js';
import type { JsonObject } from '../../domain/json.js';
import { NOT_COMPARED } from './anchors/ask-anchors.js';
import type { Verification } from './verification/verification-result.js';

const FREE = { type: Object, additionalProperties: true } as const;

export class AuditEntryReply {
  @ApiProperty({ example: 'audit_…' }) id!: string;
  @ApiProperty({ example: 'execution.completed' }) event!: string;
  @ApiProperty({ required: false, example: 'agt_…' }) agentId?: string;
  @ApiProperty({ description: 'User id, agent id, root, internal, system or anonymous.' }) actorId!: string;
  @ApiProperty({ example: 'org_…' }) organizationId!: string;
  @ApiProperty({ required: false, example: 'email.send' }) capability?: string;
  @ApiProperty({ required: false, enum: ['success', 'failure', 'blocked', 'executed'] }) outcome?: string;
  @ApiProperty({ ...FREE, description: 'Its members are those of the event (docs/events.md). What an erasure took reads `[erased]`.' })
  metadata!: JsonObject;
  @ApiProperty({ ...FREE, required: false, description: 'Through which door it came: `via`, `requestId`, `traceId`, `address`.' })
  origin?: JsonObject;
  @ApiProperty({ description: 'The chain it stands in: an agent id, or sys_ and an organization id.' }) chain!: string;
  @ApiProperty({ type: 'integer', description: 'Its position in the chain, from 1.' }) seq!: number;
  @ApiProperty({ description: 'SHA-256, hex.' }) hash!: string;
  @ApiProperty({ required: false, description: 'Hash of the entry before it.' }) prevHash?: string;
  @ApiProperty({ format: 'date-time' }) timestamp!: string;
}

export class AuditListReply {
  @ApiProperty({ type: AuditEntryReply, isArray: true }) entries!: AuditEntryReply[];
  @ApiProperty({ type: 'integer', description: 'Exact up to 10,000, a floor above.' }) total!: number;
  @ApiProperty({ required: false, description: 'Stands, as false, where `total` is a floor.' }) totalIsExact?: boolean;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

export class BreakReply {
  @ApiProperty() chain!: string;
  @ApiProperty({ type: 'integer' }) position!: number;
  @ApiProperty({ type: String, nullable: true, description: 'Null where the entry is gone.' }) entryId!: string | null;
  @ApiProperty({ enum: FINDING_KINDS }) kind!: string;
  @ApiProperty({ description: 'What is wrong, for people.' }) detail!: string;
}

export class CompletenessReply {
  @ApiProperty({ type: 'integer', description: 'Executions, requests, grants, erasures, reports and settlements that entries tell of.' })
  checked!: number;

  @ApiProperty({ type: 'integer', required: false, description: 'Rows whose entries a sweep has archived.' }) swept?: number;
  @ApiProperty({ type: 'integer' }) breaks!: number;
}

export class ReplayReply {
  @ApiProperty({ type: 'integer' }) right!: number;
  @ApiProperty({ type: 'integer' }) wrong!: number;
  @ApiProperty({
    type: Object, additionalProperties: { type: 'integer' }, example: { erased: 2 },
    description: 'Of which not enough is left to decide them again: `erased`, `swept`, or `limits`, whose counts the log does not keep.',
  })
  notReplayable!: Readonly<Record<string, number>>;
}

class AnchoredReply {
  @ApiProperty({ example: 'file:…' }) name!: string;
  @ApiProperty({ type: 'integer', description: 'Of the newest checkpoint that it has.' }) size!: number;
}

class NotComparedReply {
  @ApiProperty({ example: 'witness:https://…' }) name!: string;
  @ApiProperty({
    enum: NOT_COMPARED,
    description: '`no_answer`: could not be asked; `nothing_kept`: has nothing of this log; `shown_nothing`: answers only to a ' +
      'checkpoint that it is shown, and there is none yet; `other_history`: told a size that is none of this log.',
  })
  because!: string;
}

export class VerifiedCheckpointReply {
  @ApiProperty({ example: '…/platform' }) origin!: string;
  @ApiProperty({ type: 'integer' }) size!: number;
  @ApiProperty({ description: 'Base64.' }) root!: string;
  @ApiProperty({ format: 'date-time' }) madeAt!: string;
  @ApiProperty({ description: 'C2SP signed note.' }) note!: string;
  @ApiProperty({ type: AnchoredReply, isArray: true, description: 'Whom it was compared with, outside of the database.' })
  anchors!: readonly AnchoredReply[];
}

export class VerificationReply {
  @ApiProperty({ description: 'False only when something was tampered with.' }) valid!: boolean;
  @ApiProperty({ enum: ['valid', 'valid_unanchored', 'tampered'] }) verdict!: string;
  @ApiProperty({ type: 'integer' }) chains!: number;
  @ApiProperty({ type: 'integer' }) entries!: number;
  @ApiProperty({ type: 'integer', description: 'Entries that no checkpoint covers yet.' }) uncovered!: number;
  @ApiProperty({ type: VerifiedCheckpointReply, nullable: true, description: 'The newest checkpoint that the log was compared with.' })
  checkpoint!: VerifiedCheckpointReply | null;

  @ApiProperty({ type: NotComparedReply, isArray: true, description: 'Anchors that say nothing of this log, and why.' })
  anchorsNotCompared!: readonly NotComparedReply[];

  @ApiProperty({ type: BreakReply, isArray: true, description: 'The first 1,000.' }) breaks!: readonly BreakReply[];
  @ApiProperty({ type: 'integer', required: false, description: 'How many there are, where not all are listed.' })
  breaksFound?: number;

  @ApiProperty({
    type: CompletenessReply, description: 'Whether executions, requests, grants and erasures agree with their entries, both ways.',
  })
  completeness!: CompletenessReply;

  @ApiProperty({ type: ReplayReply, description: 'What the gate decided, decided anew from entries alone.' })
  replay!: ReplayReply;

  @ApiProperty({ type: 'integer' }) durationMs!: number;
}

export function presentEntry(entry: StoredEntry): AuditEntryReply {
  const { id, event, agentId, actorId, organizationId, capability, outcome, chain, seq, hash, prevHash, timestamp } = entry;
  const { metadata, origin } = readEntry(entry);
  return given({
    id, event, agentId, actorId, organizationId, capability, outcome, metadata, origin, chain, seq, hash, prevHash, timestamp,
  });
}

export function presentVerification(
  { breaksFound, members, notes: _notes, ...rest }: Verification,
): VerificationReply {
  return {
    ...rest,
    ...(breaksFound > rest.breaks.length ? { breaksFound } : {}),
    ...(members as unknown as Pick<VerificationReply, 'completeness' | 'replay'>),
  };
}

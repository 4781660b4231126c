import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Reason } from '../../../domain/gate/decide.js';
import type { SeparationOfDuties } from '../../../domain/hitl/duties.js';
import type { TimeoutAction } from '../../../domain/gate/vocabulary.js';
import type { Quorum } from '../../../domain/hitl/quorum.js';
import type { Reminder } from '../../../domain/hitl/reminders.js';
import type { EscalationLevel, HitlStatus } from '../../../domain/hitl/transition.js';
import type { JsonValue } from '../../../domain/json.js';

@Entity('hitl_requests')
export class HitlRequestEntity {
  @PrimaryColumn('text', { name: 'organization_id' })
  organizationId!: string;

  @PrimaryColumn('text')
  id!: string;

  @Column('text', { name: 'agent_id' })
  agentId!: string;

  @Column('text', { name: 'agent_name' })
  agentName!: string;

  @Column('text')
  capability!: string;

  @Column('text', { nullable: true })
  action!: string | null;

  @Column('text', { name: 'hitl_mode' })
  hitlMode!: 'propose' | 'escalate';

  @Column('text')
  status!: HitlStatus;

  /** `caller`: the adapter that asked holds the action itself; an approval is its licence. */
  @Column('text')
  runs!: 'service' | 'caller';

  /** Canonical text: what is approved is exactly these bytes. */
  @Column('text')
  input!: string;

  @Column('text', { nullable: true })
  context!: string | null;

  /** 16 random bytes, base64url. */
  @Column('text')
  nonce!: string;

  @Column('text')
  definition!: string;

  @Column('text')
  digest!: string;

  @Column('integer')
  version!: number;

  @Column('boolean')
  flagged!: boolean;

  @Column('json')
  reasons!: Reason[];

  @Column('text', { name: 'grant_id' })
  grantId!: string;

  @Column('text', { name: 'execution_id' })
  executionId!: string;

  @Column('text', { name: 'created_by' })
  createdBy!: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  @Column('integer', { name: 'timeout_seconds' })
  timeoutSeconds!: number;

  @Column('text', { name: 'timeout_action' })
  timeoutAction!: TimeoutAction;

  @Column('integer', { name: 'escalation_level' })
  escalationLevel!: EscalationLevel;

  /** The organization's setting when the request was made; the stricter of that and the present one counts. */
  @Column('text', { name: 'separation_of_duties' })
  separationOfDuties!: SeparationOfDuties;

  /** Users (ids, or e-mail addresses as an agent claimed them) who are behind the action. */
  @Column('text', { array: true })
  initiators!: string[];

  @Column('text', { name: 'agent_owner_id', nullable: true })
  agentOwnerId!: string | null;

  @Column('text', { name: 'agent_registered_by', nullable: true })
  agentRegisteredBy!: string | null;

  /** Who vouched for the token of the call. */
  @Column('text', { name: 'vouched_by', nullable: true })
  vouchedBy!: string | null;

  /** The agent's team when it was asked. */
  @Column('text', { name: 'team_id', nullable: true })
  teamId!: string | null;

  /** An owner decided although separation of duties or a quorum barred it. */
  @Column('boolean', { name: 'break_glass' })
  breakGlass!: boolean;

  /** The highest level at which the approver could decide; null where no person approved. */
  @Column('integer', { name: 'decider_level', nullable: true })
  deciderLevel!: EscalationLevel | null;

  /** Up to when the deadline was credited with the time of stops; null where none was. */
  @Column('timestamptz', { name: 'clock_credited_to', nullable: true })
  clockCreditedTo!: Date | null;

  /** The grant's quorum when the request was made; the stricter of that and the present one counts. Null: one approval is enough. */
  @Column('json', { nullable: true })
  quorum!: Quorum | null;

  @Column('json')
  reminders!: Reminder[];

  /** When the next reminder is due; null where none is left. */
  @Column('timestamptz', { name: 'remind_at', nullable: true })
  remindAt!: Date | null;

  /** The `secondsBefore` of the last reminder given in this window. */
  @Column('integer', { name: 'reminded_seconds', nullable: true })
  remindedSeconds!: number | null;

  /** The input as it was asked, where it was edited since: `input` is what would run. */
  @Column('text', { name: 'requested_input', nullable: true })
  requestedInput!: string | null;

  @Column('text', { name: 'edited_by', nullable: true })
  editedBy!: string | null;

  @Column('timestamptz', { name: 'edited_at', nullable: true })
  editedAt!: Date | null;

  /** RFC 6902, from the input as it was asked to what would run. */
  @Column('json', { name: 'edit_diff', nullable: true })
  editDiff!: JsonValue | null;

  @Column('text', { name: 'escalated_to', nullable: true })
  escalatedTo!: string | null;

  @Column('timestamptz', { name: 'escalated_at', nullable: true })
  escalatedAt!: Date | null;

  @Column('text', { name: 'escalation_reason', nullable: true })
  escalationReason!: string | null;

  @Column('text', { name: 'decision_outcome', nullable: true })
  decisionOutcome!: 'approved' | 'rejected' | 'cancelled' | null;

  @Column('text', { name: 'decision_by', nullable: true })
  decisionBy!: 'human' | 'timeout' | 'system' | null;

  @Column('text', { name: 'decided_by', nullable: true })
  decidedBy!: string | null;

  @Column('timestamptz', { name: 'decided_at', nullable: true })
  decidedAt!: Date | null;

  @Column('text', { nullable: true })
  note!: string | null;

  @Column('text', { name: 'decision_entry_id', nullable: true })
  decisionEntryId!: string | null;

  /** The task that the action does. */
  @Column('text', { name: 'task_id', nullable: true })
  taskId!: string | null;

  /** The agents before this one in the task's chain, the first first. */
  @Column('text', { name: 'task_chain', array: true, nullable: true })
  taskChain!: string[] | null;

  /** Who owned the first agent of the chain when the request was made. */
  @Column('text', { name: 'task_owner_id', nullable: true })
  taskOwnerId!: string | null;
}

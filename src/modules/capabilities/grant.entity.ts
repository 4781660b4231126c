import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Condition } from '../../domain/gate/conditions.js';
import type { Limit } from '../../domain/gate/limits.js';
import type { Quorum } from '../../domain/hitl/quorum.js';
import type { Reminder } from '../../domain/hitl/reminders.js';
import type { GrantWord, TimeoutAction } from '../../domain/gate/vocabulary.js';

@Entity('capability_grants')
export class GrantEntity {
  @PrimaryColumn('text', { name: 'organization_id' })
  organizationId!: string;

  @PrimaryColumn('text')
  id!: string;

  /** The agent that holds it, or null for a team's. */
  @Column('text', { name: 'agent_id', nullable: true })
  agentId!: string | null;

  /** The team whose agents all hold it, or null for an agent's own. */
  @Column('text', { name: 'team_id', nullable: true })
  teamId!: string | null;

  @Column('text')
  capability!: string;

  /** The word as it was given, three-word vocabulary included. */
  @Column('text', { name: 'hitl_mode' })
  hitlMode!: GrantWord;

  /** Null: the default window. */
  @Column('integer', { name: 'timeout_seconds', nullable: true })
  timeoutSeconds!: number | null;

  @Column('text', { name: 'timeout_action' })
  timeoutAction!: TimeoutAction;

  @Column('json')
  conditions!: Condition[];

  @Column('json')
  limits!: Limit[];

  @Column('json', { nullable: true })
  quorum!: Quorum | null;

  @Column('json')
  reminders!: Reminder[];

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  @Column('integer')
  version!: number;

  @Column('timestamptz', { name: 'granted_at' })
  grantedAt!: Date;

  @Column('text', { name: 'granted_by' })
  grantedBy!: string;

  @Column('timestamptz', { name: 'revoked_at', nullable: true })
  revokedAt!: Date | null;

  @Column('text', { name: 'revoked_by', nullable: true })
  revokedBy!: string | null;
}

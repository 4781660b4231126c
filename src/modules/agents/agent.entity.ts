import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RiskLevel } from '../../domain/gate/vocabulary.js';
import type { JsonObject } from '../../domain/json.js';
import { bigintNumber } from '../../platform/database/statements/columns.js';

export type AgentStatus = 'active' | 'deactivated' | 'removed';

@Entity('agents')
export class AgentEntity {
  @PrimaryColumn('text', { name: 'organization_id' })
  organizationId!: string;

  @PrimaryColumn('text')
  id!: string;

  @Column('text')
  name!: string;

  @Column('text', { nullable: true })
  description!: string | null;

  @Column('text', { name: 'risk_level' })
  riskLevel!: RiskLevel;

  @Column('text')
  status!: AgentStatus;

  @Column('text', { array: true })
  tags!: string[];

  @Column('json')
  metadata!: JsonObject;

  /** Tokens of another epoch are dead. Starts at 0 and only rises. */
  @Column('bigint', { transformer: bigintNumber })
  epoch!: number;

  @Column('text', { name: 'owner_id', nullable: true })
  ownerId!: string | null;

  @Column('text', { name: 'team_id', nullable: true })
  teamId!: string | null;

  @Column('text', { name: 'registered_by' })
  registeredBy!: string;

  @Column('timestamptz', { name: 'node_last_seen', nullable: true })
  nodeLastSeen!: Date | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;
}

import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Connector } from '../../domain/gate/connector.js';
import type { HitlMode } from '../../domain/gate/vocabulary.js';
import type { JsonObject } from '../../domain/json.js';

/** What an organization says of a capability: one of its own, or what it changed of one of the catalogue's. */
@Entity('capability_definitions')
export class CapabilityDefinitionEntity {
  @PrimaryColumn('text', { name: 'organization_id' })
  organizationId!: string;

  @PrimaryColumn('text')
  name!: string;

  /** False for what is laid over one of the catalogue's. */
  @Column('boolean')
  custom!: boolean;

  @Column('text')
  category!: string;

  @Column('text')
  description!: string;

  @Column('text', { name: 'default_hitl_mode' })
  defaultHitlMode!: HitlMode;

  @Column('integer', { name: 'risk_score' })
  riskScore!: number;

  @Column('json', { name: 'input_schema', nullable: true })
  inputSchema!: JsonObject | null;

  @Column('json', { nullable: true })
  connector!: Connector | null;

  @Column('text')
  digest!: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;
}

import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { SeparationOfDuties } from '../../domain/hitl/duties.js';

@Entity('organizations')
export class OrganizationEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('text')
  name!: string;

  @Column('text', { name: 'tenant_id', nullable: true })
  tenantId!: string | null;

  @Column('text', { name: 'separation_of_duties' })
  separationOfDuties!: SeparationOfDuties;

  @Column('boolean', { name: 'decide_by_mail', default: false })
  decideByMail!: boolean;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;
}

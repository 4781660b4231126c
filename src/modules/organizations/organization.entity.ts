import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { PiiSettings } from '../../domain/pii/settings.js';
import type { SeparationOfDuties } from '../../domain/hitl/duties.js';

export const SCAN_PII = ['optional', 'required'] as const;
export type ScanPii = (typeof SCAN_PII)[number];

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

  /** Whether calls to models may leave the scan for personal data out. */
  @Column('text', { name: 'scan_pii', default: 'optional' })
  scanPii!: ScanPii;

  /** What the scan looks for and does; null where nothing was set. */
  @Column('json', { nullable: true })
  pii!: Partial<PiiSettings> | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;
}

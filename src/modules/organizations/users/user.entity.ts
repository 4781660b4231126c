import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Role } from '../../../domain/access/access.js';

export type UserStatus = 'active' | 'deleted' | 'erased';

@Entity('users')
export class UserEntity {
  @PrimaryColumn('text', { name: 'organization_id' })
  organizationId!: string;

  @PrimaryColumn('text')
  id!: string;

  /** As it was written. Null once erased. */
  @Column('text', { nullable: true })
  email!: string | null;

  /** In lower case: unique among the active accounts of an organization. */
  @Column('text', { name: 'email_folded', nullable: true })
  emailFolded!: string | null;

  /** Since when the address is this one: whoever has changed theirs may have had another that an agent named before. */
  @Column('timestamptz', { name: 'email_since' })
  emailSince!: Date;

  @Column('text', { nullable: true })
  name!: string | null;

  @Column('text', { name: 'avatar_url', nullable: true })
  avatarUrl!: string | null;

  @Column('text')
  role!: Role;

  /** Since when the role is this one: under strict separation of duties a decider's rights are older than the request. */
  @Column('timestamptz', { name: 'role_since' })
  roleSince!: Date;

  @Column('text')
  status!: UserStatus;

  /** Who handed on the invitation, where no mail did: counts as one person with them under strict separation of duties. */
  @Column('text', { name: 'vouched_by', nullable: true })
  vouchedBy!: string | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;

  @Column('timestamptz', { name: 'ended_at', nullable: true })
  endedAt!: Date | null;
}

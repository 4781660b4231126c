import { ApiProperty } from '@nestjs/swagger';
import { ROLES, type Role } from '../../domain/access/access.js';
import { TIERS, type Tier } from '../../domain/access/tiers.js';

/** The claims of the interface, section 5, under their own names; who the person is, and what they may, as our record says. */
export class VerifiedClaims {
  @ApiProperty({ description: 'The provider’s id of the user.' }) sub!: string;
  @ApiProperty({ type: String, nullable: true, example: 'usr_…', description: 'Null: nobody here knows this user yet.' })
  user_id!: string | null;
  @ApiProperty({ required: false }) email?: string;
  @ApiProperty({
    type: String, nullable: true, example: 'ten_…', description: 'The account’s tenant; its organization where that belongs to none.',
  })
  tenant_id!: string | null;
  @ApiProperty({ enum: TIERS, nullable: true, description: 'What counts now; `personal` without an active subscription.' })
  tier!: Tier | null;
  @ApiProperty({ enum: ROLES, nullable: true, description: 'The lower of the record’s and the claimed one.' }) role!: Role | null;
  @ApiProperty({ required: false, description: 'As the provider says.' }) has_subscription?: boolean;
  @ApiProperty({ required: false, description: 'As the provider says.' }) managed?: boolean;
  @ApiProperty({ required: false, type: 'integer' }) iat?: number;
  @ApiProperty({ type: 'integer' }) exp!: number;
}

export class VerifyTokenReply {
  @ApiProperty({ type: VerifiedClaims }) claims!: VerifiedClaims;
}

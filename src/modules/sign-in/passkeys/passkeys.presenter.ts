import { ApiProperty, ApiSchema, type ApiSchemaOptions } from '@nestjs/swagger';
import { presentUser, UserReply } from '../../organizations/users/users.presenter.js';
import type { UserRow } from '../../organizations/users/users.query.js';
import type { PasskeyRow } from './passkeys.query.js';

export class PasskeySignInReply {
  @ApiProperty({ type: UserReply }) user!: UserReply;
  @ApiProperty({ example: '/sign-in', description: 'The path to go on to.' }) returnTo!: string;
}

export class PasskeyReply {
  @ApiProperty({ example: 'pky_…' }) id!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ description: 'Whether it is copied to other devices of its owner.' }) backedUp!: boolean;
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) lastUsedAt!: string | null;
}

export class PasskeyEnvelope {
  @ApiProperty({ type: PasskeyReply }) passkey!: PasskeyReply;
}

export class PasskeyListReply {
  @ApiProperty({ type: PasskeyReply, isArray: true }) passkeys!: PasskeyReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
}

/** For the browser as it stands; its members are the browser's affair. */
@ApiSchema({ description: 'For the browser as it stands (WebAuthn Level 3, JSON form).', additionalProperties: true } as ApiSchemaOptions)
export class PasskeyOptionsReply {
  @ApiProperty({ description: 'Single use, for this browser, five minutes.' }) challenge!: string;
}

export const presentArrived = (user: UserRow, returnTo: string): PasskeySignInReply => ({ user: presentUser(user), returnTo });

export function presentPasskey({ id, name, backedUp, createdAt, lastUsedAt }: PasskeyRow): PasskeyReply {
  return { id, name, backedUp, createdAt: createdAt.toISOString(), lastUsedAt: lastUsedAt?.toISOString() ?? null };
}

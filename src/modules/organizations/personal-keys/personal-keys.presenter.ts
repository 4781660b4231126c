import { ApiProperty } from '@nestjs/swagger';
import type { PersonalKeyRow } from './personal-keys.query.js';

export class PersonalKeyReply {
  @ApiProperty({ example: 'key_…' }) id!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) expiresAt!: string | null;
}

export class NewPersonalKeyReply {
  @ApiProperty({ type: PersonalKeyReply }) key!: PersonalKeyReply;
  @ApiProperty({
    type: String, nullable: true, example: 'svc_user_…',
    description: 'For `Authorization: Bearer`. Null in the replay of an Idempotency-Key: it is shown once.',
  })
  secret!: string | null;
}

export class PersonalKeyListReply {
  @ApiProperty({ type: PersonalKeyReply, isArray: true }) keys!: PersonalKeyReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

export function presentPersonalKey({ id, name, createdAt, expiresAt }: PersonalKeyRow): PersonalKeyReply {
  return { id, name, createdAt: createdAt.toISOString(), expiresAt: expiresAt?.toISOString() ?? null };
}

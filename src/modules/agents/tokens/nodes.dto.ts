import { ApiProperty } from '@nestjs/swagger';
import { Text } from '../../../platform/http/fields/fields.js';

export class ActivateNodeDto {
  @Text({ max: 200, min: 1, doc: 'The setup token.', example: 'svc_setup_…' })
  token!: string;

  @Text({ max: 200, min: 1, singleLine: true, doc: 'What the machine is called; stands in the audit log.', example: 'press-hall-2' })
  nodeId!: string;
}

export class SetupTokenReply {
  @ApiProperty({
    type: String, nullable: true, example: 'svc_setup_…', description: 'Shown once: null in the replay of an Idempotency-Key.',
  })
  setupToken!: string | null;
  @ApiProperty({ format: 'date-time' }) expiresAt!: string;
}

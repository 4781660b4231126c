import { ApiProperty } from '@nestjs/swagger';
import { secretNames } from '../../../domain/gate/connector.js';
import type { Definition } from '../definition.js';
import type { SecretTerms } from './secret.store.js';

export class SecretReply {
  @ApiProperty({ example: 'crm-token', description: 'In connectors: `{secrets.crm-token}`.' }) name!: string;
  @ApiProperty({ type: String, isArray: true, example: ['https://api.example.com'] }) origins!: string[];
  @ApiProperty({ type: String, isArray: true, example: ['crm.update'], description: 'Capabilities whose connector names it.' })
  usedBy!: string[];
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
  @ApiProperty({ format: 'date-time', description: 'When value and origins were set last.' }) updatedAt!: string;
}

export class SecretEnvelope {
  @ApiProperty({ type: SecretReply }) secret!: SecretReply;
}

export class SecretListReply {
  @ApiProperty({ type: SecretReply, isArray: true, description: 'By name.' }) secrets!: SecretReply[];
}

export function presentSecret({ name, origins, createdAt, updatedAt }: SecretTerms, using: string[]): SecretReply {
  return { name, origins: [...origins], usedBy: using, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

/** The capabilities whose connector names a secret. */
export function usedBy(name: string, definitions: readonly Definition[]): string[] {
  return definitions.filter(({ connector }) => connector && secretNames(connector).includes(name)).map((definition) => definition.name);
}

import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import type { StoredCheckpoint } from '../../../domain/audit/notes/checkpoint.js';
import { originOf } from '../../../domain/audit/notes/checkpoint.js';
import type { StoredEntry } from '../../../domain/audit/entry/stored-entry.js';
import { given } from '../../../domain/given.js';
import { type JsonValue, shownJson } from '../../../domain/json.js';
import type { EntryProof } from './proof.query.js';

const HASHES = { type: String, isArray: true, description: 'Base64, from the leaf upwards.' } as const;

export class TreePathReply {
  @ApiProperty({ enum: ['organization', 'platform'] }) level!: string;
  @ApiProperty({ type: 'integer', description: 'Place of the leaf, from 0.' }) index!: number;
  @ApiProperty({ type: 'integer', description: 'Leaves of the tree: those of its checkpoint.' }) size!: number;
  @ApiProperty(HASHES) hashes!: readonly string[];
}

export class MapPathReply {
  @ApiProperty({ enum: ['map'] }) level!: string;
  @ApiProperty({
    type: 'array', items: { type: 'array', items: {} },
    description: 'Pairs of depth and hash (base64): what stands beside the path and is not empty, from the root downwards.',
  })
  siblings!: readonly (readonly [depth: number, hash: string])[];

  @ApiProperty({ format: 'date-time', description: 'When the map was taken; a part of the platform\'s leaf.' }) timestamp!: string;
}

export class CheckpointPairReply {
  @ApiProperty({ description: "The signed note of the organization's tree." }) organization!: string;
  @ApiProperty({ description: "The signed note of the platform's tree." }) platform!: string;
}

@ApiExtraModels(TreePathReply, MapPathReply)
export class ProofReply {
  @ApiProperty({ required: false }) agentId?: string;
  @ApiProperty({ required: false }) capability?: string;
  @ApiProperty({ description: 'The stored text, over which the hash was made.' }) payload!: string;
  @ApiProperty({ required: false, description: 'Absent from the first entry of a chain.' }) prevHash?: string;
  @ApiProperty({ description: 'SHA-256, hex.' }) hash!: string;
  @ApiProperty() chain!: string;
  @ApiProperty({ type: 'integer' }) seq!: number;
  @ApiProperty({ type: 'array', items: { type: 'object' }, description: 'What opens the commitments in the payload.' })
  disclosures!: JsonValue;

  @ApiProperty({
    type: 'array', items: { oneOf: [{ $ref: getSchemaPath(TreePathReply) }, { $ref: getSchemaPath(MapPathReply) }] },
    description: "From the entry to its organization's root, through the map of organizations, to the platform's root.",
  })
  inclusion!: readonly (TreePathReply | MapPathReply)[];

  @ApiProperty({ type: CheckpointPairReply }) checkpoint!: CheckpointPairReply;
}

export class CheckpointReply {
  @ApiProperty({ example: 'countersign-…/platform' }) origin!: string;
  @ApiProperty({ type: 'integer' }) size!: number;
  @ApiProperty({ description: 'C2SP signed note.' }) note!: string;
}

export class CheckpointListReply {
  @ApiProperty({ type: CheckpointReply, isArray: true }) checkpoints!: readonly CheckpointReply[];
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

export class KeysReply {
  @ApiProperty({ type: String, isArray: true, description: 'C2SP verifier keys; the one that signs comes first, then retired ones.' })
  keys!: readonly string[];
}

export function presentProof(entry: StoredEntry, { organization, map, platform, checkpoints }: EntryProof): ProofReply {
  const { agentId, capability, payload, prevHash, hash, chain, seq, disclosures } = entry;
  return given({
    agentId, capability, payload, prevHash, hash, chain, seq,
    disclosures: shownJson(disclosures),
    inclusion: [{ level: 'organization', ...organization }, { level: 'map', ...map }, { level: 'platform', ...platform }],
    checkpoint: { organization: checkpoints.organization.note, platform: checkpoints.platform.note },
  }) as ProofReply;
}

export function presentCheckpoint(instance: string, { organizationId, size, note }: StoredCheckpoint): CheckpointReply {
  return { origin: originOf(instance, organizationId), size, note };
}

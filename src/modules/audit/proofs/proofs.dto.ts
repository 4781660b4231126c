import { ApiExtraModels, ApiProperty } from '@nestjs/swagger';
import type { StoredCheckpoint } from '../../../domain/audit/notes/checkpoint.js';
import { originOf } from '../../../domain/audit/notes/checkpoint.js';
import type { StoredEntry } from '../../../domain/audit/entry/stored-entry.js';
import { given } from '../../../domain/given.js';
import { shownJson } from '../../../domain/json.js';
import { formsBy } from '../../../platform/http/fields/named-schema.js';
import type { EntryProof } from './proof.query.js';

const HASHES = { type: String, isArray: true, description: 'Base64, from the leaf upwards.' } as const;

export class TreePathReply {
  @ApiProperty({ enum: ['organization', 'platform'] }) level!: string;
  @ApiProperty({ type: 'integer', description: 'Place of the leaf, from 0.' }) index!: number;
  @ApiProperty({ type: 'integer', description: 'Leaves of the tree: those of its checkpoint.' }) size!: number;
  @ApiProperty(HASHES) hashes!: readonly string[];
}

/** Of JSON Schema 2020-12, which the framework's types do not know yet. */
const PAIR = { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }], minItems: 2, maxItems: 2 } as object;

export class MapPathReply {
  @ApiProperty({ enum: ['map'] }) level!: string;
  @ApiProperty({
    type: 'array', items: PAIR,
    description: 'Pairs of depth and hash (base64): what stands beside the path and is not empty, from the root downwards.',
  })
  siblings!: readonly (readonly [depth: number, hash: string])[];

  @ApiProperty({ format: 'date-time', description: 'When the map was taken; a part of the platform\'s leaf.' }) timestamp!: string;
}

export class CheckpointPairReply {
  @ApiProperty({ description: "The signed note of the organization's tree." }) organization!: string;
  @ApiProperty({ description: "The signed note of the platform's tree." }) platform!: string;
}

/** What opens one commitment (docs/audit-log.md). */
export class DisclosureReply {
  @ApiProperty({ description: 'The commitment, as the payload has it.' }) d!: string;
  @ApiProperty({ description: "RFC 6901, from the payload's root." }) pointer!: string;
  @ApiProperty({ description: 'base64url of 16 bytes.' }) salt!: string;
  @ApiProperty({ required: false, description: 'The canonical text of the value; absent once it is erased.' }) value?: string;
  @ApiProperty({ required: false, description: 'The value was erased.' }) erased?: boolean;
}

const INCLUSION_PATH = formsBy('level', 'InclusionPath', { organization: TreePathReply, map: MapPathReply, platform: TreePathReply },
  'One step from an entry to the root of the platform; `level` says of which tree.');

@ApiExtraModels(TreePathReply, MapPathReply)
export class ProofReply {
  @ApiProperty({ required: false }) agentId?: string;
  @ApiProperty({ required: false }) capability?: string;
  @ApiProperty({ description: 'The stored text, over which the hash was made.' }) payload!: string;
  @ApiProperty({ required: false, description: 'Absent from the first entry of a chain.' }) prevHash?: string;
  @ApiProperty({ description: 'SHA-256, hex.' }) hash!: string;
  @ApiProperty() chain!: string;
  @ApiProperty({ type: 'integer' }) seq!: number;
  @ApiProperty({ type: DisclosureReply, isArray: true, description: 'What opens the commitments in the payload.' })
  disclosures!: readonly DisclosureReply[];

  @ApiProperty({
    ...INCLUSION_PATH.items,
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
    disclosures: shownJson(disclosures) as unknown as DisclosureReply[],
    inclusion: [{ level: 'organization', ...organization }, { level: 'map', ...map }, { level: 'platform', ...platform }],
    checkpoint: { organization: checkpoints.organization.note, platform: checkpoints.platform.note },
  }) as ProofReply;
}

export function presentCheckpoint(instance: string, { organizationId, size, note }: StoredCheckpoint): CheckpointReply {
  return { origin: originOf(instance, organizationId), size, note };
}

import { ApiProperty } from '@nestjs/swagger';
import { given } from '../../domain/given.js';
import type { ErasedAccount } from '../organizations/users/erase-account.js';
import type { ErasureCounts } from './execution/erasure.js';
import type { ErasureRow } from './requests/erasures.query.js';
import type { ErasurePreview } from './search/erasure-search.service.js';

const KINDS = ['user', 'values'];
const STATES = ['unconfirmed', 'running', 'done', 'declined'];

export class ErasureCountsReply {
  @ApiProperty({ type: 'integer', description: 'Committed values of the log that are blank now.' }) values!: number;
  @ApiProperty({ type: 'integer', description: 'Of these, those that a text was met in, and that are not the erased user\'s own.' })
  byText!: number;
  @ApiProperty({ type: 'integer', description: 'Entries that lost a value.' }) entries!: number;
  @ApiProperty({ type: 'integer', description: 'Entries that could not be read; verification names them.' }) unreadable!: number;
  @ApiProperty({ type: 'object', additionalProperties: { type: 'integer' }, description: 'Rows elsewhere, by what they are.' })
  rows!: Record<string, number>;
  @ApiProperty({
    type: 'object', additionalProperties: { type: 'integer' },
    description:
      'Rows that still hold some of it: conditions and the like until somebody changes them, actions until they have ended; and ' +
      '`keptProfiles` and `keptIdentities`, names and addresses of other accounts, and by what the identity provider knows them, which ' +
      'are theirs and stay.',
  })
  left!: Record<string, number>;
}

export class ErasureProgressReply {
  @ApiProperty({ enum: ['subjects', 'log', 'rows', 'archive', 'check'], description: 'What the search is at.' }) phase!: string;
  @ApiProperty({ type: 'integer', description: 'It goes over what has come meanwhile in a further round.' }) round!: number;
}

export class ErasureReply {
  @ApiProperty({ example: 'ers_…' }) id!: string;
  @ApiProperty({ example: 'org_…' }) organizationId!: string;
  @ApiProperty({ enum: KINDS, description: 'What it was asked for: never the values themselves.' }) kind!: string;
  @ApiProperty({ enum: STATES }) state!: string;
  @ApiProperty({ required: false, example: 'usr_…' }) userId?: string;
  @ApiProperty({ required: false }) reason?: string;
  @ApiProperty({ description: 'A user\'s id, or `root`.' }) askedBy!: string;
  @ApiProperty({ format: 'date-time' }) askedAt!: string;
  @ApiProperty({ required: false, description: 'Never who has asked for it.' }) confirmedBy?: string;
  @ApiProperty({ type: ErasureCountsReply, description: 'So far, or in all.' }) counts!: ErasureCountsReply;
  @ApiProperty({ type: ErasureProgressReply, required: false, description: 'While it runs.' }) progress?: ErasureProgressReply;
  @ApiProperty({ format: 'date-time', required: false }) endedAt?: string;
}

export class ErasureEnvelope {
  @ApiProperty({ type: ErasureReply }) erasure!: ErasureReply;
}

export class ErasureListReply {
  @ApiProperty({ type: ErasureReply, isArray: true }) erasures!: ErasureReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

export class FoundCountsReply {
  @ApiProperty({ type: 'integer' }) values!: number;
  @ApiProperty({ type: 'integer' }) entries!: number;
  @ApiProperty({ type: 'integer', description: 'Entries of decisions among them.' }) decisions!: number;
  @ApiProperty({ description: 'Whether the whole log was looked through; where not, there may be more.' }) complete!: boolean;
}

export class FoundReply {
  @ApiProperty({ example: 'org_…' }) organizationId!: string;
  @ApiProperty({ type: FoundCountsReply, description: 'What the log held of the values before anything was erased.' })
  found!: FoundCountsReply;
  @ApiProperty({ type: ErasureReply, required: false, description: 'Not with `dryRun`.' }) erasure?: ErasureReply;
}

export class ErasedUserReply {
  @ApiProperty({ example: 'usr_…' }) userId!: string;
  @ApiProperty({ format: 'date-time' }) erasedAt!: string;
  @ApiProperty({ type: 'integer', description: '1 when this call blanked the profile.' }) profile!: number;
  @ApiProperty({ type: 'integer', description: 'Sessions that this call ended.' }) sessions!: number;
  @ApiProperty({ type: 'integer', description: 'Personal keys that the account had; none lets anybody in.' }) keys!: number;
  @ApiProperty({ type: 'integer', description: 'Entries of the log that lost a value, so far.' }) auditEntries!: number;
  @ApiProperty({ type: 'integer', description: 'HITL requests that lost something, so far.' }) requests!: number;
  @ApiProperty({ type: 'integer', description: 'Messages that lost something, so far.' }) notifications!: number;
  @ApiProperty({
    enum: ['deleted', 'left_to_do', 'none'],
    description: 'The account at the identity provider. `left_to_do`: not yet, or not by this service; repeating the call tries again.',
  })
  identityProvider!: string;
  @ApiProperty({ type: ErasureReply, isArray: true, description: 'The searches that this call began, as far as they have come.' })
  erasures!: ErasureReply[];
}

export function presentErasure(row: ErasureRow): ErasureReply {
  const { id, organizationId, kind, state, userId, reason, askedBy, askedAt, confirmedBy, cursor: { phase, round }, counts, endedAt } = row;
  return given({
    id, organizationId, kind, state, userId, reason, askedBy, askedAt: askedAt.toISOString(), confirmedBy, counts: { ...counts },
    progress: state === 'running' ? { phase, round } : undefined, endedAt: endedAt?.toISOString(),
  });
}

export function presentFound(organizationId: string, { values, entries, decisions, complete }: ErasurePreview): FoundReply {
  return { organizationId, found: { values, entries, decisions, complete } };
}

/** @param hasFollowed whether what had to follow at the identity provider has happened */
export function presentErasedUser(
  userId: string, account: ErasedAccount, hasFollowed: boolean, searches: readonly ErasureRow[],
): ErasedUserReply {
  const sum = (count: (counts: ErasureCounts) => number) => searches.reduce((all, { counts }) => all + count(counts), 0);
  const rows = (...names: string[]) => sum((counts) => names.reduce((all, name) => all + (counts.rows[name] ?? 0), 0));
  return {
    userId,
    erasedAt: account.erasedAt.toISOString(),
    profile: account.was ? 1 : 0,
    sessions: account.sessions,
    keys: account.keys,
    auditEntries: sum(({ entries }) => entries),
    requests: rows('requests'),
    notifications: rows('effects', 'notifications'),
    identityProvider: account.elsewhere === 'none' ? 'none' : hasFollowed ? 'deleted' : 'left_to_do',
    erasures: searches.map(presentErasure),
  };
}

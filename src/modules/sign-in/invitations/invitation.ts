import { createHash, randomBytes } from 'node:crypto';
import type { Role } from '../../../domain/access/access.js';
import type { Delivery } from '../../../domain/access/invitation.js';

export type InvitationStatus = 'open' | 'accepted' | 'voided' | 'expired';

export interface Invitation {
  readonly organizationId: string;
  readonly id: string;
  readonly email: string;
  readonly emailFolded: string;
  readonly name: string | null;
  readonly role: Role;
  /** Of an account that was there already, or of the one that was made. */
  readonly userId: string | null;
  readonly delivery: Delivery;
  /** An account's id, or `root`. */
  readonly invitedBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Of the moment it was read. */
  readonly status: InvitationStatus;
}

/** Hexadecimal: a path with a segment of this length is cut before it is logged. */
const TOKEN = /^[0-9a-f]{64}$/;
const TOKEN_BYTES = 32;

export const newInvitationToken = (): string => randomBytes(TOKEN_BYTES).toString('hex');

/** What is kept of a token; undefined for what cannot be one. */
export function invitationTokenHash(token: string): string | undefined {
  return TOKEN.test(token) ? createHash('sha256').update(token).digest('hex') : undefined;
}

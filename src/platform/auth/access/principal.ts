import type { AgentCredential, PrincipalKind, Role } from '../../../domain/access/access.js';
import type { Scope } from './scope.js';

export interface RootPrincipal {
  readonly kind: 'root';
  /** SHA-256 of the key that was shown, compared again when a call commits. */
  readonly keyHash: string;
}

/** What a verified agent token says, or the row of an agent key. Whether it still holds is judged from the agent's present state. */
export interface AgentPrincipal {
  readonly kind: 'agent';
  readonly credential: AgentCredential;
  readonly agentId: string;
  readonly organizationId: string;
  /** The agent key that was shown, or that the token was exchanged for: its deletion ends both. */
  readonly keyId?: string;
  /** What a token names. A key names none: the grants decide alone. */
  readonly capabilities: readonly string[] | 'any';
  /** Of the agent when the credential was made. */
  readonly epoch: number;
  /** Unix seconds; Infinity for a key without an end. */
  readonly expiresAt: number;
  readonly issuedAt: number;
  /** When somebody last vouched for the agent, Unix seconds. */
  readonly authTime: number;
  readonly vouchedBy?: string;
  readonly tokenId?: string;
  /** The tenant that the token names, where it names one: it must be its organization's. */
  readonly tenantId?: string;
}

/**
 * By which credential a person came in. Under strict separation of
 * duties the age of a key or of a link to a chat account counts; a session's does not, for whoever signs in anew gets nothing new by it.
 */
export type UserCredential =
  | { readonly kind: 'key'; readonly id: string; readonly createdAt: Date }
  | { readonly kind: 'session'; readonly id: string; readonly createdAt: Date }
  | { readonly kind: 'token' }
  /** The link in a mail: it decides one request once. */
  | { readonly kind: 'mail'; readonly id: string; readonly createdAt: Date }
  /** A chat account that is linked to theirs, by a call that the chat has signed. */
  | { readonly kind: 'chat'; readonly id: string; readonly createdAt: Date };

/** A person, with the rights of this moment: role and account are compared again when a call commits. */
export interface UserPrincipal {
  readonly kind: 'user';
  readonly userId: string;
  /** Where the account stands. An owner reaches every organization of its tenant. */
  readonly organizationId: string;
  /** What counts: the lower of the record's and the claimed one. */
  readonly role: Role;
  /** What the identity provider says, where it says something. */
  readonly claimedRole?: Role;
  /** Since when it has said so. */
  readonly claimedSince?: Date;
  /** What the provider says of the subscription; it takes away, and gives nothing. */
  readonly hasSubscription?: boolean;
  readonly credential: UserCredential;
}

/** The platform that sells the service, by its own key. */
export interface InternalPrincipal {
  readonly kind: 'internal';
}

export interface SystemPrincipal {
  readonly kind: 'system';
}

export type Principal = RootPrincipal | AgentPrincipal | UserPrincipal | InternalPrincipal | SystemPrincipal;

/** A verified caller: who it is, what it may see, and the name under which the audit log knows it. */
export interface Caller {
  readonly principal: Principal;
  readonly scope: Scope;
  readonly actorId: string;
}

/** The column of the access table: people stand in it by their role. */
export function kindOf(principal: Principal): PrincipalKind | 'system' {
  return principal.kind === 'user' ? principal.role : principal.kind;
}

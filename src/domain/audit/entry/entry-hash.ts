import { hash } from 'node:crypto';
import { jcsString } from './jcs.js';

/** What an entry's hash covers (interface, section 1, gate rule 6). `payload` is the payload's canonical text. */
export interface HashedParts {
  readonly agentId?: string | undefined;
  readonly capability?: string | undefined;
  readonly payload: string;
  readonly prevHash?: string | undefined;
}

/** The same but for the link, as an entry's columns have it. */
export interface StoredParts {
  readonly agentId?: string | null | undefined;
  readonly capability?: string | null | undefined;
  readonly payload: string;
}

/**
 * The text whose SHA-256 is the entry's hash: the RFC 8785 form of {agentId, capability, payload, prevHash}, absent members
 * left out. The canonical order of these names is the order of the interface, and `prevHash` comes last, so that the database
 * can complete a prepared prefix under the chain's lock.
 */
export function preimage(parts: HashedParts): string {
  const prefix = preimagePrefix(parts);
  return parts.prevHash === undefined ? `${prefix}}` : `${prefix},"prevHash":${jcsString(parts.prevHash)}}`;
}

/** The part of the preimage that is known before the chain is locked: everything but `,"prevHash":"…"` and the closing brace. */
export function preimagePrefix({ agentId, capability, payload }: Omit<HashedParts, 'prevHash'>): string {
  const agent = agentId === undefined ? '' : `"agentId":${jcsString(agentId)},`;
  const named = capability === undefined ? '' : `"capability":${jcsString(capability)},`;
  return `{${agent}${named}"payload":${payload}`;
}

/**
 * Base64 SHA-256 of all that is hashed of an entry but its link, which is known only under the lock of the chain: who has written it, when,
 * under which id and in which agent's chain. Whoever signs an order signs this entry, and no copy of it.
 */
export function contentDigest({ agentId, capability, payload }: StoredParts): string {
  return hash('sha256', preimage({ agentId: agentId ?? undefined, capability: capability ?? undefined, payload }), 'base64');
}

/** Lower-case hex SHA-256 of the preimage's UTF-8 bytes. */
export function entryHash(text: string): string {
  return hash('sha256', text, 'hex');
}

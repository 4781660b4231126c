import { hash } from 'node:crypto';
import { jcsString } from './jcs.js';

/** The parts of an entry that its hash covers (interface, section 1, gate rule 6). `payload` is the payload's canonical text. */
export interface HashedParts {
  readonly agentId?: string | null | undefined;
  readonly capability?: string | null | undefined;
  readonly payload: string;
  readonly prevHash?: string | null | undefined;
}

/**
 * The text whose SHA-256 is the entry's hash: the RFC 8785 form of {agentId, capability, payload, prevHash}, absent members left out.
 * `prevHash` comes last, so that the database can complete a prepared prefix under the chain's lock.
 */
export function preimage({ agentId, capability, payload, prevHash }: HashedParts): string {
  const link = prevHash === null || prevHash === undefined ? '' : `,"prevHash":${jcsString(prevHash)}`;
  return `{${leadingMember('agentId', agentId)}${leadingMember('capability', capability)}"payload":${payload}${link}}`;
}

function leadingMember(name: string, text: string | null | undefined): string {
  return text === null || text === undefined ? '' : `"${name}":${jcsString(text)},`;
}

/**
 * Base64 SHA-256 of all that is hashed of an entry but its link, which is known under the chain's lock only. It is signed: no copy counts.
 */
export function contentDigest({ agentId, capability, payload }: HashedParts): string {
  return hash('sha256', preimage({ agentId, capability, payload }), 'base64');
}

/** Lower-case hex SHA-256 of the preimage's UTF-8 bytes. */
export function entryHash(text: string): string {
  return hash('sha256', text, 'hex');
}

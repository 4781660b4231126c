import { createHash, timingSafeEqual } from 'node:crypto';
import { jcs } from '../audit/entry/jcs.js';
import type { JsonObject } from '../json.js';

/** What an approval is bound to. */
export interface GovernedAction {
  /** The action's name as the adapter gave it. */
  action?: string;
  agentId: string;
  capability: string;
  /** The digest of the capability's definition of that moment, so that a connector changed later is noticed. */
  definition: string;
  hitlRequestId: string;
  input: JsonObject;
  /** 16 random bytes as text, erased with the input: without it nobody can guess the input from the digest. */
  nonce: string;
  /** Who acts after the approval: this service, or the caller who holds the action. */
  runs: 'service' | 'caller';
}

/** SHA-256, lower-case hex, of the RFC 8785 form of the action: what a reviewer sees is what may run. */
export function actionDigest(governed: GovernedAction): string {
  const { action, agentId, capability, definition, hitlRequestId, input, nonce, runs } = governed;
  const always = { agentId, capability, definition, hitlRequestId, input, nonce, runs };
  const covered = action === undefined ? always : { ...always, action };
  return createHash('sha256').update(jcs(covered), 'utf8').digest('hex');
}

/** Whether two digests are equal, compared in constant time. */
export function sameDigest(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

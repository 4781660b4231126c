import { Injectable } from '@nestjs/common';
import type { AgentPrincipal } from '../../../platform/auth/access/principal.js';
import { AgentKeyStore, hasFormOfAgentKey, hashAgentKey } from './agent-key.store.js';

const CACHE_SIZE = 10_000;

/**
 * Whose an agent key is, by its digest. The answer never changes while the key is there, so a bounded cache keeps it, as one keeps the
 * claims of verified tokens; whether the key is still there is asked of the database at every call. Keys that nobody made are looked up
 * each time and not kept.
 */
@Injectable()
export class VerifiedAgentKeys {
  private readonly verified = new Map<string, AgentPrincipal>();

  constructor(private readonly keys: AgentKeyStore) {}

  /** Answers at once where the key was seen before. */
  find(key: string): AgentPrincipal | Promise<AgentPrincipal | undefined> | undefined {
    if (!hasFormOfAgentKey(key)) return undefined;
    const digest = hashAgentKey(key);
    return this.verified.get(digest) ?? this.lookUp(digest);
  }

  private async lookUp(digest: string): Promise<AgentPrincipal | undefined> {
    const principal = await this.keys.find(digest);
    if (!principal) return undefined;
    if (this.verified.size >= CACHE_SIZE) this.verified.delete(this.verified.keys().next().value!);
    this.verified.set(digest, principal);
    return principal;
  }
}

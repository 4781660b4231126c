import { Injectable } from '@nestjs/common';
import type { AgentPrincipal } from '../../../platform/auth/access/principal.js';
import { AgentKeyStore, hasFormOfAgentKey, hashAgentKey } from './agent-key.store.js';

const CACHE_SIZE = 10_000;
const ALWAYS = () => true;

/**
 * Whose an agent key is, by its digest. The answer never changes while the key is there, so a bounded cache keeps it, as one keeps the
 * claims of verified tokens; whether the key is still there is asked of the database at every call, and one that is found dead is
 * forgotten. Keys that nobody made are looked up each time and not kept.
 */
@Injectable()
export class VerifiedAgentKeys {
  private readonly verified = new Map<string, AgentPrincipal>();
  private readonly digests = new WeakMap<AgentPrincipal, string>();

  constructor(private readonly keys: AgentKeyStore) {}

  /**
   * Answers at once where the key was seen before.
   *
   * @param mayLookUp whether the database may be asked about a key that was not
   */
  find(key: string, mayLookUp: () => boolean = ALWAYS): AgentPrincipal | Promise<AgentPrincipal | undefined> | undefined {
    if (!hasFormOfAgentKey(key)) return undefined;
    const digest = hashAgentKey(key);
    return this.verified.get(digest) ?? (mayLookUp() ? this.lookUp(digest) : undefined);
  }

  /** Of a principal that is dead: nothing where it came by a token, or was forgotten. */
  forget(principal: AgentPrincipal): void {
    const digest = this.digests.get(principal);
    if (digest !== undefined && this.verified.get(digest) === principal) this.verified.delete(digest);
  }

  private async lookUp(digest: string): Promise<AgentPrincipal | undefined> {
    const principal = await this.keys.find(digest);
    if (!principal) return undefined;
    if (this.verified.size >= CACHE_SIZE) this.verified.delete(this.verified.keys().next().value!);
    this.verified.set(digest, principal);
    this.digests.set(principal, digest);
    return principal;
  }
}

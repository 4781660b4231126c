import { Injectable } from '@nestjs/common';
import type { AgentPrincipal } from '../../../platform/auth/access/principal.js';
import { Batcher } from '../../../platform/database/batching/batcher.js';
import { AgentKeyStore, hasFormOfAgentKey, hashAgentKey } from './agent-key.store.js';

const CACHE_SIZE = 10_000;
const NEVER = () => false;

/**
 * Whose an agent key is, by its digest. The answer never changes while the key is there, so a bounded cache keeps it, as one keeps the
 * claims of verified tokens; whether the key is still there is asked of the database at every call, and one that is found dead is
 * forgotten. Keys that nobody made are looked up each time and not kept.
 */
@Injectable()
export class VerifiedAgentKeys {
  private readonly verified = new Map<string, AgentPrincipal>();
  private readonly digests = new WeakMap<AgentPrincipal, string>();
  /** Look-ups that can wait for others: a query a quarter of a second, or for each few hundred keys, however many are guessed. */
  private readonly together = new Batcher<string, AgentPrincipal | undefined>({
    lanes: 1,
    largest: 1_000,
    longest: 5_000,
    rhythmMs: 250,
    keyOf: (digest) => digest,
    process: async (digests) => {
      const found = await this.keys.find(digests);
      return digests.map((digest) => ({ kind: 'answer', answer: found.get(digest) }));
    },
  });

  constructor(private readonly keys: AgentKeyStore) {}

  /**
   * Answers at once where the key was seen before.
   *
   * @param canWait whether a key that was not may be looked up together with others
   */
  find(key: string, canWait: () => boolean = NEVER): AgentPrincipal | Promise<AgentPrincipal | undefined> | undefined {
    if (!hasFormOfAgentKey(key)) return undefined;
    const digest = hashAgentKey(key);
    return this.verified.get(digest) ?? this.lookUp(digest, canWait());
  }

  /** Of a principal that is dead: nothing where it came by a token, or was forgotten. */
  forget(principal: AgentPrincipal): void {
    const digest = this.digests.get(principal);
    if (digest !== undefined && this.verified.get(digest) === principal) this.verified.delete(digest);
  }

  private async lookUp(digest: string, canWait: boolean): Promise<AgentPrincipal | undefined> {
    const principal = canWait ? await this.together.submit(digest) : (await this.keys.find([digest])).get(digest);
    if (!principal) return undefined;
    if (this.verified.size >= CACHE_SIZE) this.verified.delete(this.verified.keys().next().value!);
    this.verified.set(digest, principal);
    this.digests.set(principal, digest);
    return principal;
  }
}

import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { isId } from '../../domain/ids.js';
import type { Caller } from '../../platform/auth/principal.js';
import type { Scope } from '../../platform/auth/scope.js';
import { Problem } from '../../platform/http/problem.js';
import type { Verification } from './verification.js';
import { SharedVerifications } from './verification/shared-verifications.store.js';
import { VerificationTurns } from './verification-turns.store.js';

/** Reads and judges the log of this installation. */
export abstract class LogVerifier {
  abstract verify(scope: Scope, agentId: string | undefined, onProgress: (entries: number) => void): Promise<Verification>;
}

const LOOK_EVERY_MS = 300;
const TELL_EVERY_MS = 3_000;

/**
 * Verifies the log on request. Whoever asks while the same part of the log is being verified, here or on another replica, gets that
 * answer.
 */
@Injectable()
export class VerifyLogService {
  private readonly running = new Map<string, Promise<Verification>>();
  /** Tells this process's verifications from those of other replicas. */
  private readonly name = randomUUID();

  constructor(
    private readonly verifier: LogVerifier,
    private readonly turns: VerificationTurns,
    private readonly shared: SharedVerifications,
  ) {}

  /** @throws Problem RATE_LIMITED within a minute of the last one; NOT_FOUND for an agent without any entry */
  async verify(caller: Caller, agentId: string | undefined): Promise<Verification> {
    if (agentId !== undefined && !isId('agt', agentId)) throw new Problem('NOT_FOUND', 'There is no such agent.');
    const credential = credentialOf(caller);
    await this.takeTurn(credential);
    const key = createHash('sha256').update(JSON.stringify([caller.scope.organizations, agentId ?? null])).digest('hex');
    let run = this.running.get(key);
    if (!run) {
      run = this.oneOf(key, caller.scope, agentId).finally(() => this.running.delete(key));
      this.running.set(key, run);
    }
    const outcome = await run.catch(async (error: unknown) => {
      // A verification that could not be done has told nobody anything.
      await this.turns.giveBack(credential).catch(() => undefined);
      throw error;
    });
    if (agentId !== undefined && outcome.chains === 0) throw new Problem('NOT_FOUND', 'No entry of this agent is here.');
    return outcome;
  }

  /** Runs it, or waits for the replica that does; takes over from one that is gone. */
  private async oneOf(key: string, scope: Scope, agentId: string | undefined): Promise<Verification> {
    const asked = Date.now();
    for (;;) {
      const begun = await this.shared.begin(key, this.name);
      if (begun === 'ours') return this.run(key, scope, agentId);
      for (;;) {
        const state = await this.shared.look(key, begun.begunAt, asked);
        if (state === 'gone') break;
        // Somebody has told it who is none of us.
        if (state === 'doubtful') return this.verifier.verify(scope, agentId, () => undefined);
        if ('outcome' in state) return state.outcome;
        await delay(LOOK_EVERY_MS);
      }
    }
  }

  private async run(key: string, scope: Scope, agentId: string | undefined): Promise<Verification> {
    let read = 0;
    const telling = setInterval(() => void this.shared.tell(key, this.name, read).catch(() => undefined), TELL_EVERY_MS).unref();
    let outcome: Verification | undefined;
    try {
      outcome = await this.verifier.verify(scope, agentId, (entries) => (read = entries));
      return outcome;
    } finally {
      clearInterval(telling);
      // Should this fail, others take the silence for what it is and begin anew.
      await this.shared.end(key, this.name, outcome).catch(() => undefined);
    }
  }

  private async takeTurn(credential: string): Promise<void> {
    const seconds = await this.turns.take(credential);
    if (seconds === 0) return;
    throw new Problem('RATE_LIMITED', `The log is verified once a minute for each credential. Ask again in ${seconds} s.`, {
      headers: { 'Retry-After': String(seconds) },
    });
  }
}

function credentialOf({ principal, actorId }: Caller): string {
  // A hash of the stored hash: the table names no credential.
  const text = principal.kind === 'root' ? `root ${principal.keyHash}` : `${principal.kind} ${actorId}`;
  return createHash('sha256').update(text).digest('hex');
}

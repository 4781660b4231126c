import { Inject, Injectable } from '@nestjs/common';
import { isId } from '../../domain/ids.js';
import type { LogSource } from '../../domain/audit/verify.js';
import type { Caller } from '../../platform/auth/principal.js';
import type { Scope } from '../../platform/auth/scope.js';
import { Problem } from '../../platform/http/problem.js';
import { AuditQuery } from './audit.query.js';
import { verification, type Verification } from './verification.js';

/** One verification a minute for each credential (interface, section 8). */
const INTERVAL_MS = 60_000;

/** What the service asks of the database. */
export interface ReadsLog {
  reading<Result>(scope: Scope, read: (source: LogSource) => Promise<Result>): Promise<Result>;
}

/** Verifies the log on request. Whoever asks while the same part of the log is being verified gets that answer. */
@Injectable()
export class VerifyLogService {
  private readonly begun = new Map<string, number>();
  private readonly running = new Map<string, Promise<Verification>>();

  constructor(@Inject(AuditQuery) private readonly log: ReadsLog) {}

  /**
   * @param now milliseconds of a clock that never steps back
   * @throws Problem RATE_LIMITED within a minute of the last one; NOT_FOUND for an agent without any entry
   */
  async verify(caller: Caller, agentId: string | undefined, now = performance.now()): Promise<Verification> {
    if (agentId !== undefined && !isId('agt', agentId)) throw new Problem('NOT_FOUND', 'There is no such agent.');
    const credential = credentialOf(caller);
    this.take(credential, now);
    const { scope } = caller;
    const key = JSON.stringify([scope.organizations, agentId ?? null]);
    let run = this.running.get(key);
    if (!run) {
      run = this.log.reading(scope, (source) => verification(source, agentId)).finally(() => this.running.delete(key));
      this.running.set(key, run);
    }
    const outcome = await run.catch((error: unknown) => {
      // A verification that could not be done has told nobody anything.
      this.begun.delete(credential);
      throw error;
    });
    if (agentId !== undefined && outcome.chains === 0) throw new Problem('NOT_FOUND', 'No entry of this agent is here.');
    return outcome;
  }

  private take(credential: string, now: number): void {
    for (const [other, at] of this.begun) if (now - at >= INTERVAL_MS) this.begun.delete(other);
    const last = this.begun.get(credential);
    if (last === undefined) {
      this.begun.set(credential, now);
      return;
    }
    const seconds = Math.ceil((last + INTERVAL_MS - now) / 1_000);
    throw new Problem('RATE_LIMITED', `The log is verified once a minute for each credential. Ask again in ${seconds} s.`, {
      headers: { 'Retry-After': String(seconds) },
    });
  }
}

function credentialOf({ principal, actorId }: Caller): string {
  return principal.kind === 'root' ? `root ${principal.keyHash}` : `${principal.kind} ${actorId}`;
}

import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { isId } from '../../domain/ids.js';
import type { LogSource } from '../../domain/audit/verify.js';
import { type ReadStatement, RecordKeepers } from '../../platform/audit/record-keepers.js';
import type { Caller } from '../../platform/auth/principal.js';
import type { Scope } from '../../platform/auth/scope.js';
import { Problem } from '../../platform/http/problem.js';
import { AuditQuery } from './audit.query.js';
import { judgesOf } from './judging/judges.js';
import { verification, type Verification } from './verification.js';
import { type VerificationTurns, VerificationTurnsStore } from './verification-turns.store.js';

/** What the service asks of the database. */
export interface ReadsLog {
  reading<Result>(scope: Scope, read: (source: LogSource, run: ReadStatement) => Promise<Result>): Promise<Result>;
}

/** Verifies the log on request. Whoever asks while the same part of the log is being verified gets that answer. */
@Injectable()
export class VerifyLogService {
  private readonly running = new Map<string, Promise<Verification>>();

  constructor(
    @Inject(AuditQuery) private readonly log: ReadsLog,
    @Inject(VerificationTurnsStore) private readonly turns: VerificationTurns,
    @Inject(RecordKeepers) private readonly keepers: Pick<RecordKeepers, 'all'>,
  ) {}

  /** @throws Problem RATE_LIMITED within a minute of the last one; NOT_FOUND for an agent without any entry */
  async verify(caller: Caller, agentId: string | undefined): Promise<Verification> {
    if (agentId !== undefined && !isId('agt', agentId)) throw new Problem('NOT_FOUND', 'There is no such agent.');
    const credential = credentialOf(caller);
    await this.takeTurn(credential);
    const { scope } = caller;
    const key = JSON.stringify([scope.organizations, agentId ?? null]);
    let run = this.running.get(key);
    if (!run) {
      run = this.look(scope, agentId).finally(() => this.running.delete(key));
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

  private look(scope: Scope, agentId: string | undefined): Promise<Verification> {
    return this.log.reading(scope, async (source, run) => {
      const judges = await judgesOf(run, source, this.keepers.all(), { organizations: scope.organizations, agentId });
      return verification(source, agentId, undefined, judges);
    });
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

import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Request } from 'express';
import { type AuditEvent } from '../../domain/audit/catalogue.js';
import { platformChain } from '../../domain/audit/chain.js';
import { UnitOfWork } from '../database/unit-of-work.js';
import { type RequestContext, requestContext } from '../http/request-context.js';
import { addressOf } from './call-context.js';

const MINUTE = 60_000;
/** Addresses remembered at a time. Past it, failures share one count, so that an attack from everywhere stays bounded. */
const REMEMBERED = 1_000;
const ELSEWHERE = 'elsewhere';
/** For counts that are written when their minute ends, by no call at all. */
const SERVICE: RequestContext = { requestId: 'auth-journal', via: 'sweeper', recorded: 0 };
const READS = new Set(['GET', 'HEAD']);

interface Failures {
  since: number;
  unwritten: number;
  reason: string;
}

/**
 * Writes what guards see: uses of the root key and failed authentication. Each in a unit of work of its own, before
 * the handler, because a refusal never reaches one. A million bad keys make a bounded number of entries: the first of
 * a minute and address is written at once, the rest as one count when the minute ends.
 */
@Injectable()
export class AuthJournal implements BeforeApplicationShutdown {
  private readonly rootReads = new Map<string, number>();
  private readonly failures = new Map<string, Failures>();
  private readonly timer = setInterval(() => void this.writeCounts(Date.now() - MINUTE).catch(() => undefined), MINUTE / 6).unref();

  constructor(private readonly work: UnitOfWork) {}

  /** Each changing call is an entry, also when the call then fails; reads at most once a minute and address. */
  async rootKeyUsed(request: Request): Promise<void> {
    if (READS.has(request.method)) {
      const address = addressOf(request) ?? ELSEWHERE;
      const now = Date.now();
      if (now - (this.rootReads.get(address) ?? 0) < MINUTE) return;
      if (this.rootReads.size >= REMEMBERED) this.rootReads.clear();
      this.rootReads.set(address, now);
    }
    await this.write({ type: 'auth.root_key_used', metadata: { method: request.method, path: request.path } }, 'root');
  }

  failed(request: Request, reason: string): Promise<void> {
    return this.failedFrom(addressOf(request), reason, request.method);
  }

  /** For what was refused after the guard, by the commit itself. */
  async failedFrom(from: string | undefined, reason: string, method: string): Promise<void> {
    const shown = from ?? ELSEWHERE;
    const address = this.failures.has(shown) || this.failures.size < REMEMBERED ? shown : ELSEWHERE;
    const known = this.failures.get(address);
    if (known && Date.now() - known.since < MINUTE) {
      known.unwritten++;
      return;
    }
    if (known) await this.writeCount(known);
    this.failures.set(address, { since: Date.now(), unwritten: 0, reason });
    await this.write(failedEvent(1, reason, method), 'anonymous');
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.writeCounts(Infinity).catch(() => undefined);
  }

  private async writeCounts(begunBefore: number): Promise<void> {
    for (const [address, failures] of this.failures) {
      if (failures.since > begunBefore) continue;
      this.failures.delete(address);
      await this.writeCount(failures);
    }
  }

  private async writeCount(failures: Failures): Promise<void> {
    if (failures.unwritten > 0) await this.write(failedEvent(failures.unwritten, failures.reason), 'anonymous');
  }

  private async write(event: AuditEvent, actorId: string): Promise<void> {
    // Who came in is not what the call does: it hangs neither on the caller's credential nor on an idempotency key.
    const { caller: _caller, idempotency: _key, ...context } = requestContext.getStore() ?? SERVICE;
    await requestContext.run({ ...context, recorded: 0 }, () =>
      this.work.run({ chains: [platformChain()], leavesFacts: true, urgent: true }, async (tx) => {
        tx.record(platformChain(), event, { actorId });
      }),
    );
  }
}

function failedEvent(count: number, reason: string, method?: string): AuditEvent {
  return { type: 'auth.failed', metadata: { count, reason: codeOf(reason), ...(method ? { method } : {}) } };
}

/** Reasons are ours and few; in the log they stand as codes. */
function codeOf(reason: string): string {
  return reason.toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^_|_$/g, '').slice(0, 64);
}

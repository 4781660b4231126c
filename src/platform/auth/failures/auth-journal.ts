import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Request } from 'express';
import { type AuditEvent } from '../../../domain/audit/catalogue/audit-events.js';
import { platformChain } from '../../../domain/audit/entry/chain.js';
import { newId } from '../../../domain/ids.js';
import type { Tx } from '../../database/transaction/tx.js';
import { UnitOfWork } from '../../database/transaction/unit-of-work.js';
import { type RequestContext, requestContext } from '../../http/request/request-context.js';
import { isRecorded } from './auth-entries.store.js';
import { addressOf, requestIdInEntries } from '../access/call-context.js';
import { type Failure, type FailureCount, FailureTally, type FailureOrigin } from './failure-tally.js';

const MINUTE = 60_000;
const SWEEP_MS = MINUTE / 6;
/** In each minute and server at most 200 firsts and as many counts, 200 networks and one for the rest: some 600 entries. */
const LIMITS = { windowMs: MINUTE, addresses: 200, networks: 200 } as const;
/** Counts that could not be written and are tried again. Beyond this number nothing is recorded at once any more. */
const MOST_UNWRITTEN = 1_000;
/** Addresses that are kept of the root key's reads; the one without a read for longest is dropped first. */
const READERS_KEPT = 1_000;
const UNKNOWN = 'unknown';
const READS = new Set(['GET', 'HEAD']);

/** A count that is still to be written, and the ids of the entries that were tried for it: at most one of these was written. */
interface Unwritten {
  readonly count: FailureCount;
  readonly tried: string[];
}

/**
 * Records uses of the root key and failed authentication, each in a unit of work of its own, before the handler, because a refused call
 * never reaches one. A million bad keys make a bounded number of entries: the first failure of a minute and address is recorded at once,
 * the others as one count when the minute ends, with the origin of the last of them. The counts of a killed server's last minute are lost.
 */
@Injectable()
export class AuthJournal implements BeforeApplicationShutdown {
  private readonly rootReads = new Map<string, number>();
  private readonly tally = new FailureTally(LIMITS);
  private readonly unwritten = new Set<Unwritten>();
  private writing: Promise<void> = Promise.resolve();
  private readonly timer = setInterval(() => this.writeCounts(Date.now() - MINUTE), SWEEP_MS).unref();

  constructor(private readonly work: UnitOfWork) {}

  /** Each changing call is an entry, also when the call then fails; reads at most once a minute and address. */
  async rootKeyUsed(request: Request): Promise<void> {
    if (READS.has(request.method) && !this.isFirstRead(addressOf(request) ?? UNKNOWN)) return;
    const event: AuditEvent = { type: 'auth.root_key_used', metadata: { method: request.method, path: request.path } };
    await this.write(requestContext.getStore()!, async (tx) => void tx.record(platformChain(), event, { actorId: 'root' }));
  }

  failed(request: Request, reason: string): Promise<void> {
    return this.failedFrom(addressOf(request), reason, request.method);
  }

  /** For a credential that the commit refused, after the guard. */
  async failedFrom(address: string | undefined, reason: string, method: string): Promise<void> {
    const failure: Failure = { reason: codeOf(reason), method, origin: originOf(address) };
    const first = this.tally.failed(failure, Date.now(), this.unwritten.size < MOST_UNWRITTEN);
    if (first) await this.record({ count: first, tried: [] });
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.writing;
    this.writeCounts(Infinity);
    await this.writing;
  }

  private isFirstRead(address: string): boolean {
    const now = Date.now();
    if (now - (this.rootReads.get(address) ?? -Infinity) < MINUTE) return false;
    this.rootReads.delete(address);
    this.rootReads.set(address, now);
    if (this.rootReads.size > READERS_KEPT) this.rootReads.delete(this.rootReads.keys().next().value!);
    return true;
  }

  /** One writer at a time, and each count is taken once, so that none is written twice. */
  private writeCounts(begunBefore: number): void {
    this.writing = this.writing.then(async () => {
      for (const count of this.tally.take(begunBefore)) this.unwritten.add({ count, tried: [] });
      for (const one of this.unwritten) await this.record(one);
    }).catch(() => undefined);
  }

  /** @throws the error of the write; then the count is tried again with the next counts */
  private async record(one: Unwritten): Promise<void> {
    const { count, tried } = one;
    const { network, origin, ...rest } = count;
    const metadata = { ...rest, ...(network === undefined ? {} : { network }) };
    // Without the caller and the idempotency key of the call: the entry depends on neither.
    const context = { ...origin, recorded: 0 } as RequestContext;
    try {
      await this.write(context, async (tx) => {
        // An earlier attempt whose answer was lost may have been committed.
        if (tried.length > 0 && (await isRecorded(tx, tried))) return;
        const id = newId('audit');
        tried.push(id);
        tx.record(platformChain(), { type: 'auth.failed', metadata }, { actorId: 'anonymous', id });
      });
      this.unwritten.delete(one);
    } catch (error) {
      this.unwritten.add(one);
      throw error;
    }
  }

  private async write(context: RequestContext, act: (tx: Tx) => Promise<void>): Promise<void> {
    const { caller: _caller, idempotency: _key, ...bare } = context;
    await requestContext.run({ ...bare, recorded: 0 }, () =>
      this.work.run({ chains: [platformChain()], leavesFacts: true, urgent: true }, act),
    );
  }
}

function originOf(address: string | undefined): FailureOrigin {
  const context = requestContext.getStore()!;
  const { via, traceId } = context;
  const requestId = requestIdInEntries(context);
  return { requestId, via, ...(traceId === undefined ? {} : { traceId }), ...(address === undefined ? {} : { address }) };
}

/** Reasons are our own texts, and few; the log has them as codes. */
function codeOf(reason: string): string {
  return reason.toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^_|_$/g, '').slice(0, 64);
}

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
/** What could not be written and is tried again. Past it nothing is told at once any more. */
const MOST_UNWRITTEN = 1_000;
/** Addresses remembered of the root key's reads; the one that was quiet for longest gives way. */
const REMEMBERED = 1_000;
const UNKNOWN = 'unknown';
const READS = new Set(['GET', 'HEAD']);

/** A count that is this journal's to write, under each of the ids that it was tried with: it stands under one of them at most. */
interface Unwritten {
  readonly told: FailureCount;
  readonly tried: string[];
}

/**
 * Writes what guards see: uses of the root key and failed authentication. Each in a unit of work of its own, before
 * the handler, because a refusal never reaches one. A million bad keys make a bounded number of entries: the first of
 * a minute and address is written at once, the rest as one count when the minute ends, with the origin of what it counts. What a
 * killed server had not told yet (a minute of counts) is told by nobody.
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

  /** For what was refused after the guard, by the commit itself. */
  async failedFrom(address: string | undefined, reason: string, method: string): Promise<void> {
    const failure: Failure = { reason: codeOf(reason), method, origin: originOf(address) };
    const told = this.tally.failed(failure, Date.now(), this.unwritten.size < MOST_UNWRITTEN);
    if (told) await this.tell({ told, tried: [] });
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
    if (this.rootReads.size > REMEMBERED) this.rootReads.delete(this.rootReads.keys().next().value!);
    return true;
  }

  /** One writer at a time; and what was taken is nobody else's, so that no count is written twice. */
  private writeCounts(begunBefore: number): void {
    this.writing = this.writing.then(async () => {
      for (const told of this.tally.take(begunBefore)) this.unwritten.add({ told, tried: [] });
      for (const one of this.unwritten) await this.tell(one);
    }).catch(() => undefined);
  }

  /** @throws what kept it from being written; then it is tried again with the next counts */
  private async tell(one: Unwritten): Promise<void> {
    const { told, tried } = one;
    const { network, origin, ...rest } = told;
    const metadata = { ...rest, ...(network === undefined ? {} : { network }) };
    // Who came in is not what the call does: it hangs neither on the caller's credential nor on an idempotency key.
    const context = { ...origin, recorded: 0 } as RequestContext;
    try {
      await this.write(context, async (tx) => {
        // An attempt of whose end nobody has heard may have been written all the same.
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

  private async write(context: RequestContext, story: (tx: Tx) => Promise<void>): Promise<void> {
    const { caller: _caller, idempotency: _key, ...bare } = context;
    await requestContext.run({ ...bare, recorded: 0 }, () =>
      this.work.run({ chains: [platformChain()], leavesFacts: true, urgent: true }, story),
    );
  }
}

function originOf(address: string | undefined): FailureOrigin {
  const context = requestContext.getStore()!;
  const { via, traceId } = context;
  const requestId = requestIdInEntries(context);
  return { requestId, via, ...(traceId === undefined ? {} : { traceId }), ...(address === undefined ? {} : { address }) };
}

/** Reasons are ours and few; in the log they stand as codes. */
function codeOf(reason: string): string {
  return reason.toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^_|_$/g, '').slice(0, 64);
}
